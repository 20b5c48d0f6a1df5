"""Signs and types of edges: recognised, learned, calibrated, saved, and written by the command line."""

import json

import numpy as np
import polars as pl
import pytest

import timelike as tl
from timelike.cli.main import main
from timelike.evidence import EdgeLabels, Expression, LabelModel
from timelike.evidence.edge_labels import recognised

QUICK = {"dim": 3, "epochs": 2, "learning_rate": 0.03, "baselines": "none", "progress": False}
NODES = 80


def signed(seed: int = 0) -> tuple[pl.DataFrame, np.ndarray]:
    """Edges whose sign is that of the correlation of their ends."""
    rng = np.random.default_rng(seed)
    values = np.sign(rng.normal(size=(NODES, 1))) * rng.normal(size=(1, 25)) + rng.normal(size=(NODES, 25))
    s, t = np.nonzero(rng.random((12, NODES - 12)) < 0.35)
    sign = np.einsum("ij,ij->i", values[s], values[t + 12]) > 0
    frame = {
        "regulator": [f"g{i}" for i in s],
        "effect": np.where(sign, "+", "-"),
        "gene": [f"g{i + 12}" for i in t],
    }
    return pl.DataFrame(frame), values.astype(np.float32)


def graph_of(frame: pl.DataFrame) -> tl.DiGraph:
    return tl.read(frame.select("regulator", "gene"))


def measured(values: np.ndarray, graph: tl.DiGraph) -> Expression:
    table = pl.DataFrame(
        {"gene": [f"g{i}" for i in range(NODES)]} | {f"s{i}": x for i, x in enumerate(values.T)}
    )
    return Expression.read(table, graph)


def test_signs_and_types_are_recognised_by_the_header():
    assert recognised(["regulator", "gene_id", "effect"], True) == 2
    assert recognised(["source", "interaction", "target"], False) == 1
    assert recognised(["source", "target", "weight"], True) is None


def test_what_people_write_for_signs_is_read():
    rows = [("a", "b", "activator"), ("a", "c", "-1"), ("a", "d", "?"), ("b", "c", "+"), ("b", "d", "dual")]
    found = EdgeLabels.read(pl.DataFrame(rows, schema=["source", "target", "mode"], orient="row"))
    assert found.classes == ("+", "-")
    assert found.of_pairs([("a", "b"), ("a", "c"), ("a", "d")]) == ["+", "-", None]
    assert found.left_out == 2
    with pytest.raises(ValueError, match=r"sign is 'moode'.*mode"):
        EdgeLabels.read(pl.DataFrame(rows, schema=["source", "target", "mode"], orient="row"), "moode")


def test_a_pair_with_both_signs_has_none():
    rows = [("a", "b", "+"), ("a", "b", "-"), ("a", "c", "-")]
    frame = pl.DataFrame(rows, schema=["source", "target", "sign"], orient="row")
    graph = tl.read(frame.select("source", "target"))
    assert EdgeLabels.read(frame).aligned(graph).tolist() == [-1, 1]


def test_signs_follow_expression_and_are_calibrated():
    frame, values = signed()
    graph = graph_of(frame)
    model = LabelModel.learn(EdgeLabels.read(frame), graph, [measured(values, graph)])
    assert model.record["roc_auc"] > 0.9
    found = model.probabilities(*graph.pairs.T)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    blind = LabelModel.learn(EdgeLabels.read(frame), graph)
    assert blind.record["roc_auc"] < model.record["roc_auc"]


def test_random_signs_score_chance():
    """No label of a pair reaches its own features, also not through the shares of its ends."""
    frame, values = signed()
    rng = np.random.default_rng(1)
    frame = frame.with_columns(effect=pl.Series(rng.choice(["+", "-"], frame.height)))
    graph = graph_of(frame)
    areas = [
        LabelModel.learn(EdgeLabels.read(frame), graph, [measured(values, graph)], seed).record["roc_auc"]
        for seed in range(3)
    ]
    assert np.mean(areas) == pytest.approx(0.5, abs=0.08)


def test_types_share_the_probability_one():
    frame, _ = signed()
    kinds = ["binds", "cuts", "moves"]
    frame = frame.with_columns(type=pl.Series([kinds[int(x[1:]) % 3] for x in frame["regulator"]])).drop(
        "effect"
    )
    graph = graph_of(frame)
    model = LabelModel.learn(EdgeLabels.read(frame, signs=False), graph)
    classes, likely = model.of_pairs(*graph.pairs.T)
    assert {*classes} == {*kinds}
    assert model.record["roc_auc"] > 0.9
    assert ((likely > 1 / 3) & (likely <= 1)).all()
    with pytest.raises(ValueError, match="at least 20"):
        LabelModel.learn(EdgeLabels.read(frame.head(30), signs=False), graph)


def test_the_estimator_learns_saves_and_loads_them(tmp_path):
    frame, values = signed()
    graph = graph_of(frame)
    model = tl.SpacetimeEmbedding("minkowski", evidence=[measured(values, graph)], **QUICK)
    model.fit(graph, labels=EdgeLabels.read(frame))
    model.save(tmp_path / "model")
    again = tl.SpacetimeEmbedding.load(tmp_path / "model")
    pairs = graph.pairs[:9].T
    for one, other in zip(model.labels_, again.labels_, strict=True):
        np.testing.assert_array_equal(one.probabilities(*pairs), other.probabilities(*pairs))
    again.add_nodes([("g1", "new")])
    assert again.labels_[0].probabilities(*pairs).shape == (9, 2)


def test_the_command_line_reads_and_writes_them(tmp_path, capsys):
    frame, _ = signed()
    edges, out = tmp_path / "edges.tsv", tmp_path / "model"
    frame.write_csv(edges, separator="\t")
    words = ["fit", str(edges), "--out", str(out), "--geometry=minkowski", "--epochs=2", "--dim=3"]
    main([*words, "--evidence", "none"])
    assert "--sign effect predicts it too" in capsys.readouterr().err
    main([*words, "--sign", "effect", "--json"])
    assert f"{frame.height:,} rows have a sign" in capsys.readouterr().err
    main(["predict", str(out), "--all", "--top", "3"])
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split("\t") == ["source", "target", "probability", "sign", "sign_probability", "spread"]
    assert all(row.split("\t")[3] in "+-" for row in rows)
    main(["predict", str(out), "--source", "g1", "--json"])
    assert {"sign", "sign_probability"} <= {*json.loads(capsys.readouterr().out)["edges"][0]}
    with pytest.raises(SystemExit):
        main([*words, "--sign", "efect"])
    assert "effect" in capsys.readouterr().err
