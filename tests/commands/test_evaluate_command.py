"""`timelike evaluate`: the keys that are promised, with the values of `timelike.evaluation`."""

import json

import numpy as np
import pytest
from small_files import QUICK

from timelike import Embedding
from timelike.embedding import model_folder
from timelike.estimator.baseline_scores import BASELINES
from timelike.evaluation import LabelledPairs
from timelike.evaluation.negative_kinds import draw_negatives
from timelike.evaluation.pair_evaluation import evaluate

KEYS = [
    *("average_precision", "roc_auc", "f1", "threshold", "hits@20", "hits@50", "hits@100", "mrr", "nll"),
    *("direction_accuracy", "positives", "negatives"),
]
#: Without simple methods beside the model, some of which are trained.
ALONE = ("--baselines", "none")


def result(run, *options) -> dict:
    code, out, err = run("evaluate", "model", "--edges", "test.tsv", "--json", *options)
    assert code == 0, err
    assert out.count("\n") == 1
    return json.loads(out)


def test_keys_and_baselines_the_same_every_time(run):
    found = result(run)
    assert set(KEYS) <= set(found)
    assert (found["positives"], found["negatives"]) == (36, 144)
    assert tuple(found["baselines"]) == tuple(BASELINES)
    euclidean = found["baselines"]["Euclidean"]
    assert (euclidean["direction_accuracy"], euclidean["nll"] > 0) == (0.5, True)
    assert found["baselines"]["Katz"]["nll"] is None
    assert 0 < found["baselines"]["Katz"]["average_precision"] <= 1
    assert found["threshold_from"] == "best F1 on validation pairs"
    assert result(run) == found


def test_same_as_in_python(run, files, split):
    embedding = Embedding.load(files / "model")
    trained_on = model_folder.load_trained_on(files / "model", embedding)
    names = {str(name): i for i, name in enumerate(embedding.names)}
    lines = [line.split("\t") for line in (files / "test.tsv").read_text().splitlines()]
    others = [line.split("\t") for line in (files / "non-edges.tsv").read_text().splitlines()]
    edges, non_edges = (np.array([[names[a], names[b]] for a, b in rows]) for rows in (lines, others))
    pairs = LabelledPairs.build(edges, non_edges)
    expected = evaluate(embedding, pairs, valid=trained_on.valid).to_dict()
    found = result(run, "--negatives", "non-edges.tsv", *ALONE)
    assert len(np.unique(non_edges, axis=0)) < found["negatives"] == len(non_edges)  # as often as listed
    assert {key: found[key] for key in KEYS} == pytest.approx({key: expected[key] for key in KEYS})


def test_negatives_are_no_known_edges(run, split):
    found = result(run, "--negatives", "reversed", *ALONE)
    assert result(run, "--protocol", "reversed", *ALONE) == found  # an alias
    known = split.graph
    back = draw_negatives("reversed", known, split.test_edges)
    assert (found["negatives_from"], found["negatives"]) == ("reversed", len(back))


def test_table(run):
    code, out, err = run("evaluate", "model", "--edges", "test.tsv", "--baselines", "L3,Katz")
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0].split()[:2] == ["average_precision", "roc_auc"]
    assert [line.split("  ")[0] for line in lines[1:4]] == ["model", "L3", "Katz"]
    assert "36 edges, 144 negatives (uniform)" in out


def test_a_sample_of_many_pairs_is_the_same_for_all(run):
    asked = ("evaluate", "model", "--edges", "test.tsv", "--most-pairs", 50, "--json")
    code, out, err = run(*asked, "--baselines", "degree product")
    found = json.loads(out)
    assert (code, found["positives"]) == (0, 10)
    assert {one["positives"] for one in found["baselines"].values()} == {10}
    assert "scored: 50 of 180 pairs" in err


def test_a_model_that_is_beaten_is_said_to_be(run, files):
    """A model that learned nothing ranks at random."""
    fit = ("fit", "edges.tsv", "--out", files / "bad", "--geometry", "euclidean", "--epochs", 1)
    code, out, err = run(*fit, "--learning-rate", 1e-6, "--evidence", "none", "--json")
    found = json.loads(out)
    assert code == 0, err
    assert max(found["baselines"].values()) > found["valid_ap"]
    assert "better than the model" in err
    evaluation = run("evaluate", files / "bad", "--edges", "test.tsv", "--baselines", "L3,SVD")
    assert "better than the model" in evaluation.err


@pytest.mark.long
def test_a_data_set_stands_for_a_file(run, files):
    assert run("fit", "cycle:40", "--out", files / "numbers", *QUICK).code == 0
    code, out, err = run("evaluate", files / "numbers", "--edges", "cycle:40", "--json")
    assert (code, json.loads(out)["positives"]) == (0, 40), err
    assert len(run("predict", files / "numbers", "--pairs", "cycle:40").out.splitlines()) == 41


def test_training_edges_are_pointed_out(run):
    said = run("evaluate", "model", "--edges", "edges.tsv", *ALONE).err
    assert "184 of 204 test edges were learned" in said
    assert "20 of 204 test edges were used for validation" in said


def test_ratio_and_seed_of_drawn_non_edges(run):
    one, two = (result(run, "--ratio", 2, "--seed", seed, *ALONE) for seed in (3, 4))
    assert one["negatives"] == two["negatives"] == 72
    assert one["average_precision"] != two["average_precision"]
    assert result(run, "--ratio", 2, "--seed", 3, *ALONE) == one


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["model"], "--edges"),
        (["model", "--edges", "test.tsv", "--negatives", "hard"], "--negatives is 'hard'"),
        (["model", "--edges", "test.tsv", "--negatives", "edges.tsv"], "edges.tsv: listed[0] is"),
        (["model", "--edges", "test.tsv", "--ratio", "0"], "--ratio is 0"),
        (["model", "--edges", "test.tsv", "--baselines", "l4"], "baselines has 'l4'"),
        (["model", "--edges", "test.tsv", "--most-pairs", "-1"], "--most-pairs is -1"),
        (["model", "--edges", "test.tsv", "--negatives", "non-edges.tsv", "--ratio", "2"], "--ratio"),
        (["model", "--edges", "loops.tsv"], "loops.tsv: "),
        (["model", "--edges", "cycle:5"], "cycle:5, pair 1: "),
        (["model", "--edges", "cylce:5"], "cylce:5: "),
    ],
)
def test_mistakes(arguments, says, mistake, files):
    (files / "loops.tsv").write_text("lexA\tlexA\n")
    assert says in mistake("evaluate", *arguments)
