"""The paper's toy graphs (section 4.2): what each geometry can and cannot hold, with margins.

Every claim is about the median of `SEEDS` runs. Full batches of all edges, each with as many listed
non-edges as the graph has per edge: the expected loss is the NLL over all ordered pairs of nodes.

Medians of 12 seeds, and what the paper's text leaves out:
- Cycle: NLL 11.9 in Minkowski (edges 0.003 and 0.71 to 0.83), 6.3 on the cylinder (all 0.68 to 0.69,
  non-edges ≤ 0.41), 5.4 in anti-de Sitter (0.56 to 0.59, non-edges ≤ 0.29). Tuned Euclidean and
  hyperbolic models reach 7.1 and 7.2, where the paper reports 17.24 and 13.89 (20 log 2 = 13.86 is a
  model that has collapsed to a point): circles of time beat these too, Minkowski does not.
- Closure of the chain: NLL 0.5 for α = 0.001, 16 for 0.075. Chain: 97 and 8.7; transitive edges get
  0.92 and 0.08. That needs a high learning rate, which lays the chain along time. A low one ends in
  a better optimum, a chain of soft spacelike steps, where F₁ alone tells one step from two and
  α = 0.001 does as well as 0.075 or better.
- Tripartite: the pair gets 0.50 in Euclidean space (NLL 138) and 0.01 in Minkowski (64).
"""

import functools
from typing import NamedTuple

import numpy as np
import pytest

from timelike import Config, DiGraph, Model, Negatives, train
from timelike.datasets import chain, cycle, transitive_chain, tripartite
from timelike.likelihoods import FermiDirac, TripleFermiDirac
from timelike.manifolds import AntiDeSitter, CylindricalMinkowski, Euclidean, Hyperboloid, Minkowski

SEEDS = 5
K = 2 ** (1 / 3)  # with one image and α → 0, F then reaches 1
PAPER_EUCLIDEAN, PAPER_HYPERBOLOID = 17.24, 13.89  # NLL on the cycle
BEST_SYMMETRIC = 10 * np.log(2)  # p(i → j) = p(j → i): ½ for both directions of each of the five edges


def tfd(manifold, tau1, tau2, alpha):
    return Model(manifold, TripleFermiDirac(tau1=tau1, tau2=tau2, alpha=alpha, k=K))


#: graph, model, learning rate (the settings of the paper's figures 2, 3 and 4)
TOYS = {
    "cycle, Euclidean": (cycle(5), Model(Euclidean(2), FermiDirac(tau=0.4, r=1.0)), 0.02),
    "cycle, hyperboloid": (cycle(5), Model(Hyperboloid(2), FermiDirac(tau=0.4, r=1.0)), 0.02),
    "cycle, Minkowski": (cycle(5), tfd(Minkowski(2), 0.075, 0.15, 0.25), 0.08),
    "cycle, cylinder": (cycle(5), tfd(CylindricalMinkowski(2, 6.0), 0.4, 0.05, 0.075), 0.01),
    "cycle, anti-de Sitter": (cycle(5), tfd(AntiDeSitter(2), 0.4, 0.05, 0.09), 0.01),
    "chain, α = 0.075": (chain(10), tfd(Minkowski(2), 0.075, 0.07, 0.075), 0.16),
    "chain, α = 0.001": (chain(10), tfd(Minkowski(2), 0.075, 0.07, 0.001), 0.16),
    "closure, α = 0.075": (transitive_chain(10), tfd(Minkowski(2), 0.075, 0.07, 0.075), 0.16),
    "closure, α = 0.001": (transitive_chain(10), tfd(Minkowski(2), 0.075, 0.07, 0.001), 0.16),
    "tripartite, Euclidean": (tripartite(), Model(Euclidean(2), FermiDirac(tau=0.4, r=0.0)), 0.02),
    "tripartite, Minkowski": (tripartite(), tfd(Minkowski(2), 0.075, 0.05, 0.03), 0.02),
}


class Fit(NamedTuple):
    """All ordered pairs of nodes, whether they are edges, and their probabilities, a row per seed."""

    sources: np.ndarray
    targets: np.ndarray
    edge: np.ndarray
    prob: np.ndarray

    @property
    def nll(self) -> float:
        """The NLL over all pairs, median over seeds."""
        return float(np.median(-np.log(np.where(self.edge, self.prob, 1 - self.prob)).sum(axis=1)))

    def median(self, pairs: np.ndarray) -> np.ndarray:
        """The probabilities of some pairs in increasing order, median over seeds."""
        return np.median(np.sort(self.prob[:, pairs], axis=1), axis=0)


@functools.cache
def fit(toy: str) -> Fit:
    graph, model, rate = TOYS[toy]
    sources, targets, edge = ordered_pairs(graph)
    non_edges = np.stack([sources, targets], axis=1)[~edge]
    negatives = Negatives(listed=round(len(non_edges) / graph.num_edges))
    settings = {"epochs": 600, "batch_size": graph.num_edges, "learning_rate": rate, "negatives": negatives}
    runs = [train(graph, model, Config(**settings, seed=s), listed=non_edges) for s in range(SEEDS)]
    return Fit(sources, targets, edge, np.stack([run.prob(sources, targets) for run in runs]))


def ordered_pairs(graph: DiGraph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sources, targets = np.nonzero(~np.eye(graph.num_nodes, dtype=bool))
    return sources, targets, graph.has_edges(sources, targets)


def test_minkowski_loses_one_edge_of_the_cycle():
    result = fit("cycle, Minkowski")
    edges = result.median(result.edge)
    assert edges[0] < 0.02
    assert edges[1] > 0.6
    assert result.nll < min(PAPER_EUCLIDEAN, PAPER_HYPERBOLOID) - 1


@pytest.mark.parametrize("toy", ["cycle, cylinder", "cycle, anti-de Sitter"])
def test_a_circle_of_time_holds_the_whole_cycle(toy):
    result = fit(toy)
    weakest, strongest_non_edge = result.median(result.edge)[0], result.median(~result.edge)[-1]
    assert weakest > 0.45
    assert weakest > strongest_non_edge + 0.1
    assert result.nll < BEST_SYMMETRIC - 0.4 < min(PAPER_EUCLIDEAN, PAPER_HYPERBOLOID)


@pytest.mark.slow
@pytest.mark.parametrize("toy", ["cycle, Euclidean", "cycle, hyperboloid"])
def test_tuned_riemannian_models_come_near_the_symmetric_floor(toy):
    assert BEST_SYMMETRIC <= fit(toy).nll < BEST_SYMMETRIC + 0.6


@pytest.mark.long
def test_small_alpha_holds_the_transitive_closure():
    small, large = fit("closure, α = 0.001"), fit("closure, α = 0.075")
    assert small.nll < 2 < 10 < large.nll
    assert small.median(small.edge)[0] > 0.9


@pytest.mark.long
def test_small_alpha_adds_transitive_edges_to_a_chain():
    small, large = fit("chain, α = 0.001"), fit("chain, α = 0.075")
    assert large.nll < 12 < 50 < small.nll
    transitive = large.targets > large.sources + 1
    assert small.median(transitive).mean() > 0.8
    assert large.median(transitive).mean() < 0.2


@pytest.mark.long
def test_only_minkowski_keeps_apart_a_pair_with_common_neighbours():
    pair = [np.max(fit(f"tripartite, {name}").median(middle_pair())) for name in ("Euclidean", "Minkowski")]
    assert 0.3 < pair[0] < 0.6
    assert pair[1] < 0.05
    assert fit("tripartite, Minkowski").nll < fit("tripartite, Euclidean").nll - 30


def middle_pair() -> np.ndarray:
    """The two directions between nodes 0 and 1."""
    sources, targets, _ = ordered_pairs(tripartite())
    return (sources < 2) & (targets < 2)
