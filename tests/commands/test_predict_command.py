"""`timelike predict`: the embedding's own rankings as tables, without known edges."""

import dataclasses
import io
import json
import os
import re
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from timelike import DiGraph, Embedding, Model, ensemble
from timelike.embedding import model_folder
from timelike.embedding.trained_on import TrainedOn
from timelike.hierarchy import embed_hierarchy
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import Minkowski


@pytest.fixture(scope="session")
def fitted(files):
    embedding = Embedding.load(files / "model")
    return embedding, model_folder.load_trained_on(files / "model", embedding)


def table(text: str) -> list[tuple]:
    return pl.read_csv(io.StringIO(text), separator="\t").rows()


def same(rows: list[tuple], predictions: list) -> None:
    assert [row[:2] for row in rows] == [tuple(p[:2]) for p in predictions]
    np.testing.assert_allclose([row[2] for row in rows], [p.probability for p in predictions], rtol=6e-3)


def test_rankings(run, fitted):
    embedding, trained_on = fitted
    expected = {
        ("--source", "lexA"): embedding.top_targets("lexA", 10, exclude=trained_on.known),
        ("--target", "recA", "--top", 4): embedding.top_sources("recA", 4, exclude=trained_on.known),
        ("--all", "--top", 25): embedding.top_edges(25, exclude=trained_on.known),
    }
    for options, predictions in expected.items():
        code, out, err = run("predict", "model", *options)
        assert code == 0
        assert out.splitlines()[0] == "source\ttarget\tprobability"
        same(table(out), predictions)
        assert err.startswith("note: calibrated on")


def test_all_edges_between_listed_nodes(run, fitted, tmp_path, monkeypatch):
    embedding, trained_on = fitted
    (tmp_path / "regulators.txt").write_text("# two of them\nlexA\nrecA\n")
    code, out, _ = run("predict", "model", "--all", "--sources", tmp_path / "regulators.txt")
    assert code == 0
    same(table(out), embedding.top_edges(10, sources=["lexA", "recA"], exclude=trained_on.known))
    monkeypatch.setattr("timelike.cli.predicted_edges.MANY", 80)  # 40 nodes, two of them sources
    for options, many in (((), True), (("--sources", tmp_path / "regulators.txt"), False)):
        code, _, err = run("predict", "model", "--all", *options)
        assert (code, "scoring 1.6e+03 pairs" in err) == (0, many)
    code, _, err = run("predict", "model", "--source", "lexA", "--targets", tmp_path / "regulators.txt")
    assert (code, err) == (2, "timelike: --targets cannot be combined with --source; it needs --all\n")
    (tmp_path / "typo.txt").write_text("lexB\n")
    code, _, err = run("predict", "model", "--all", "--targets", tmp_path / "typo.txt")
    assert code == 2
    assert re.search("typo.txt: .*'lexB'", err)


def test_similar_nodes(run, fitted):
    embedding, _ = fitted
    code, out, err = run("predict", "model", "--similar", "lexA", "--top", "3")
    assert (code, err) == (0, "")
    found = pl.read_csv(io.BytesIO(out.encode()), separator="\t")
    nearest = embedding.most_similar("lexA", 3)
    assert found["node"].to_list() == [row.node for row in nearest]
    np.testing.assert_allclose(found["distance"], [row.distance for row in nearest], rtol=6e-3)
    code, _, err = run("predict", "model", "--similar", "lexB")
    assert code == 2
    assert re.match("timelike: --similar: .*'lexB'.*lexA", err)


def test_every_node_has_its_own(run, fitted, tmp_path, monkeypatch):
    monkeypatch.setattr("timelike.embedding.targets_of_each.PIECE", 7)  # many pieces
    embedding, trained_on = fitted
    strangers = embedding.strangers(trained_on.known)
    nodes = [embedding.name(i) for i in range(len(embedding.points)) if i not in strangers]
    expected = [row for node in nodes for row in embedding.top_targets(node, 3, exclude=trained_on.known)]
    for form, reader in {"parquet": pl.read_parquet, "json": pl.read_json, "csv": pl.read_csv}.items():
        file = tmp_path / f"each.{form}"
        assert run("predict", "model", "--each", 3, "--out", file)[:2] == (0, "")
        same(reader(file).rows(), expected)
    (tmp_path / "two.txt").write_text("recA\nlexA\n")
    monkeypatch.setattr("timelike._util.progress.SECONDS", 0.0)  # as where it takes long
    _, out, err = run("predict", "model", "--each", 2, "--sources", tmp_path / "two.txt")
    assert "sources: 2 of 2 " in err
    same(
        table(out),
        [
            row
            for node in ("recA", "lexA")
            for row in embedding.top_targets(node, 2, exclude=trained_on.known)
        ],
    )


def test_what_stops_in_between_leaves_no_file(run, tmp_path):
    (tmp_path / "old.parquet").write_bytes(b"old")
    rows = ["lexA\trecA"] * 300_000 + ["lexA\tlexB"]
    (tmp_path / "pairs.tsv").write_text("\n".join(rows))
    code, _, err = run(
        "predict", "model", "--pairs", tmp_path / "pairs.tsv", "--out", tmp_path / "old.parquet"
    )
    assert code == 2
    assert re.search("pair 300001: .*'lexB'", err)
    assert (tmp_path / "old.parquet").read_bytes() == b"old"
    assert {file.name for file in tmp_path.iterdir()} == {"old.parquet", "pairs.tsv"}


PEAK = """
import re, sys
from pathlib import Path
from timelike.cli.main import main
main(["predict", "model", "--pairs", sys.argv[1], "--out", sys.argv[2]])
print(int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) // 1024)
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells the peak; getrusage has that of the parent")
def test_predictions_that_do_not_fit_are_streamed(tmp_path):
    """Twelve times as many pairs take little more memory: less than a third of the table that is written."""
    rng = np.random.default_rng(0)
    model = Model(Minkowski(3), TripleFermiDirac())
    points = rng.normal(size=(1000, 3)).astype(np.float32)
    Embedding(model, points, None, {}, {}).save(tmp_path / "model")
    peaks, rows = [], [2**20, 12 * 2**20]
    for count in rows:
        ends = rng.integers(0, 1000, (2, count), dtype=np.int32)
        pl.DataFrame({"s": ends[0], "t": ends[1]}).write_parquet(tmp_path / "pairs.parquet")
        out = tmp_path / f"{count}.parquet"
        command = [sys.executable, "-c", PEAK, tmp_path / "pairs.parquet", out]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=400
        )
        assert done.returncode == 0, done.stderr
        peaks.append(int(done.stdout))
        assert pl.scan_parquet(out).select(pl.len()).collect().item() == count
    print(f"peak memory {peaks} MiB")
    table = 20 * rows[1] / 2**20  # two numbers of 8 bytes and one of 4 in a row
    assert peaks[1] - peaks[0] < table / 3
    assert pl.scan_parquet(out).head(3).collect()["source"].to_list() == ends[0][:3].tolist()


def test_known_edges_are_left_out(run, split):
    _, out, _ = run("predict", "model", "--all", "--top", 10_000)
    assert len(table(out)) == 40 * 39 - split.train.num_edges


def test_a_guess_is_called_one(run, fitted, tmp_path):
    embedding, trained_on = fitted
    config = {**embedding.info["config"], "negatives": {"same_source": 4}}
    learned = dataclasses.replace(embedding, info={**embedding.info, "config": config})
    learned.save(tmp_path / "learned", trained_on)
    name = embedding.name(learned.strangers(trained_on.known)[0])
    says = f"note: {name} has no known targets"
    assert says in run("predict", tmp_path / "learned", "--source", name).err
    assert says not in run("predict", "model", "--source", name).err


def test_pairs_keep_their_order(run, fitted, tmp_path, monkeypatch):
    rows = [("recA", "lexA"), ("lexA", "recA"), ("recA", "lexA"), ("gene5", "gene5")]
    (tmp_path / "pairs.csv").write_text("from,to\n" + "".join(f"{a},{b}\n" for a, b in rows))
    probabilities = fitted[0].prob(*zip(*rows, strict=True))
    _, out, _ = run("predict", "model", "--pairs", tmp_path / "pairs.csv")
    assert [row[:2] for row in table(out)] == rows
    np.testing.assert_allclose([row[2] for row in table(out)], probabilities, rtol=1e-6)
    monkeypatch.setattr("timelike._util.progress.SECONDS", 0.0)  # as where it takes long
    _, out, err = run("predict", "model", "--pairs", tmp_path / "pairs.csv", "--top", 2)
    assert "pairs: 4" in err
    np.testing.assert_allclose([row[2] for row in table(out)], np.sort(probabilities)[:-3:-1], rtol=1e-6)


def test_pairs_from_standard_input(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"lexA recA\nlexA ghost\n")))
    code, out, err = run("predict", "model", "--pairs", "-", "--skip-bad-rows")
    assert code == 0
    assert [row[:2] for row in table(out)] == [("lexA", "recA")]
    assert "note: standard input: 1 pair with unknown nodes" in err


def test_formats_say_the_same(run, tmp_path):
    rows = table(run("predict", "model", "--all").out)
    found = {
        "csv": pl.read_csv(io.StringIO(run("predict", "model", "--all", "--format", "csv").out)).rows(),
        "json": [
            tuple(x.values()) for x in json.loads(run("predict", "model", "--all", "--format", "json").out)
        ],
    }
    readers = {"tsv": lambda x: pl.read_csv(x, separator="\t"), "csv": pl.read_csv, "json": pl.read_json}
    for form, reader in {**readers, "parquet": pl.read_parquet}.items():
        file = tmp_path / f"found.{form}"
        assert run("predict", "model", "--all", "--out", file)[:2] == (0, "")
        found[f".{form}"] = reader(file).rows()
    for other in found.values():
        assert [row[:2] for row in other] == [row[:2] for row in rows]
        np.testing.assert_allclose([row[2] for row in other], [row[2] for row in rows], rtol=6e-3)
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["model"], "predict needs one of --pairs, --source"),
        (["model", "--all", "--source", "lexA"], "--source cannot be combined with --all"),
        (["model", "--source", "lexB"], "lexA"),
        (["model", "--target", "rec"], "recA"),
        (["model", "--all", "--top", "0"], "--top is 0"),
        (["model", "--each", "0"], "--each is 0"),
        (["model", "--each", "2", "--top", "3"], "--top cannot be combined with --each"),
        (["model", "--each", "2", "--why"], "--why cannot be combined with --each"),
        (["model", "--pairs", "test.tsv", "--why"], "--why cannot be combined with --pairs"),
        (["model", "--all", "--out", "x.xls"], "tsv, csv, parquet, json"),
        (["model", "--all", "--out", "no/x.csv"], "no/x.csv"),
        (["model", "--pairs", "nothing.tsv"], "nothing.tsv"),
        (["model", "--pairs", "stranger.tsv"], "stranger.tsv, pair 2: "),
        (["model", "--pairs", "stranger.tsv", "--columns", "0,7"], "columns"),
        (["ghost", "--all"], "ghost"),
        ([".", "--all"], "model.json"),
    ],
)
def test_mistakes(arguments, says, mistake, files):
    (files / "stranger.tsv").write_text("lexA\trecA\nlexA\tlexB\n")
    assert says in mistake("predict", *arguments)


def test_members_have_a_spread(run, fitted, tmp_path):
    embedding, trained_on = fitted
    moved = np.random.default_rng(0).normal(scale=0.1, size=embedding.points.shape).astype(np.float32)
    other = dataclasses.replace(embedding, points=embedding.points + moved)
    both = dataclasses.replace(ensemble([embedding, other]), calibration=embedding.calibration)
    both.save(tmp_path / "model", trained_on)
    expected = both.top_edges(7, exclude=trained_on.known)
    out = run("predict", tmp_path / "model", "--all", "--top", 7).out
    assert out.splitlines()[0] == "source\ttarget\tprobability\tspread"
    same(table(out), expected)
    np.testing.assert_allclose([row[3] for row in table(out)], [p.spread for p in expected], rtol=6e-3)
    shown = json.loads(run("predict", tmp_path / "model", "--all", "--top", 7, "--format", "json").out)
    assert [list(row) for row in shown] == [["source", "target", "probability", "spread"]] * 7
    for form, reader in (("csv", pl.read_csv), ("parquet", pl.read_parquet)):
        code, _, _ = run(
            "predict", tmp_path / "model", "--pairs", "test.tsv", "--out", tmp_path / f"x.{form}"
        )
        found = reader(tmp_path / f"x.{form}")
        assert (code, found.columns) == (0, ["source", "target", "probability", "spread"])
        np.testing.assert_allclose(found["spread"], both.spread(*found[:, :2]), rtol=1e-4, atol=1e-7)
    code, out, err = run("explore", tmp_path / "model", "--out", tmp_path / "page.html")
    assert code == 0
    assert "has 2 members; the page shows the first" in err


@pytest.fixture(scope="session")
def taxonomy(tmp_path_factory):
    """Nested cones of a small taxonomy whose edges point from child to parent, and its folder."""
    rows = "dog canine,wolf canine,cat feline,canine mammal,feline mammal,mammal animal,bird animal,dog pet"
    graph = DiGraph.from_edges([tuple(row.split()) for row in f"{rows},pet animal".split(",")])
    embedding = embed_hierarchy(graph, 3)
    folder = tmp_path_factory.mktemp("taxonomy") / "model"
    embedding.save(folder, TrainedOn(graph))
    return embedding, folder


def test_relatives_in_a_hierarchy(run, taxonomy, tmp_path):
    embedding, folder = taxonomy
    for option, node, found in (
        ("--ancestors", "dog", embedding.ancestors("dog")),
        ("--descendants", "mammal", embedding.descendants("mammal")),
    ):
        code, out, err = run("predict", folder, option, node)
        rows = table(out)
        assert code == 0
        assert [(row[0], row[2]) for row in rows] == [(x.node, x.steps) for x in found]
        np.testing.assert_allclose([row[3] for row in rows], [x.time for x in found], rtol=6e-3)
        assert {row[4] for row in rows} == {True}
        assert "edges point from child to parent" in err
    assert {row[0] for row in table(run("predict", folder, "--ancestors", "dog").out)} == {
        "canine",
        "pet",
        "mammal",
        "animal",
    }
    file = tmp_path / "common.parquet"
    assert run("predict", folder, "--common", "dog", "cat", "--out", file)[:2] == (0, "")
    assert pl.read_parquet(file)["node"].to_list() == ["mammal"]
    code, out, _ = run("predict", folder, "--descendants", "animal", "--top", 2, "--json")
    assert code == 0
    assert len(json.loads(out)["nodes"]) == 2


def test_what_does_not_follow_from_the_edges_is_marked(run, taxonomy, tmp_path):
    """An event moved below another one by hand: the cone holds it, the edges do not lead there."""
    embedding, _ = taxonomy
    points = embedding.points.copy()
    bird, cat = (embedding.names.index(name) for name in ("bird", "cat"))
    points[bird] = points[cat]
    points[bird, 0] -= 0.01  # edges point up, so descendants lie in the past
    graph = DiGraph.from_edges([("cat", "feline"), ("bird", "animal"), ("feline", "animal")], embedding.names)
    dataclasses.replace(embedding, points=points).save(tmp_path / "model", TrainedOn(graph))
    code, out, _ = run("predict", tmp_path / "model", "--ancestors", "bird", "--json")
    known = {row["node"]: row["known"] for row in json.loads(out)["nodes"]}
    assert code == 0
    assert (known["cat"], known["animal"]) == (False, True)


def test_mistakes_about_relatives(mistake, taxonomy):
    _, folder = taxonomy
    assert "'dgo'" in mistake("predict", folder, "--ancestors", "dgo")
    assert "dog" in mistake("predict", folder, "--ancestors", "dogg")
    assert "--common has 1" in mistake("predict", folder, "--common", "dog")
    assert "threshold is 2" in mistake("predict", folder, "--descendants", "dog", "--threshold", 2)
    assert "--threshold" in mistake("predict", folder, "--source", "dog", "--threshold", 0.5)
    assert "--why" in mistake("predict", folder, "--ancestors", "dog", "--why")
    assert "--top is 0" in mistake("predict", folder, "--ancestors", "dog", "--top", 0)
