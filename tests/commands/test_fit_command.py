"""`timelike fit`: where edges may come from, what is kept, what is refused."""

import io
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from small_files import QUICK, name

from timelike import Config, Embedding
from timelike.cli.fit_summary import first_question
from timelike.cli.reading_options import GraphOptions, find_nodes
from timelike.embedding import model_folder
from timelike.embedding.plain_json import from_plain
from timelike.training.replay import Replay

KEYS = [
    *("model", "geometry", "reason", "candidates", "likelihood", "dim", "nodes", "edges", "valid_edges"),
    "implied",
    "refit",
    *(
        "epochs",
        "best_epoch",
        "selected_by",
        "still_improving",
        "method",
        "members",
        "valid_ap",
        "guessing_ap",
        "member_valid_ap",
        "baselines",
    ),
    *("calibration", "evidence", "seconds", "version"),
]


@pytest.fixture
def fit(run, tmp_path):
    """Fit quickly into a new folder, with JSON; the folder and the result."""

    def call(edges, *options):
        code, out, err = run("fit", edges, "--out", tmp_path / "model", "--json", *QUICK, *options)
        assert code == 0, err
        return tmp_path / "model", json.loads(out)

    return call


def test_result_and_model(fit, files):
    folder, found = fit("edges.tsv")
    assert list(found) == KEYS
    assert (found["geometry"], found["dim"], found["epochs"], found["nodes"]) == ("minkowski", 3, 3, 40)
    assert found["edges"] + found["valid_edges"] == 204
    assert "for 4 non-edges" in found["calibration"]
    expected = [*model_folder.FILES, "SHA256SUMS", "edges.parquet"]
    assert sorted(x.name for x in folder.iterdir()) == sorted(expected)
    assert [x.name for x in folder.parent.iterdir()] == ["model"]
    again, same = Embedding.load(folder), Embedding.load(files / "model")
    assert again.points.tobytes() == same.points.tobytes()


def test_the_model_knows_its_edges(fit, split):
    folder, found = fit("edges.tsv")
    embedding = Embedding.load(folder)
    trained_on = model_folder.load_trained_on(folder, embedding)
    known = trained_on.known
    expected = {(name(s), name(t)) for s, t in zip(split.train.sources, split.train.targets, strict=True)}
    pairs = zip(known.sources, known.targets, strict=True)
    assert {(known.name(s), known.name(t)) for s, t in pairs} == expected
    assert trained_on.graph.num_edges == found["edges"]
    labels = np.asarray(trained_on.valid.labels)
    assert (labels.sum(), (~labels).sum()) == (found["valid_edges"], 4 * found["valid_edges"])


@pytest.mark.long
def test_streamed_edges(fit):
    folder, found = fit("edges.tsv", "--stream", "--seed", "1")
    assert list(found) == KEYS
    assert (found["geometry"], found["dim"], found["epochs"], found["nodes"]) == ("minkowski", 3, 3, 40)
    assert found["edges"] + found["valid_edges"] == 204
    assert found["guessing_ap"] == 0.2
    assert sorted(x.name for x in folder.iterdir()) == sorted([*model_folder.FILES, "SHA256SUMS"])
    assert [x.name for x in folder.parent.iterdir()] == ["model"]
    embedding = Embedding.load(folder)
    assert {str(x) for x in embedding.names} == {name(i) for i in range(40)}
    assert (embedding.info["geometry"], embedding.info["reason"]) == (found["geometry"], found["reason"])


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--tune"], "--stream cannot be combined with --tune"),
        (["--snapshots", "3"], "--stream cannot be combined with --snapshots"),
        (["--refit", "yes"], "--stream cannot be combined with --refit yes"),
        (["--ray", "2"], "--stream cannot be combined with --ray"),
    ],
)
def test_what_cannot_be_streamed(run, tmp_path, options, complaint):
    code, out, err = run("fit", "edges.tsv", "--out", tmp_path / "model", "--stream", *options)
    assert (code, out) == (2, "")
    assert complaint in err
    assert not list(tmp_path.iterdir())


def test_text_says_what_to_do_next(run, tmp_path):
    code, out, _ = run("fit", "edges.tsv", "--out", tmp_path / "my model", *QUICK)
    assert code == 0
    assert "minkowski" in out
    assert f"timelike predict '{tmp_path / 'my model'}' --all" in out
    assert "(a random ranking scores 0.200)" in out


def test_nobody_is_told_to_compare_all_pairs_of_many_nodes():
    assert [first_question("model", nodes).split()[3] for nodes in (30_000, 30_001)] == ["--all", "--source"]


@pytest.mark.parametrize(
    ("line", "kind", "said"),
    [
        ("hub{h}\tleaf{i}\n", "active_source", "3 of 123 nodes have outgoing edges"),
        ("leaf{i}\thub{h}\n", "active_target", "3 of 123 nodes have incoming edges"),
    ],
)
def test_few_sources_or_targets_are_not_what_is_learned(run, tmp_path, line, kind, said):
    """If few nodes have outgoing or incoming edges, uniform negatives are too easy: others are drawn."""
    file, model = tmp_path / "star.tsv", tmp_path / "model"
    file.write_text("".join(line.format(h=i % 3, i=i) for i in range(120)))
    (tmp_path / "valid.tsv").write_text("".join(line.format(h=(i + 1) % 3, i=i) for i in range(12)))
    (tmp_path / "dim.toml").write_text("dim = 2")  # which does not say what is asked
    general, suited = ({"uniform": 4}, "uniform", False), ({kind: 4, "reversed": 1}, kind, True)

    def learned(plan):
        config = Config.from_dict(plan["candidates"][0]["config"])
        return config.negatives.counts, plan["valid_negatives"]

    for options, (drawn, negatives, noted) in {
        (): suited,
        ("--settings", tmp_path / "dim.toml"): suited,
        ("--valid", tmp_path / "valid.tsv"): suited,
        ("--valid-fraction", "0"): suited,  # they are learned as they would be validated
        ("--negatives", "4"): general,
        ("--preset", "general"): general,
    }.items():
        code, out, err = run("fit", file, "--out", model, *QUICK, *options, "--plan", "--json")
        assert (code, said in err) == (0, noted)
        assert learned(from_plain(json.loads(out))) == (drawn, negatives)
    for options, (drawn, negatives, noted) in {(): suited, ("--preset", "general"): general}.items():
        code, _, err = run("fit", file, "--out", model, *QUICK, *options)
        assert (code, said in err) == (0, noted)
        info = Embedding.load(model).info
        assert learned(info["plan"]) == (drawn, negatives)
        assert Config.from_dict(info["config"]).negatives.counts == drawn
        asked = ("--edges", tmp_path / "valid.tsv", "--baselines", "none", "--json")
        found = json.loads(run("evaluate", model, *asked).out)
        assert found["negatives_from"] == negatives  # as in validation


@pytest.mark.parametrize(
    ("command", "option", "value"),
    [
        ("fit", "--epochs", 0),
        ("fit", "--members", 0),
        ("fit", "--seed", -1),
        ("fit", "--valid-fraction", 1.5),
        ("sweep", "--learning-rate", -1),
        ("sweep", "--valid-fraction", 1.5),
    ],
)
def test_numbers_that_cannot_be_are_refused_before_a_file_is_read(run, tmp_path, command, option, value):
    code, _, err = run(command, tmp_path / "none.tsv", "--out", tmp_path / "model", option, value)
    assert code == 2
    assert err.startswith(f"timelike: {option} is {value}")


def test_any_pairs_are_asked_about_in_other_graphs(run, tmp_path):
    assert "the model learns" not in run("fit", "edges.tsv", "--out", tmp_path / "model", *QUICK).err
    assert Embedding.load(tmp_path / "model").info["valid_negatives"] == "uniform"


def test_standard_input_and_columns(fit, monkeypatch, files):
    lines = (files / "edges.tsv").read_text().splitlines()
    text = "".join(f"x;{line.replace(chr(9), ';')}\n" for line in ["from\tto", *lines])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    folder, _ = fit("-", "--columns", "1, 2", "--delimiter", ";")
    assert Embedding.load(folder).points.tobytes() == Embedding.load(files / "model").points.tobytes()


def test_data_sets_and_nodes_without_names(fit, run, tmp_path):
    folder, found = fit("cycle:8", "--valid-fraction", 0)
    assert (found["nodes"], found["valid_edges"], found["calibration"]) == (8, 0, None)
    (tmp_path / "pairs.tsv").write_text("1\t2\n7\t1\n")
    code, out, err = run("predict", folder, "--pairs", tmp_path / "pairs.tsv")
    assert code == 0
    assert [line.split("\t")[:2] for line in out.splitlines()[1:]] == [["1", "2"], ["7", "1"]]
    assert "not calibrated" in err
    assert len(run("predict", folder, "--source", 7).out.splitlines()) == 1 + 6
    assert "only the numbers 0 to 7" in run("predict", folder, "--source", 8).err


def test_data_folder(data_dir):
    assert GraphOptions(data_dir=data_dir).graph("dream5:ecoli").num_nodes == 1_081


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (None, [3, -1, -1, 0, -1]),
        ((10, 3, 0), [1, -1, -1, 2, 0]),
        (("lexA", "3", "10", "007"), [1, 0, 3, -1, 2]),
        (("lexA", 3, "10"), [1, 0, -1, -1, 2]),
    ],
)
def test_nodes_by_text(names, found):
    nodes = 5 if names is None else len(names)
    texts = pl.Series(["3", "lexA", "007", "0", "10"])
    assert find_nodes(texts, nodes, names).tolist() == found


def test_bad_rows_are_counted_on_stderr(run, tmp_path, files):
    text = (files / "edges.tsv").read_text()
    (tmp_path / "bad.tsv").write_text(text + "alone\n")
    arguments = ("fit", tmp_path / "bad.tsv", "--out", tmp_path / "model", *QUICK)
    assert "line 205" in run(*arguments).err
    code, _, err = run(*arguments, "--skip-bad-rows")
    assert code == 0
    assert "1 malformed row skipped" in err


def test_validation_edges_from_a_file(fit, split):
    folder, found = fit("edges.tsv", "--valid", "test.tsv")
    assert (found["edges"], found["valid_edges"]) == (204, 36)
    trained_on = model_folder.load_trained_on(folder, Embedding.load(folder))
    assert trained_on.graph.num_edges == 204
    drawn = ~np.asarray(trained_on.valid.labels)
    ends = (np.asarray(end)[drawn] for end in trained_on.valid[:2])
    assert not trained_on.known.has_edges(*ends).any()


@pytest.mark.long
def test_members_are_kept_and_said(fit, run, tmp_path):
    folder, found = fit("edges.tsv", "--members", 3)
    assert (found["members"], len(found["member_valid_ap"])) == (3, 3)
    embedding = Embedding.load(folder)
    assert embedding.info["valid_ap"] == found["valid_ap"]
    assert [about["seed"] for about in embedding.info["members"]] == [0, 1, 2]
    code, out, _ = run("fit", "edges.tsv", "--out", folder, *QUICK, "--members", 3, "--snapshots", 2)
    assert code == 0
    assert "; its members alone score 0." in out
    assert len(Replay.load(folder, Embedding.load(folder)).epochs) == 2


def test_what_is_wrong_with_validation_edges_is_said(run, tmp_path, split):
    lines = Path("test.tsv").read_text().splitlines()
    known = Path("edges.tsv").read_text().splitlines()[-1]
    ends = lines[-1].split("\t")
    # As many as in test.tsv are left, so that nothing is compiled anew.
    Path("odd.tsv").write_text("\n".join([*lines[1:], lines[-1], known, f"{ends[0]}\t{ends[0]}"]) + "\n")
    _, _, err = run("fit", "edges.tsv", "--valid", "odd.tsv", "--out", tmp_path / "model", *QUICK)
    learned = "1 of 36 validation edges"
    for what in ("self-loops, dropped: 1", "repeated, dropped: 1", learned):
        assert what in err


def test_a_model_is_replaced_and_nothing_else(fit, mistake, tmp_path):
    (tmp_path / "model").mkdir()
    fit("edges.tsv")
    folder, _ = fit("edges.tsv")
    (folder / "diary.txt").write_text("mine")
    before = {x.name: x.read_bytes() for x in folder.iterdir()}
    assert "diary.txt" in mistake("fit", "edges.tsv", "--out", folder, *QUICK)
    assert {x.name: x.read_bytes() for x in folder.iterdir()} == before
    (tmp_path / "file").write_text("mine")
    assert str(tmp_path / "file") in mistake("fit", "edges.tsv", "--out", tmp_path / "file", *QUICK)


def test_a_stale_checkpoint_is_begun_again(fit, run, tmp_path):
    (tmp_path / "model.checkpoint").mkdir()
    (tmp_path / "model.checkpoint" / "run.safetensors").write_text("half")
    code, _, err = run("fit", "edges.tsv", "--out", tmp_path / "model", "--resume", *QUICK)
    assert code == 2
    assert "run.safetensors" in err
    fit("edges.tsv")
    assert not (tmp_path / "model.checkpoint").exists()
    code, _, err = run("fit", "edges.tsv", "--out", tmp_path / "model", "--resume", *QUICK)
    assert code == 0
    assert f"{tmp_path / 'model.checkpoint'} holds no run" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothing.tsv", "--out", "m"], "nothing.tsv: "),
        (
            ["cylce:5", "--out", "m"],
            "cycle",
        ),
        (["edges.tsv"], "--out"),
        (["edges.tsv", "--out", "no/m"], "no/m"),
        (["edges.tsv", "--out", "m", "--geometry", "minkovski"], "cylindrical-minkowski"),
        (["edges.tsv", "--out", "m", "--likelihood", "x"], "triple-fermi-dirac"),
        (["edges.tsv", "--out", "m", "--dim", "0"], "dim"),
        (["edges.tsv", "--out", "m", "--epochs", "0", "--geometry", "minkowski"], "epochs is 0"),
        (["edges.tsv", "--out", "m", "--seeds", "0"], "seeds is 0"),
        (["edges.tsv", "--out", "m", "--members", "0"], "members is 0"),
        (
            ["edges.tsv", "--out", "m", "--members", "2", "--stream"],
            "--stream cannot be combined with --members",
        ),
        (["edges.tsv", "--out", "m", "--valid-fraction", "2"], "valid"),
        (
            ["edges.tsv", "--out", "m", "--valid", "test.tsv", "--valid-fraction", "0.1"],
            "--valid cannot be combined with --valid-fraction",
        ),
        (["edges.tsv", "--out", "m", "--valid", "stranger.tsv"], "stranger.tsv, pair 2: "),
        (["edges.tsv", "--out", "m", "--data-dir", "."], "--data-dir"),
        (["cycle:5", "--out", "m", "--delimiter", ","], "--delimiter"),
        (["edges.tsv", "--out", "m", "--columns", "a,b"], "'a'"),
        (["binary", "--out", "m"], "binary"),
    ],
)
def test_mistakes(arguments, says, mistake, files):
    (files / "stranger.tsv").write_text("lexA\trecA\nlexA\tlexB\n")
    (files / "binary").write_bytes(b"\0\1\2" * 50)
    assert says in mistake("fit", *arguments)
    assert not list(files.glob("m*.checkpoint"))
    assert not (files / "m").exists()


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (pl.DataFrame({"source": [0], "target": [1]}), "columns"),
        (pl.DataFrame({"source": [0], "target": [99], "part": ["train"]}), "99"),
        (pl.DataFrame({"source": [0], "target": [1], "part": ["tain"]}), "'tain'"),
        (pl.DataFrame({"source": [0.5], "target": [1.0], "part": ["train"]}), "train has 0.5"),
        (
            pl.DataFrame({"source": [0], "target": [1], "part": ["train"], "weight": [-1.0]}),
            "weights[0] is -1",
        ),
    ],
)
def test_edges_changed_by_hand(table, says, mistake, files, tmp_path):
    shutil.copytree(files / "model", tmp_path / "model")
    table.write_parquet(tmp_path / "model" / "edges.parquet")
    (tmp_path / "model" / "SHA256SUMS").unlink()
    line = mistake("predict", tmp_path / "model", "--all")
    assert "edges.parquet" in line
    assert says in line


def test_models_without_edges_load(run, files, tmp_path):
    shutil.copytree(files / "model", tmp_path / "model")
    (tmp_path / "model" / "edges.parquet").unlink()
    (tmp_path / "model" / "SHA256SUMS").unlink()
    code, _, err = run("predict", tmp_path / "model", "--all")
    assert code == 0
    assert "holds no training edges" in err
    for arguments in (["predict", "--pairs", "test.tsv"], ["export", "--format", "tsv"]):  # which use none
        code, _, err = run(arguments[0], tmp_path / "model", *arguments[1:])
        assert (code, "holds no training edges" in err) == (0, False)
    code, out, _ = run("evaluate", tmp_path / "model", "--edges", "test.tsv", "--json")
    assert code == 0
    assert json.loads(out)["baselines"] == {}
