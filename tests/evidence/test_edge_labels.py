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


@pytest.fixture(scope="module")
def fitted() -> tl.SpacetimeEmbedding:
    """A model that knows all signs but twenty."""
    frame, values = signed()
    graph = graph_of(frame)
    labels = EdgeLabels.read(
        frame.with_columns(effect=pl.concat([pl.Series(["?"] * 20), frame["effect"][20:]]))
    )
    model = tl.SpacetimeEmbedding("minkowski", evidence=[measured(values, graph)], **QUICK)
    return model.fit(graph, labels=labels)


def test_known_signs_are_kept_and_others_predicted(fitted):
    frame, _ = signed()
    (one,), graph = fitted.labels_, fitted.known_
    words, likely = one.of_pairs(*graph.numbers([*frame["regulator"], *frame["gene"]], "x").reshape(2, -1))
    assert words[20:] == frame["effect"].to_list()[20:]
    assert (likely[20:] == 1).all()
    assert (likely[:20] < 1).all()
    assert np.mean(np.array(words[:20]) == frame["effect"].to_numpy()[:20]) > 0.7


def test_the_table_for_other_programs(fitted):
    table = fitted.edge_table(30)
    edges = fitted.known_.num_edges
    assert table.columns == [
        *("source", "target", "weight", "probability", "known"),
        "sign",
        "sign_probability",
    ]
    assert table["known"].sum() == edges == table.height - 30
    best = fitted.top_edges(30)
    assert [*table.filter(~pl.col("known")).select("source", "target").iter_rows()] == [x[:2] for x in best]
    plus = 2 * table["sign_probability"] - 1
    expected = plus * pl.Series([1 if x == "+" else -1 for x in table["sign"]])
    expected = (
        expected * pl.select(pl.when(table["known"]).then(1.0).otherwise(table["probability"])).to_series()
    )
    np.testing.assert_allclose(table["weight"], expected)
    assert {-1.0, 1.0} <= {*table["weight"]}
    graph = fitted.to_networkx(30)
    row = table.row(-1, named=True)
    assert graph.edges[row["source"], row["target"]]["sign"] == row["sign"]
    assert graph.number_of_edges() == table.height
    assert fitted.to_networkx().number_of_edges() == edges
    assert {*fitted.edge_table()["weight"][-5:]} <= {-1.0, 1.0, *table["weight"]}


def test_pictures_colour_edges_by_sign(fitted):
    from matplotlib.colors import to_rgba

    from timelike.plot.style import LINES

    figure = tl.plot.draw(fitted, edges="straight")
    lines = figure.axes[0].collections[0].get_colors()
    assert {tuple(colour[:3]) for colour in lines} == {to_rgba(colour)[:3] for colour in LINES[2:4]}
    texts = [text.get_text() for legend in figure.axes[0].artists for text in legend.get_texts()]
    texts += [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert {"+", "-"} <= {*texts}
    with pytest.raises(ValueError, match=r"edge_labels has 1 texts"):
        tl.plot.draw(fitted, edge_labels=["+"])


def test_the_explorer_says_them(fitted):
    from timelike.explore.answers import Answers
    from timelike.explore.shown_model import Shown

    shown = Shown("signed", fitted.embedding_, fitted.known_, joint=fitted.joint_, labels=fitted.labels_)
    answers = Answers(shown)
    side = answers.node(answers.number("g1"), 5)["targets"]
    assert {row["labels"] for row in side["known"]} <= {"+", "-"} | {row["labels"] for row in side["new"]}
    assert all(row["labels"][0] in "+-" and float(row["labels"][2:]) <= 1 for row in side["new"])
    pair = answers.pair(answers.number("g1"), side["new"][0]["id"])["forward"]
    assert pair["labels"] == side["new"][0]["labels"]
    assert all("labels" in row for row in answers.likeliest(3))


def test_the_estimator_learns_saves_and_loads_them(fitted, tmp_path):
    model, graph = fitted, fitted.known_
    model.save(tmp_path / "model")
    again = tl.SpacetimeEmbedding.load(tmp_path / "model")
    pairs = graph.pairs[:9].T
    for one, other in zip(model.labels_, again.labels_, strict=True):
        np.testing.assert_array_equal(one.probabilities(*pairs), other.probabilities(*pairs))
    again.add_nodes([("g1", "new")])
    assert again.labels_[0].probabilities(*pairs).shape == (9, 2)
    again.update([("g2", "newer")], epochs=1)
    assert again.labels_[0].known(*again.known_.pairs.T).max() == 1


def test_the_command_line_reads_and_writes_them(tmp_path, capsys):
    frame, _ = signed()
    edges, out = tmp_path / "edges.tsv", tmp_path / "model"
    frame.write_csv(edges, separator="\t")
    words = ["fit", str(edges), "--out", str(out), "--geometry=minkowski", "--epochs=2", "--dim=3"]
    main([*words, "--evidence", "none"])
    assert "`timelike fit --sign` predicts signs too" in capsys.readouterr().err
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


def test_comments_before_the_header_are_left_out(tmp_path):
    text = "# an export, with a comma\n# TF\tgene\nTF\tgene\teffect\na\tb\t+\nb\tc\t-\n"
    for lead in ("", "#"):
        file = tmp_path / "edges.tsv"
        file.write_text(text.replace("TF\tgene\teffect", f"{lead}TF\tgene\teffect"))
        labels = EdgeLabels.read(file, "effect", signs=True)
        assert labels.of_pairs([("a", "b"), ("b", "c"), ("a", "c")]) == ["+", "-", None]
