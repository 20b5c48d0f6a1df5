"""Full filtered ranking against a dense one."""

import numpy as np
import pytest
from any_graphs import random_graph

from timelike import Embedding, Model
from timelike.evaluation import DegreeProduct, target_ranks
from timelike.evaluation.metrics import TIES
from timelike.evaluation.target_ranks import rank_targets
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import Minkowski

N = 60
GRAPH = random_graph(N, 300)
EDGES = np.stack([GRAPH.sources, GRAPH.targets], axis=1)


def embed(nodes=N, seed=0):
    points = np.random.default_rng(seed).normal(size=(nodes, 3)).astype(np.float32)
    return Embedding(Model(Minkowski(3), TripleFermiDirac()), points, None, {}, {})


def dense_ranks(scores, edges, known, ties):
    """One edge at a time, from the N×N matrix."""
    found = []
    for s, t in edges:
        rivals = [x for x in range(len(scores)) if x != s and not known.has_edges([s], [x])[0]]
        better = sum(scores[s, x] > scores[s, t] for x in rivals)
        equal = sum(scores[s, x] == scores[s, t] for x in rivals)
        found.append(1 + better + {"optimistic": 0, "realistic": 0.5, "pessimistic": 1}[ties] * equal)
    return found


@pytest.mark.parametrize(("size", "width"), [(1 << 23, 1 << 12), (7 * N, 7), (1, 7)])
def test_embedding(monkeypatch, size, width):
    """Blocks of sources and of targets change nothing."""
    monkeypatch.setattr(target_ranks, "SCORES", size)
    monkeypatch.setattr(target_ranks, "TARGETS", width)
    target_ranks._all_targets.clear_cache()
    embedding = embed()
    s, t = (x.reshape(-1) for x in np.indices((N, N)))
    scores = embedding.log_prob(s, t).reshape(N, N)
    edges = EDGES[np.random.default_rng(1).permutation(len(EDGES))[:100]]
    assert rank_targets(embedding, edges, GRAPH).tolist() == dense_ranks(scores, edges, GRAPH, "realistic")


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("seed", range(2))
def test_ties_of_a_baseline(ties, seed):
    graph = random_graph(20, 60, seed)
    edges = np.stack([graph.sources, graph.targets], axis=1)
    baseline = DegreeProduct(graph)
    scores = baseline.score(*(x.reshape(-1) for x in np.indices((20, 20)))).reshape(20, 20)
    assert rank_targets(baseline, edges, graph, ties).tolist() == dense_ranks(scores, edges, graph, ties)


def test_mistakes():
    with pytest.raises(ValueError, match="edges has node 60"):
        rank_targets(embed(), np.array([[0, 60]]), GRAPH)
    with pytest.raises(ValueError, match="ties is 'none'"):
        rank_targets(embed(), EDGES, GRAPH, "none")
    with pytest.raises(ValueError, match=r"embedding.*59 nodes.*DiGraph"):
        rank_targets(embed(59), EDGES, GRAPH)
    assert rank_targets(embed(), np.zeros((0, 2), int), GRAPH).shape == (0,)
