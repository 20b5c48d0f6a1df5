"""`timelike split`: the files of a split, which `fit` and `evaluate` read."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from small_files import QUICK

import timelike as tl
from timelike.io import read


def rows(file) -> set[tuple[str, ...]]:
    return {tuple(line.split("\t")[:2]) for line in file.read_text(encoding="utf-8").splitlines()[1:]}


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ([], {}),
        (["--connected", "--together"], {"connected": True, "together": True}),
        (["--by", "nodes", "--ratio", 2], {"by": "nodes", "ratio": 2}),
        (
            ["--seed", 5, "--protocol", "degree", "--valid", 0.2],
            {"seed": 5, "negatives": "degree", "valid": 0.2},
        ),
    ],
)
def test_files_are_the_split(options, settings, run, tmp_path):
    code, out, err = run("split", "edges.tsv", "--out", tmp_path / "parts", "--json", *options)
    assert code == 0, err
    graph = read("edges.tsv")
    expected = tl.split_edges(graph, **settings)
    assert json.loads(out)["splits"] == [{"folder": str(tmp_path / "parts"), **expected.summary}]
    for name in ("valid", "valid-non", "test", "test-non"):
        pairs = getattr(expected, name.replace("-non", "_negatives") if "non" in name else f"{name}_edges")
        file = f"{name}-edges.tsv" if "non" in name else f"{name}.tsv"
        assert rows(tmp_path / "parts" / file) == {(graph.name(s), graph.name(t)) for s, t in pairs}
    again = read(tmp_path / "parts" / "train.tsv", nodes=tmp_path / "parts" / "nodes.txt")
    assert again.names == graph.names
    assert np.array_equal(again.pairs, expected.train.pairs)
    saved = tl.Split.load(tmp_path / "parts" / "split.safetensors")
    assert np.array_equal(saved.test_negatives, expected.test_negatives)


@pytest.mark.long
def test_from_split_to_scores_without_a_leak(run, tmp_path):
    """The commands that `split` prints run; the model has seen no test edge, and knows every node."""
    code, out, err = run("split", "edges.tsv", "--out", tmp_path / "parts", "--test", 0.2)
    assert code == 0, err
    fit, evaluate = (line.partition("timelike ")[2].split() for line in out.splitlines()[1:])
    model = tmp_path / "model"
    code, out, err = run(*[model if x == "model" else x for x in fit], *QUICK, "--json")
    assert (code, json.loads(out)["nodes"]) == (0, 40), err
    evaluate = [model if x == "model" else x for x in evaluate]
    code, out, err = run(*evaluate, "--baselines", "none", "--json")
    assert (code, json.loads(out)["positives"]) == (0, 41), err
    assert "fair" not in err


def test_a_split_remembers_its_negatives(run, tmp_path):
    """`fit` and `evaluate` compare edges with the split's own negatives, and name any others."""
    parts, model = tmp_path / "parts", tmp_path / "model"
    assert run("split", "edges.tsv", "--out", parts, "--negatives", "same_source").code == 0
    fit = ("fit", parts / "train.tsv", "--nodes", parts / "nodes.txt", "--valid", parts / "valid.tsv")
    assert run(*fit, "--out", model, *QUICK).code == 0
    info = tl.Embedding.load(model).info
    assert info["valid_negatives"] == "same_source"
    split = tl.Split.load(parts / "split.safetensors")
    trained_on = tl.SpacetimeEmbedding.load(model).trained_on_
    assert np.array_equal(trained_on.valid.negatives, split.valid_negatives)
    test = ("evaluate", model, "--edges", parts / "test.tsv", "--json", "--baselines", "none")
    code, out, err = run(*test)
    assert (code, json.loads(out)["negatives"]) == (0, len(split.test_negatives))
    assert "another question" not in err
    named = run(*test, "--negatives", parts / "test-non-edges.tsv")
    assert json.loads(named.out)["average_precision"] == json.loads(out)["average_precision"]
    assert "another question" in run(*test, "--negatives", "uniform").err
    with open(parts / "valid.tsv", "a") as file:  # a loop and a repeated edge are dropped, as is said
        file.write("lexA\tlexA\n" + (parts / "valid.tsv").read_text().splitlines()[1] + "\n")
    assert json.loads(run(*fit, "--out", model, *QUICK, "--json").out)["valid_edges"] == len(
        split.valid_edges
    )
    (parts / "valid-non-edges.tsv").write_text((parts / "valid.tsv").read_text())
    code, _, err = run(*fit, "--out", model, *QUICK)
    assert (code, "valid-non-edges.tsv: listed[0] is" in err) == (2, True)
    (parts / "valid-non-edges.tsv").unlink()
    assert "valid-non-edges.tsv: no such file" in run(*fit, "--out", model, *QUICK).err


def test_what_to_type_next_can_be_typed(run, tmp_path):
    _, out, _ = run("split", "edges.tsv", "--out", tmp_path / "my parts")
    fit, evaluate = (shlex.split(line.partition("timelike ")[2]) for line in out.splitlines()[1:])
    for file in (fit[1], fit[3], fit[5], evaluate[3], evaluate[5]):
        assert Path(file).is_file()


def test_folds_and_times(run, tmp_path):
    lines = (f"n{i}\tn{i + 1}\t{1990 + i}\n" for i in range(20))
    (tmp_path / "times.tsv").write_text("from\tto\tyear\n" + "".join(lines))
    arguments = ("--time", "year", "--test", 0.2, "--out", tmp_path / "late")
    assert run("split", tmp_path / "times.tsv", *arguments).code == 0
    assert rows(tmp_path / "late" / "test.tsv") == {(f"n{i}", f"n{i + 1}") for i in range(16, 20)}
    assert "1990" in (tmp_path / "late" / "train.tsv").read_text()
    assert run("split", "cycle:12", "--folds", 3, "--out", tmp_path / "folds").code == 0
    tests = [rows(tmp_path / "folds" / f"fold-{i}" / "test.tsv") for i in (1, 2, 3)]
    assert set.union(*tests) == {(str(i), str((i + 1) % 12)) for i in range(12)}
    assert sum(map(len, tests)) == 12


def test_listed_non_edges(run, tmp_path):
    listed = rows_of("non-edges.tsv")
    assert (
        run("split", "edges.tsv", "--non-edges", "non-edges.tsv", "--ratio", 1, "--out", tmp_path / "x").code
        == 0
    )
    drawn = [rows(tmp_path / "x" / f"{part}-non-edges.tsv") for part in ("valid", "test")]
    assert drawn[0] | drawn[1] <= listed
    assert not drawn[0] & drawn[1]


def rows_of(file) -> set[tuple[str, ...]]:
    with open(file, encoding="utf-8") as lines:
        return {tuple(line.rstrip("\n").split("\t")) for line in lines}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--test", 1.5], "--test is 1.5"),
        (["--negatives", "hard"], "--negatives is 'hard'"),
        (["--non-edges", "edges.tsv"], "listed[0]"),
        (["--folds", 2, "--connected"], "--folds cannot be combined with --connected"),
        (["--folds", 1], "--folds is 1"),
        (["--out", "model"], "--out is model"),
        (["--by", "time"], "edges"),
    ],
)
def test_mistakes(options, says, mistake, tmp_path):
    out = [] if "--out" in options else ["--out", tmp_path / "parts"]
    assert says in mistake("split", "edges.tsv", *out, *options)
    assert not any(tmp_path.iterdir())


def test_names_that_look_like_comments(run, tmp_path):
    lines = (f'"#{i}"\t"#{i + 1}"\n' for i in range(20))
    (tmp_path / "hashes.tsv").write_text("".join(lines))
    code, _, err = run("split", tmp_path / "hashes.tsv", "--out", tmp_path / "parts")
    assert code == 0, err
    parts = tmp_path / "parts"
    assert read(parts / "train.tsv", nodes=parts / "nodes.txt").names == tuple(f"#{i}" for i in range(21))
    assert read(parts / "test.tsv").num_edges == len(rows(parts / "test.tsv"))
