"""Bundle the edges of a picture, so that a thousand of them show where they run and not a black cloud.

Edges are moved uphill on the density of all edges and smoothed, again and again on a finer scale (kernel
density edge bundling, Hurter, Ersoy and Telea 2012). Their ends stay where they are.
"""

from __future__ import annotations

import numpy as np

#: Points per bundled edge.
STEPS = 21

#: Cells of the density along each side, and the blur at first, as a share of the picture.
CELLS, BLUR = 160, 0.05

#: Rounds, and the factor by which each has less blur than the one before.
ROUNDS, FINER = 8, 0.8

#: Share of the straight line that stays in a bundled edge, so that its direction can be seen.
STRAIGHT = 0.3


def bundled(paths: np.ndarray) -> np.ndarray:
    """Bundle paths, (edges, points, 2), in a picture that covers the unit square."""
    from scipy.ndimage import gaussian_filter

    straight = _resampled(np.asarray(paths, float))
    moved = straight.copy()
    blur = BLUR
    for _ in range(ROUNDS):
        inner = moved[:, 1:-1].reshape(-1, 2)
        cell = np.clip(inner * CELLS, 0, CELLS - 1).astype(int)
        seen: np.ndarray = np.all((inner > 0) & (inner < 1), axis=1)
        flat = cell[:, 0] * CELLS + cell[:, 1]
        counts = np.bincount(flat[seen], minlength=CELLS**2).reshape(CELLS, CELLS)
        density = gaussian_filter(counts.astype(float), blur * CELLS, mode="constant")
        slope = np.stack(np.gradient(density), axis=-1).reshape(-1, 2)[flat]
        length = np.linalg.norm(slope, axis=1, keepdims=True)
        step = np.where(seen[:, None], blur / 2 * slope / np.maximum(length, 1e-12), 0)
        moved[:, 1:-1] += np.where(length > 1e-9, step, 0).reshape(moved[:, 1:-1].shape)
        moved = _smoothed(moved)
        blur *= FINER
    return (1 - STRAIGHT) * moved + STRAIGHT * straight


def _resampled(paths: np.ndarray) -> np.ndarray:
    """Each path in `STEPS` points, at equal steps of its parameter."""
    at = np.linspace(0, paths.shape[1] - 1, STEPS)
    low = np.minimum(at.astype(int), paths.shape[1] - 2)
    share = (at - low)[:, None]
    return paths[:, low] + share * (paths[:, low + 1] - paths[:, low])


def _smoothed(paths: np.ndarray, times: int = 4) -> np.ndarray:
    """Each inner point halfway towards the middle of its neighbours, several times."""
    for _ in range(times):
        middle = (paths[:, :-2] + paths[:, 2:]) / 2
        paths[:, 1:-1] = (paths[:, 1:-1] + middle) / 2
    return paths
