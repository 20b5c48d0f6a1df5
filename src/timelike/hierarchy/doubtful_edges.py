"""Second parents that look drawn at random: wrong edges of a noisy hierarchy."""

from __future__ import annotations

import dataclasses

import numpy as np

from timelike.hierarchy.condensation import Acyclic

#: The least estimated share of random parents, and the least gain in log-likelihood that it must bring, at
#: which any edge is doubted.
LEAST, GAIN = 0.2, 10.0
ROUNDS = 50


@dataclasses.dataclass(frozen=True, eq=False)
class Doubts:
    """`wrong` marks the edges that are likelier random than real; `share` is the estimated share of them.

    The share counts edges to nodes with several parents only: others have nothing to be compared with.
    """

    wrong: np.ndarray
    share: float


def doubts_of(order: Acyclic) -> Doubts:
    """Tell real from random parents by how many other children a parent has.

    A real parent is met in proportion to its children, a random node mostly has none. R and U are these two
    distributions: of the parents of nodes with one parent, and of all nodes. The parents of the other nodes
    are a mixture (1 − π)R + πU; π comes from expectation maximisation, and an edge is wrong if πU > (1 − π)R.
    Each node keeps its likeliest parent. With π below `LEAST`, or without clear evidence for π > 0, no edge
    is doubted.
    """
    parents, children, count = order.parents, order.children, order.count
    several = np.bincount(children, minlength=count)[children] > 1
    wrong = np.zeros(parents.size, bool)
    if not several.any() or several.all():
        return Doubts(wrong, 0.0)
    others = np.bincount(parents, minlength=count)
    bins = _bins(others[parents] - 1)
    top = int(_bins(others).max()) + 1
    real = _distribution(bins[~several], top)
    random = _distribution(_bins(others), top)
    share, mixed = 0.5, bins[several]
    for _ in range(ROUNDS):
        odds = share * random[mixed]
        posterior = odds / (odds + (1 - share) * real[mixed])
        share = float(posterior.mean())
    gain = np.log((1 - share) + share * random[mixed] / real[mixed]).sum()
    if share < LEAST or gain < GAIN:
        return Doubts(wrong, share)
    likely = np.zeros(parents.size)
    likely[several] = posterior
    best = np.lexsort((-others[parents], likely, children))
    keeps = np.ones(parents.size, bool)
    keeps[best] = np.concatenate([[True], children[best][1:] != children[best][:-1]])
    return Doubts((likely > 0.5) & ~keeps, share)


def _bins(others: np.ndarray) -> np.ndarray:
    """0, 1, 2–3, 4–7, … as 0, 1, 2, 3, …"""
    return np.ceil(np.log2(others + 1)).astype(int)


def _distribution(bins: np.ndarray, top: int) -> np.ndarray:
    found = np.bincount(bins, minlength=top) + 0.5
    return found / found.sum()
