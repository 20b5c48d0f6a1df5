"""Vectors whose inner products rank edges, for FAISS and other indexes of inner products.

In a flat space −s² = −|Δx|² + |Δt|² is a sum of products of numbers of p with numbers of q; on a quadric −s²
grows with ⟨p, q⟩. So does any weighting of these terms and of Δt. The likelihood is not such a sum: weights
learned from the likeliest targets of some nodes come near it, and exact probabilities rank the rest.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from timelike.core.likelihood import Likelihood
from timelike.core.model import Model
from timelike.manifolds import Cylinder, Flat, Manifold, Quadric

if TYPE_CHECKING:
    from timelike.embedding.embedding import Embedding

#: Nodes whose likeliest targets teach the weights, targets of each, and other rows to compare with.
TEACHERS, LIKELY, OTHERS = 128, 20, 2000
#: Penalty on the squares of standardised weights.
PENALTY = 1e-4


@dataclasses.dataclass(frozen=True)
class InnerProducts:
    """`queries(sources) @ keys.T` ranks the targets of each source.

    keys      a row of float32 for every node; on a cylinder, for every node and turn of its circle of time
    nodes     the node number of each row
    exact     rows of queries where the log-odds themselves are inner products, but for a term of the source
    weights   of the terms; by default those for which the ranking is that by −s², the deepest in the light
              cone first
    """

    manifold: Manifold
    points: np.ndarray
    keys: np.ndarray
    nodes: np.ndarray
    weights: np.ndarray
    exact: np.ndarray | None = None

    def queries(self, sources: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """A row for each source by number."""
        if self.exact is not None:
            return self.exact[np.asarray(sources)]
        p, base = self.points[np.asarray(sources)], _base(self.manifold)
        weights = self.weights if weights is None else weights
        found = (
            _flat_queries(base, p, weights) if isinstance(base, Flat) else _quadric_queries(base, p, weights)
        )
        return np.ascontiguousarray(found, dtype=np.float32)


def inner_products(embedding: Embedding, learn: bool = True, seed: int = 0) -> InnerProducts:
    """The vectors of an embedding; `learn` weights that suit its probabilities, or keep those of −s²."""
    manifold, base = embedding.model.manifold, _base(embedding.model.manifold)
    points = embedding.points.astype(np.float64)
    rows, nodes = points, np.arange(len(points))
    if (products := embedding.model.likelihood.products(points)) is not None:
        exact, ends = (x.astype(np.float32) for x in products)
        return InnerProducts(manifold, points, ends, nodes, np.zeros(0), exact)
    if isinstance(manifold, Cylinder):
        turns = np.array([0, -1, 1])
        rows, nodes = np.tile(points, (3, 1)), np.tile(nodes, 3)
        rows[:, 0] += float(manifold.circumference) * np.repeat(turns, len(points))
    if isinstance(base, Flat):
        squares = [(rows[:, base.times :] ** 2).sum(1), (rows[:, : base.times] ** 2).sum(1)]
        keys, weights = np.column_stack([rows, *squares, np.ones(len(rows))]), np.array([1.0, 1.0, 0.0])
    else:
        keys = np.column_stack([rows, (rows[:, : base.negatives] ** 2).sum(1)])
        weights = np.array([1.0, 1.0, 0.0, 0.0])
    plain = InnerProducts(manifold, points, np.ascontiguousarray(keys, dtype=np.float32), nodes, weights)
    return _learned(plain, embedding, seed) if learn and base.signature[0] else plain


def better_by_products(model: Model) -> bool:
    """Whether inner products rank like the model, or nearly so in less time.

    A flat spacetime scores a pair in the time of a product of ten numbers; cylinders and quadrics add images.
    """
    if type(model.likelihood).separation is Likelihood.separation:
        return isinstance(_unwrapped(model.manifold), Flat | Quadric) and not isinstance(model.manifold, Flat)
    return model.likelihood.products(np.zeros((1, model.manifold.ambient_dim))) is not None


def _unwrapped(manifold: Manifold) -> Manifold:
    return manifold.base if isinstance(manifold, Cylinder) else manifold


def _base(manifold: Manifold) -> Flat | Quadric:
    base = _unwrapped(manifold)
    if not isinstance(base, Flat | Quadric):
        raise ValueError(f"{base} is neither flat nor a quadric: it has no inner products that rank edges")
    return base


def _flat_queries(base: Flat, p: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """−a|Δx|² + c|Δt|² + bΔt, where t are all timelike coordinates."""
    (a, c, b), times = weights, base.times
    q = np.concatenate([-2 * c * p[:, :times], 2 * a * p[:, times:]], axis=1)
    q[:, 0] += b
    own = c * (p[:, :times] ** 2).sum(1) - a * (p[:, times:] ** 2).sum(1) - b * p[:, 0]
    return np.column_stack([q, np.full((len(p), 2), (-a, c)), own])


def _quadric_queries(base: Quadric, p: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """a⟨x, x′⟩ of positive coordinates − c⟨t, t′⟩ of negative ones + d|t′|² + b·(sine of the angle)."""
    (a, c, d, b), n = weights, base.negatives
    q = np.concatenate([-c * p[:, :n], a * p[:, n:]], axis=1)
    if base.has_circle:
        q[:, 0] += b * p[:, 1]
        q[:, 1] -= b * p[:, 0]
    return np.column_stack([q, np.full(len(p), d)])


def _learned(plain: InnerProducts, embedding: Embedding, seed: int) -> InnerProducts:
    """Weights for which a softmax over rows gives the likeliest targets of some nodes the most mass."""
    from scipy.optimize import minimize

    rng, count = np.random.default_rng(seed), len(plain.points)
    sources = rng.choice(count, min(TEACHERS, count), replace=False)
    units = np.eye(len(plain.weights))
    tables, likely = [], []
    for source in sources:
        scores = np.array(embedding.log_prob_by_number(np.full(count, source), np.arange(count)))
        scores[source] = -np.inf
        best = np.argpartition(-scores, min(LIKELY, count - 1))[:LIKELY]
        others = rng.choice(len(plain.keys), min(OTHERS, len(plain.keys)), replace=False)
        rows = np.unique(np.concatenate([np.flatnonzero(np.isin(plain.nodes, best)), others]))
        terms = [plain.queries(np.array([source]), unit)[0] @ plain.keys[rows].T for unit in units]
        table = np.stack(terms, axis=1).astype(np.float64)
        near = np.isin(plain.nodes[rows], best)
        if isinstance(plain.manifold, Cylinder):  # of the images of a node, the nearest one
            near &= np.abs(table[:, 2]) <= float(plain.manifold.circumference) / 2
        tables.append(table)
        likely.append(near)
    scale = np.maximum(np.concatenate(tables).std(axis=0), 1e-12)

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = PENALTY * w @ w, 2 * PENALTY * w
        for table, near in zip(tables, likely, strict=True):
            x = table / scale
            score = x @ w
            mass = np.exp(score - score.max())
            mass /= mass.sum()
            value -= np.mean(np.log(np.maximum(mass[near], 1e-300))) / len(tables)
            slope = slope - (x[near].mean(axis=0) - mass @ x) / len(tables)
        return float(value), slope

    found = minimize(loss, plain.weights * scale / scale.max(), jac=True, method="L-BFGS-B")
    return dataclasses.replace(plain, weights=found.x / scale)
