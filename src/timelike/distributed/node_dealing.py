"""Assign nodes to processes in a fixed pseudo-random order that is computed, not stored.

In the order of a file, hubs are often neighbours. In random order, every process has about as many edges and
receives about as many requests as the others.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from timelike.core.hashed_random import Shuffle
from timelike.graphs.digraph import DiGraph

#: Number of nodes placed at a time.
PIECE = 1 << 20


def places(nodes: np.ndarray, count: int) -> np.ndarray:
    """The place of each of these nodes among `count`: a number in 0 … count − 1."""
    place, result = _places(count), np.empty(len(nodes), np.int32)
    for i in range(0, len(nodes), PIECE):
        piece = nodes[i : i + PIECE]
        full = np.zeros(min(PIECE, 1 << max(len(piece) - 1, 0).bit_length()), np.int32)
        full[: len(piece)] = piece
        result[i : i + PIECE] = np.asarray(place(full))[: len(piece)]
    return result


@functools.cache
def _places(count: int) -> Any:
    """A permutation of the grid of `Shuffle`, applied again to values outside 0 … count − 1."""

    @jax.jit
    def place(nodes: jax.Array) -> jax.Array:
        shuffle = Shuffle.draw(jax.random.key(0), count)
        return jax.lax.while_loop(
            lambda x: jnp.any(x >= count), lambda x: jnp.where(x < count, x, shuffle(x)), shuffle(nodes)
        )

    return place


def dealt(graph: DiGraph) -> DiGraph:
    """The graph with its nodes in the order of `places`."""
    sources, targets = (places(x, graph.num_nodes) for x in (graph.sources, graph.targets))
    return DiGraph.from_arrays(sources, targets, graph.num_nodes, None, graph.weights)
