"""`timelike plot`, `export` and `sweep`."""

import dataclasses
import json
from contextlib import nullcontext

import polars as pl
import pytest
from small_files import BRIEF

from timelike import Embedding
from timelike.cli.main import main
from timelike.cli.options import TrainingOptions
from timelike.datasets import cycle
from timelike.embedding import model_folder
from timelike.embedding.exports import FORMATS
from timelike.estimator.fit_plan import resolve
from timelike.training import sweeps


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("html", b"<!")])
def test_plot(run, tmp_path, ending, start):
    file = tmp_path / f"picture.{ending}"
    assert run("plot", "model", "--out", file)[:2] == (0, f"{file}\n")
    assert file.read_bytes().lower().startswith(start.lower())


def test_plot_of_a_node(run, tmp_path):
    file = tmp_path / "picture.pdf"
    code, out, _ = run("plot", "model", "--out", file, "--kind", "landscape", "--nodes", "lexA", "--json")
    assert code == 0
    assert json.loads(out) == {"model": "model", "kind": "landscape", "out": str(file)}
    assert file.stat().st_size > 1000


@pytest.mark.parametrize("form", FORMATS)
def test_export(run, files, tmp_path, form):
    if form == "lancedb":
        pytest.importorskip("lancedb", reason="lancedb is not installed")
    code, out, _ = run("export", "model", "--format", form, "--out", tmp_path / "points", "--json")
    assert code == 0
    assert json.loads(out)["nodes"] == 40
    assert (tmp_path / "points").exists()


def test_export_beside_the_model(run, files):
    assert run("export", "model", "--format", "tsv")[:2] == (0, "model.tsv\n")
    for name, form in (("a.tsv", "tsv"), ("a.vec", "word2vec"), ("A.NPZ", "npz")):
        code, out, _ = run("export", "model", "--out", name, "--json")
        assert (code, json.loads(out)["format"]) == (0, form)
        (files / name).unlink()
    table = pl.read_csv(files / "model.tsv", separator="\t")
    assert table.columns == ["node", "t0", "x0", "x1", "time"]
    assert "lexA" in table["node"].to_list()
    run("export", "model", "--format", "graphml")
    trained_on = model_folder.load_trained_on(files / "model", Embedding.load(files / "model"))
    assert (files / "model.graphml").read_text().count("<edge ") == trained_on.graph.num_edges


def test_export_from_within_the_model(files, monkeypatch):
    monkeypatch.chdir(files / "model")
    main(["export", ".", "--format", "npz"])
    assert (files / "model.npz").exists()
    assert {x.name for x in (files / "model").iterdir()} == {
        *model_folder.FILES,
        model_folder.EDGES,
        "SHA256SUMS",
    }


def test_every_option_of_training_reaches_the_plan():
    numbers = {"epochs": 7, "batch_size": 9, "learning_rate": 0.5, "tables": "bfloat16", "seed": 3}
    others = {"likelihood": "cone", "dim": 4, "negatives": "same_source=2", "seeds": 2}
    assert {field.name for field in dataclasses.fields(TrainingOptions)} == {*numbers, *others}
    plan = resolve(cycle(9), TrainingOptions(**numbers, **others).options("minkowski"))
    model, config = plan.candidates[0].model, plan.candidates[0].config
    assert {name: getattr(config, name) for name in numbers} == numbers
    assert (type(model.likelihood).__name__, model.manifold.dim, plan.seeds) == ("Cone", 4, 2)
    assert config.negatives.counts == {"same_source": 2}
    with pytest.raises(ValueError, match="dim is 0"):
        TrainingOptions(dim=0).options("minkowski")


@pytest.mark.parametrize(
    "text",
    [
        *("same_source", "target=2", "same_source=x", "uniform=2,,"),
        *("reversed=2", "listed=2", "uniform=0", "uniform=2,uniform=3", "weights=2"),
    ],
)
def test_negatives_that_cannot_be_drawn(text):
    with pytest.raises(ValueError, match=f"negatives is '{text}'"):
        TrainingOptions(negatives=text).options("minkowski")


@pytest.mark.long
def test_sweep(run, tmp_path):
    grid = ("--grid", "tau1=0.1,0.4", "alpha=0.05,0.1")
    arguments = ("sweep", "edges.tsv", *BRIEF, *grid, "--seeds", 2)
    code, out, err = run(*arguments)
    assert code == 0
    header, *rows = (line.split("\t") for line in out.splitlines())
    assert header == ["tau1", "alpha", "seed", "status", "best_epoch", "loss", "valid_ap"]
    assert len(rows) == 8
    assert "best in minkowski: tau1=" in err
    code, out, _ = run(*arguments, "--out", tmp_path / "best", "--json")
    found = json.loads(out)
    assert [list(row) for row in found["runs"]] == [header] * 8
    assert found["best"]["valid_ap"] == max(row["valid_ap"] for row in found["runs"])
    best = Embedding.load(tmp_path / "best")
    assert best.info["valid_ap"] == pytest.approx(found["best"]["valid_ap"])
    assert (best.info["geometry"], best.info["reason"]) == ("minkowski", "as given")
    assert float(best.model.likelihood.tau1) == pytest.approx(found["best"]["tau1"])
    assert model_folder.load_trained_on(tmp_path / "best", best).known.num_edges == 204


@pytest.mark.long
def test_a_run_that_diverged_at_once_is_not_called_the_best(run):
    code, out, _ = run("sweep", "edges.tsv", *BRIEF, "--grid", "init_scale=1e30,0.01", "--json")
    assert code == 0
    found = json.loads(out)
    assert [row["status"] for row in found["runs"]] == ["diverged in epoch 1", "finished"]
    assert found["best"] == found["runs"][1]


@pytest.mark.long
def test_an_interrupted_sweep_goes_on(run, tmp_path, monkeypatch):
    arguments = ("sweep", "edges.tsv", *BRIEF, "--seeds", 2, "--json", "--out")
    expected = json.loads(run(*arguments, tmp_path / "whole").out)
    with monkeypatch.context() as patch:
        patch.setattr(sweeps, "note_signals", lambda *_: nullcontext(["SIGINT"]))
        code, _, err = run(*arguments, tmp_path / "model")
        assert code == 130
        assert "run it again to resume (with --resume)" in err
        _, _, err = run("sweep", "edges.tsv", *BRIEF)
        assert "nothing was saved" in err
        assert "with --out, --resume could have continued it" in err
    assert [x.name for x in (tmp_path / "model.checkpoint").iterdir()] == ["runs.safetensors"]
    found = json.loads(run(*arguments, tmp_path / "model", "--resume").out)
    assert found["runs"] == expected["runs"]
    assert not (tmp_path / "model.checkpoint").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["plot", "model", "--out", "x.gif"], ".png, .svg, .pdf, .html"),
        (["plot", "model", "--out", "no/x.png"], "no/x"),
        (["plot", "model", "--out", "x.png", "--kind", "pie"], "landscape"),
        (["plot", "model", "--out", "x.png", "--nodes", "lexB"], "lexA"),
        (
            ["export", "model"],
            "--format must be one of npz, npy, tsv, csv, parquet, lancedb, word2vec, tensorboard, graphml",
        ),
        (["export", "model", "--out", "points.docx"], "--out is points.docx"),
        (["export", "model", "--format", "xlsx"], "word2vec"),
        (["export", "model", "--format", "tsv", "--out", "no/x"], "no/x"),
        (["sweep", "edges.tsv", "--grid", "tau1"], "tau1=0.1,0.4"),
        (["sweep", "edges.tsv", "--grid", "tau1=1", "tau1=2"], "--grid has tau1 twice"),
        (["sweep", "edges.tsv", "--resume"], "--resume needs --out"),
        (["sweep", "edges.tsv", "--geometry", "minkowski", "--grid", "tua=1"], "tau1"),
    ],
)
def test_mistakes(arguments, says, mistake):
    assert says in mistake(*arguments)


def test_plot_for_a_paper(run, tmp_path):
    table = tmp_path / "genes.tsv"
    table.write_text("gene\tpathway\tscore\nlexA\tSOS\t1.5\nrecA\tSOS\t2\n")
    look = ("--size", 170, "--theme", "grey", "--labels", "lexA", "recA", "--edges", "straight")
    file = tmp_path / "a.svg"
    code, out, _ = run("plot", "model", "--out", file, "--nodes", table, "--color", "pathway", *look)
    assert (code, out) == (0, f"{file}\n")
    text = file.read_text()
    assert all(f">{word}<" in text for word in ("SOS", "other", "lexA", "recA"))
    assert 'width="48' in text  # 170 mm are 481.9 points
    code, _, said = run("plot", "model", "--out", file, "--nodes", table, "--color", "colour")
    assert (code, "pathway, score" in said) == (2, True)
    code, _, said = run("plot", "model", "--out", file, "--nodes", table)
    assert (code, "--color" in said) == (2, True)


def test_plot_of_panels(run, tmp_path):
    file = tmp_path / "a.png"
    code, out, _ = run("plot", "model", "--out", file, "--kind", "diagram", "adjacency", "--json")
    assert (code, json.loads(out)["kind"]) == (0, ["diagram", "adjacency"])
