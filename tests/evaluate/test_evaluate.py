"""`evaluate`: every number against an independent one, on embeddings, baselines and plain scorers."""

import dataclasses
import json
import re
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from sklearn import metrics as sk

from timelike import DiGraph, Embedding, Model
from timelike.datasets import chain, duplication_divergence
from timelike.engine.epoch import average_precision_on_device
from timelike.evaluation import DegreeProduct, LabelledPairs
from timelike.evaluation import pair_evaluation as module
from timelike.evaluation.pair_evaluation import evaluate, score_pairs
from timelike.evaluation.splits import split_edges
from timelike.likelihoods import FermiDirac, TripleFermiDirac
from timelike.manifolds import Euclidean, Minkowski

GRAPH = duplication_divergence(seed=17, start="complete")  # some edges go both ways
SPLIT = split_edges(GRAPH)
KEYS = [
    *("average_precision", "roc_auc", "f1", "threshold", "hits@20", "hits@50", "hits@100"),
    *("mrr", "nll", "brier", "direction_accuracy", "positives", "negatives"),
]


def embed(model=None, names=None):
    model = Model(Minkowski(3), TripleFermiDirac()) if model is None else model
    rng = np.random.default_rng(0)
    points = rng.normal(0, 0.3, (100, model.manifold.ambient_dim)).astype(np.float32)
    return Embedding(model, points, names, {}, {})


def test_an_evaluation_is_a_table_with_baselines_below_the_model():
    found = evaluate(embed(), SPLIT)
    degrees = evaluate(DegreeProduct(SPLIT.train), SPLIT)
    head, model, about = str(found).splitlines()
    assert head.split() == list(module.COLUMNS)
    assert set(head.split()) <= set(KEYS)
    assert model.split() == ["model", *(f"{found.to_dict()[name]:.4f}" for name in module.COLUMNS)]
    assert about.startswith(f"{found.positives:,} edges, {found.negatives:,} negatives")
    lines = found.table({"degree product": degrees}).splitlines()
    assert len({len(line) for line in lines[:-1]}) == 1  # aligned
    assert lines[1].split()[0] == "model"
    assert lines[2].split()[2] == f"{degrees.average_precision:.4f}"
    unknown = dataclasses.replace(found, f1=None, direction_accuracy=None)
    assert str(unknown).splitlines()[1].split().count("–") == 2


def test_all_scores():
    embedding = embed()
    found = evaluate(embedding, SPLIT)
    pairs, valid = SPLIT.test, SPLIT.valid
    labels = np.asarray(pairs.labels)
    log_p = np.asarray(embedding.log_prob(pairs.sources, pairs.targets), float)
    watched = np.asarray(embedding.log_prob(valid.sources, valid.targets), float)
    precision, recall, thresholds = sk.precision_recall_curve(valid.labels, watched)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-9)
    bar = max(zip(f1[:-1], thresholds, strict=True))[1]
    negatives = np.sort(log_p[~labels])
    s, t = SPLIT.test_edges.T
    one_way = ~GRAPH.has_edges(t, s)
    assert not one_way.all()
    wins = embedding.log_prob(s, t)[one_way] > embedding.log_prob(t, s)[one_way]
    expected = {
        "average_precision": sk.average_precision_score(labels, log_p),
        "roc_auc": sk.roc_auc_score(labels, log_p),
        "f1": sk.f1_score(labels, log_p >= bar),
        "threshold": np.exp(bar),
        "hits@20": np.mean(log_p[labels] > negatives[-20]),
        "hits@50": np.mean(log_p[labels] > negatives[-50]),
        "hits@100": np.mean(log_p[labels] > negatives[-100]),
        "mrr": np.mean([1 / (1 + np.sum(negatives > x)) for x in log_p[labels]]),
        "nll": sk.log_loss(labels, np.exp(log_p)),
        "brier": sk.brier_score_loss(labels, np.exp(log_p)),
        "direction_accuracy": wins.mean(),
        "positives": round(0.1 * GRAPH.num_edges),
        "negatives": 4 * round(0.1 * GRAPH.num_edges),
    }
    assert list(found.to_dict()) == KEYS
    assert found.to_dict() == pytest.approx(expected, rel=1e-5)
    assert found.threshold_from == "best F1 on validation pairs"
    on_device = jax.jit(average_precision_on_device)(log_p.astype(np.float32), labels)
    assert found.average_precision == pytest.approx(float(on_device), rel=1e-6)


def test_names_make_no_difference():
    names = tuple(f"gene{i}" for i in range(100))
    graph = DiGraph.from_arrays(GRAPH.sources, GRAPH.targets, names=names)
    assert evaluate(embed(names=names), split_edges(graph)) == evaluate(embed(), SPLIT)


def test_an_embedding_of_other_nodes_is_refused():
    names = tuple(f"gene{i}" for i in range(100))
    for other in (embed(names=names), dataclasses.replace(embed(), points=np.zeros((99, 3), np.float32))):
        with pytest.raises(ValueError, match=r"embedding.*(100|99) nodes.*DiGraph"):
            evaluate(other, SPLIT)


@pytest.mark.parametrize("shift", range(5))
def test_a_symmetric_model_has_no_sense_of_direction(shift):
    """Not even through the rounding of programs of different lengths."""
    pairs = LabelledPairs.build(SPLIT.test_edges[shift:], SPLIT.test_negatives)
    found = evaluate(embed(Model(Euclidean(5), FermiDirac())), pairs, known=GRAPH)
    assert found.direction_accuracy == 0.5


def test_without_validation_pairs_the_threshold_is_one_half():
    found = evaluate(embed(), SPLIT.test)
    assert found.threshold == pytest.approx(0.5)
    assert found.threshold_from == "probability 1/2 (no validation pairs)"
    with_valid = evaluate(embed(), SPLIT.test, valid=SPLIT.valid)
    assert with_valid.threshold == evaluate(embed(), SPLIT).threshold != found.threshold
    empty = split_edges(GRAPH, valid=0)
    assert evaluate(embed(), empty).threshold == pytest.approx(0.5)


def test_the_threshold_does_not_look_at_the_test():
    """Inverted test labels leave the threshold unchanged."""
    turned = SPLIT.test._replace(labels=~np.asarray(SPLIT.test.labels))
    one, two = (evaluate(embed(), pairs, valid=SPLIT.valid) for pairs in (SPLIT.test, turned))
    assert one.threshold == two.threshold
    assert one.f1 != two.f1


def test_a_scorer_without_probabilities():
    found = evaluate(DegreeProduct(SPLIT.train), SPLIT)
    assert found.nll is found.brier is None
    assert found.threshold == int(found.threshold) > 1
    alone = evaluate(DegreeProduct(SPLIT.train), SPLIT.test)
    assert alone.f1 is alone.threshold is None
    assert alone.average_precision == found.average_precision
    assert list(json.loads(json.dumps(alone.to_dict()))) == KEYS


def test_any_object_with_log_prob():
    """A scorer that knows the truth."""
    truth = SimpleNamespace(log_prob=lambda s, t: np.where(GRAPH.has_edges(s, t), -1e-9, -30.0))
    found = evaluate(truth, SPLIT).to_dict()
    for name in ("average_precision", "roc_auc", "f1", "hits@20", "mrr", "direction_accuracy"):
        assert found[name] == 1, name
    assert found["nll"] == pytest.approx(0, abs=1e-8)


def test_direction_is_tested_where_there_is_one():
    edges = np.array([[0, 1], [1, 0], [2, 3], [4, 4], [5, 6]])
    pairs = LabelledPairs.build(edges, np.array([[0, 2]]))
    later = SimpleNamespace(log_prob=lambda s, t: np.where(t > s, -1.0, -2.0))
    assert evaluate(later, pairs).direction_accuracy == 1  # 2 → 3 and 5 → 6
    backwards = SimpleNamespace(log_prob=lambda s, t: np.where((t > s) == (s < 5), -1.0, -2.0))
    assert evaluate(backwards, pairs).direction_accuracy == 0.5
    known = DiGraph.from_arrays([6], [5])  # so 5 → 6 goes both ways
    assert evaluate(backwards, pairs, known=known).direction_accuracy == 1
    assert evaluate(later, LabelledPairs.build(edges[:2], [[0, 2]])).direction_accuracy is None
    with pytest.raises(ValueError, match=r"known.*node 6"):
        evaluate(later, pairs, known=chain(5))


def test_blocks_change_nothing(monkeypatch):
    whole = score_pairs(embed(), SPLIT.test.sources, SPLIT.test.targets)
    monkeypatch.setattr(module, "BLOCK", 100)
    np.testing.assert_allclose(score_pairs(embed(), SPLIT.test.sources, SPLIT.test.targets), whole, rtol=1e-5)


@pytest.mark.parametrize(
    ("scorer", "pairs", "says"),
    [
        (embed(), LabelledPairs.build([[0, 1]], np.zeros((0, 2), int)), "pairs has 1 positives of 1"),
        (embed(), split_edges(GRAPH, test=0), "pairs has 0 positives of 0"),
        (embed(), [(0, 1)], "pairs is [(0, 1)]; it must be a Split"),
        (3, SPLIT, "scorer is 3"),
        (embed(), LabelledPairs.build([[0, 100]], [[0, 1]]), "targets has node 100"),
        (DegreeProduct(chain(9)), LabelledPairs.build([[0, 9]], [[0, 1]]), "targets has node 9"),
        (SimpleNamespace(log_prob=lambda s, t: s * np.nan), SPLIT, "score [0] is NaN ("),
    ],
)  # fmt: skip
def test_mistakes(scorer, pairs, says):
    with pytest.raises((ValueError, TypeError), match=re.escape(says)) as caught:
        evaluate(scorer, pairs)
    assert "\n" not in str(caught.value)
