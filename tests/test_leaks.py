"""Nothing leaks from the test of a split into training or validation."""

import numpy as np
import pytest
from any_graphs import as_set, check_parts

from timelike import Config, DiGraph, Model, Negatives, train
from timelike.datasets import chain, duplication_divergence, transitive_chain
from timelike.evaluation.negative_kinds import NEGATIVE_KINDS, draw_negatives
from timelike.evaluation.splits import Split, folds, in_edge_order, split_edges
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import Minkowski

GRAPH = duplication_divergence(seed=17)
PAIRS = np.argwhere(~np.eye(30, dtype=bool))
PAST = DiGraph.from_arrays(*np.random.default_rng(0).permutation(PAIRS)[:60].T, 30)
MODEL = Model(Minkowski(3), TripleFermiDirac())
KINDS = Negatives(uniform=1, same_source=1)
CONFIG = Config(epochs=4, batch_size=8, burn_in=0, learning_rate=0.05, negatives=KINDS)


def with_future(seed: int) -> Split:
    """The same past, whose last edges validate, with a different future as the test."""
    rng = np.random.default_rng(seed)
    non_edges = PAIRS[~PAST.has_edges(*PAIRS.T)]
    future = non_edges[rng.choice(len(non_edges), 20, replace=False)]
    s, t = np.concatenate([[PAST.sources, PAST.targets], future.T], axis=1)
    graph = DiGraph.from_arrays(s, t, 30)
    # Times 0 … 49 train, 50 … 59 validate, then comes the future.
    times = in_edge_order(graph, s, t, np.append(np.arange(60), np.full(20, 60)))
    return split_edges(graph, valid=10 / 80, test=20 / 80, seed=5, times=times, negatives="uniform")


def test_no_test_edge_reaches_training_or_validation():
    """Validation and training have the same bits whatever the test edges are, even though they are scored."""
    splits = [with_future(seed) for seed in (1, 2)]
    assert as_set(splits[0].test_edges) != as_set(splits[1].test_edges)
    one, two = (train(s.train, MODEL, CONFIG, valid=s.valid, test=s.test) for s in splits)
    for a, b in zip(*(s.valid for s in splits), strict=True):
        assert np.array_equal(a, b)
    assert one.points.tobytes() == two.points.tobytes()
    for name in ("loss", "rejected", "valid_ap"):
        assert one.history[name].tobytes() == two.history[name].tobytes()


WHEN = np.random.default_rng(0).integers(0, 50, GRAPH.num_edges)
OPTIONS = {
    "edges": {},
    "connected": {"connected": True},
    "together": {"together": True},
    "connected and together": {"connected": True, "together": True},
    "time": {"times": WHEN},
    "nodes": {"by": "nodes"},
    "folds": None,
}


@pytest.mark.parametrize("kind", [name for name in NEGATIVE_KINDS if name != "listed"])
@pytest.mark.parametrize("option", OPTIONS)
def test_validation_negatives_know_no_test_edge(option, kind):
    """For every kind of split, validation negatives drawn without the test edges are the same."""
    options = OPTIONS[option]
    if options is None:
        made = [*folds(GRAPH, 4, seed=3, negatives=kind)]
    else:
        made = [split_edges(GRAPH, seed=3, negatives=kind, **options)]
    for i, split in enumerate(made):
        check_parts(GRAPH, split)
        assert len(split.test_edges)
        past = split.train.with_edges(split.valid_edges)
        key = [3, 1] if options is not None else [3, i, 1]
        again = draw_negatives(kind, past, split.valid_edges, 4, key)
        assert np.array_equal(split.valid_negatives, again)


def test_validation_may_draw_test_edges_and_the_test_no_edge():
    """Validation negatives that avoided the test edges would reveal them."""
    graph = transitive_chain(8)
    rest = [split_edges(graph, 0.2, 0.5, seed, ratio=6) for seed in range(5)]
    assert any(as_set(s.valid_negatives) & as_set(s.test_edges) for s in rest)
    assert not any(as_set(s.test_negatives) & as_set(graph) for s in rest)


def test_listed_non_edges_are_used_once():
    """Each goes to validation, test or training, so no tested pair is learned; self-pairs are dropped."""
    listed = np.argwhere(~GRAPH.has_edges(*np.indices((100, 100))))[::4]
    loops, listed = listed[listed[:, 0] == listed[:, 1]], listed[listed[:, 0] != listed[:, 1]]
    split = split_edges(GRAPH, negatives="listed", listed=np.concatenate([loops, listed]), ratio=3)
    parts = [as_set(x) for x in (split.valid_negatives, split.test_negatives, split.listed)]
    assert set.union(*parts) == as_set(listed)
    assert sum(map(len, parts)) == len(listed)
    assert len(parts[1]) == 3 * len(split.test_edges)
    with pytest.raises(ValueError, match=r"listed: .*3 × 105 .*185"):
        split_edges(GRAPH, negatives="listed", listed=listed[:500], ratio=3)
    with pytest.raises(ValueError, match=r"listed\[1\] is 0 → 1"):
        split_edges(chain(20), negatives="listed", listed=np.array([[0, 2], [0, 1]]))
