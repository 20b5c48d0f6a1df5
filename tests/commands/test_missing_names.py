"""Names that a model does not know, plans of files, and splits in the format of their file."""

import json

import polars as pl
import pytest

from timelike import read
from timelike.cli.split_files import part_of_split


def test_unknown_names_stop_a_batch_or_are_counted(run, mistake, tmp_path):
    genes = tmp_path / "genes.txt"
    genes.write_text("lexA\nnobody\nrecA\nnothing\n")
    line = mistake("predict", "model", "--each", 2, "--sources", genes)
    assert "'nobody'" in line
    assert "--missing skip" in line
    for option in (("--each", 2), ("--all", "--top", 4)):
        code, out, err = run("predict", "model", *option, "--sources", genes, "--missing", "skip", "--json")
        assert code == 0
        assert {edge["source"] for edge in json.loads(out)["edges"]} <= {"lexA", "recA"}
        assert f"note: {genes}: 2 unknown names skipped, the first 'nobody'" in err
    genes.write_text("nobody\n")
    assert "no name in it" in mistake(
        "predict", "model", "--each", 2, "--sources", genes, "--missing", "skip"
    )


def test_unknown_pairs_stop_a_batch_or_are_counted(run, mistake, tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("lexA,recA\nlexA,nobody\nrecA,gene2\n")
    line = mistake("predict", "model", "--pairs", pairs)
    assert "pair 2" in line
    assert "--missing skip" in line
    code, out, err = run("predict", "model", "--pairs", pairs, "--missing", "skip", "--json")
    assert code == 0
    assert [edge["target"] for edge in json.loads(out)["edges"]] == ["recA", "gene2"]
    assert "1 pair with unknown nodes" in err


def test_a_plan_counts_a_file(run, mistake, tmp_path):
    out = json.loads(run("plan", "edges.tsv", "--json").out)
    graph = read("edges.tsv")
    assert (out["nodes"], out["edges"]) == (graph.num_nodes, graph.num_edges)
    assert json.loads(run("plan", "edges.tsv", "--nodes", "1e6", "--json").out)["nodes"] == 1e6
    assert "graph          40 nodes" in run("plan", "edges.tsv").out
    assert "--edges is missing" in mistake("plan", "--nodes", 10)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_split_keeps_the_format(run, tmp_path, ending):
    graph, file = read("edges.tsv"), tmp_path / f"e{ending}"
    rows = pl.DataFrame({"source": graph.sources, "target": graph.targets})
    (rows.write_csv if ending == ".csv" else rows.write_parquet)(file)
    code, out, _ = run("split", file, "--out", tmp_path / "parts")
    assert code == 0
    assert f"parts/train{ending}" in out
    names = {path.name for path in (tmp_path / "parts").iterdir()}
    edges = {f"{part}{ending}" for part in ("train", "valid", "test", "valid-non-edges", "test-non-edges")}
    assert names == {*edges, "nodes.txt", "split.safetensors"}
    part = part_of_split(str(tmp_path / "parts" / f"test{ending}"))
    assert part is not None
    assert part.negatives_file == str(tmp_path / "parts" / f"test-non-edges{ending}")
    assert read(tmp_path / "parts" / f"train{ending}").num_edges < graph.num_edges
