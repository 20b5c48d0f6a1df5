"""`timelike datasets`: results on stdout, errors in one line on stderr with exit code 2."""

import gzip
import json

import polars as pl
import pytest

from timelike import DiGraph
from timelike.cli.main import main
from timelike.datasets import DATASETS, export, load
from timelike.datasets.edge_files import ENDINGS
from timelike.io import read


def run(capsys, *arguments) -> str:
    main(["datasets", *map(str, arguments)])
    return capsys.readouterr().out


def test_list(capsys):
    text = run(capsys, "list")
    assert all(name in text for name in DATASETS)
    assert "743,241" in text
    assert "tree:branching=2,depth=6" in text
    found = json.loads(run(capsys, "list", "--json"))["datasets"]
    assert [entry["name"] for entry in found] == list(DATASETS)
    assert {"about", "source", "licence", "parameters", "nodes", "edges"} <= set(found[0])


def test_info(capsys):
    found = json.loads(run(capsys, "info", "cycle:5", "--json"))
    assert {"nodes": 5, "edges": 5, "reciprocity": 0, "is_dag": False}.items() <= found.items()
    assert found["parameters"] == {"nodes": 5}
    assert "components" in found
    assert "a directed cycle" in run(capsys, "info", "cycle:5")


@pytest.mark.parametrize(
    "name", [name for name, dataset in DATASETS.items() if not dataset.files] + ["chain:1"]
)
def test_info_is_json_without_nan(name, capsys):
    found = json.loads(run(capsys, "info", name, "--json"), parse_constant=pytest.fail)
    assert found["nodes"] == load(name).num_nodes


def test_info_of_files(capsys, data_dir):
    found = json.loads(run(capsys, "info", "dream5:ecoli", "--data-dir", data_dir, "--json"))
    assert (found["nodes"], found["edges"], found["is_dag"]) == (1_081, 2_066, False)
    assert found["reciprocity"] == pytest.approx(22 / 2_066)


def test_get(capsys, data_dir):
    files = run(capsys, "get", "dream5:yeast", "--data-dir", data_dir).splitlines()
    assert [file.rpartition("/")[2] for file in files] == [
        file.name for file in DATASETS["dream5:yeast"].files
    ]
    found = json.loads(run(capsys, "get", "dream5:yeast", "--data-dir", data_dir, "--json"))
    assert found == {"name": "dream5:yeast", "files": files}
    assert "cycle:5" in run(capsys, "get", "cycle:5")


def test_export_formats(capsys, tmp_path):
    rows = [(0, 1), (1, 2), (2, 0)]
    for ending, separator in ((".tsv", "\t"), (".csv", ","), (".tsv.gz", "\t"), (".csv.gz", ",")):
        file = tmp_path / f"edges{ending}"
        assert "3 edges of cycle:3" in run(capsys, "export", "cycle:3", "--out", file)
        content = file.read_bytes()
        text = (gzip.decompress(content) if ending.endswith("gz") else content).decode()
        assert text.splitlines() == [separator.join(map(str, row)) for row in [("source", "target"), *rows]]
    file = tmp_path / "edges.parquet"
    assert json.loads(run(capsys, "export", "cycle:3", "--out", file, "--json")) == {
        "name": "cycle:3",
        "out": str(file),
        "edges": 3,
        "isolated": 0,
    }
    assert pl.read_parquet(file).rows() == rows
    assert len(list(tmp_path.iterdir())) == 5


def test_export_has_the_names_of_genes(tmp_path, data_dir):
    export("dream5:ecoli", tmp_path / "ecoli.csv", data_dir)
    assert ("lexA", "recA") in pl.read_csv(tmp_path / "ecoli.csv").rows()


def test_export_of_listed_non_edges(capsys, tmp_path, data_dir):
    out = tmp_path / "non-edges.tsv"
    text = run(capsys, "export", "dream5:ecoli", "--non-edges", "--out", out, "--data-dir", data_dir)
    assert text == f"{out}: 150,214 non-edges of dream5:ecoli\n"
    names = load("dream5:ecoli", data_dir).names
    assert (
        len(pl.read_csv(out, separator="\t").filter(pl.all_horizontal(pl.all().is_in([*names]))).unique())
        == 150_214
    )


EXPORTS = [(name, ending) for name in ("grid:3,4", "rmat:scale=5") for ending in ENDINGS]


@pytest.mark.parametrize(
    ("name", "ending"), [("dream5:ecoli", ".tsv"), ("dream5:ecoli", ".parquet"), *EXPORTS]
)
def test_what_is_exported_can_be_read(name, ending, tmp_path, data_dir):
    export(name, tmp_path / f"edges{ending}", data_dir)
    graph, again = load(name, data_dir), read(tmp_path / f"edges{ending}")
    assert named_edges(again) == named_edges(graph)


def named_edges(graph: DiGraph) -> list[tuple]:
    pairs = zip(graph.sources, graph.targets, strict=True)
    return sorted((str(graph.name(s)), str(graph.name(t))) for s, t in pairs)


def test_export_counts_isolated_nodes(capsys, tmp_path):
    text = run(capsys, "export", "random-dag:nodes=10,edges=1", "--out", tmp_path / "edges.tsv")
    assert "8 nodes without edges" in text


def test_export_streams_rmat(capsys, tmp_path):
    file = tmp_path / "edges.parquet"
    found = json.loads(run(capsys, "export", "rmat:scale=8,edge_factor=4,seed=2", "--out", file, "--json"))
    frame = pl.read_parquet(file)
    assert found["edges"] == len(frame) > frame.n_unique() == load("rmat:8,4,seed=2").num_edges


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "list"),
        (["lst"], "lst"),
        (["info"], "NAME"),
        (["info", "cylce"], "cycle"),
        (["info", "cycle:x"], "nodes=5"),
        (["get", "dream5:ecoli", "--data-dir", "nowhere"], "--data-dir is nowhere"),
        (["get", "dream5:ecoli"], "sha256 657c9d41"),
        (["export", "cycle:5", "--out", "edges.xlsx"], "--out is edges.xlsx"),
        (["export", "cycle:5", "--out", "no/edges.tsv"], "there is no folder no"),
        (["export", "rmat:scale=99", "--out", "edges.parquet"], "scale is 99"),
        (["export", "cycle:5"], "--out"),
        (["export", "cycle:5", "--non-edges", "--out", "edges.tsv"], "cycle:5 "),
    ],
)
def test_mistakes_are_one_line(arguments, says, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        main(["datasets", *arguments])
    assert stop.value.code == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("timelike: ")
    assert error.count("\n") == 1
    assert says in error
    assert not [path for path in tmp_path.iterdir() if path.is_file()]


def test_info_of_a_file_of_ones_own(capsys, tmp_path):
    (tmp_path / "mine.tsv").write_text(
        "Gene A\tGene B\tscore\nlexA\trecA\t0.9\nrecA\tlexA\tNA\nrecA\trecA\t-1\n"
    )
    (tmp_path / "nodes.txt").write_text("# isolated\nlonely\nlexA\n", encoding="utf-8")
    main(["datasets", "info", str(tmp_path / "mine.tsv"), "--nodes", str(tmp_path / "nodes.txt"), "--json"])
    out, err = capsys.readouterr()
    assert {"nodes": 3, "edges": 2, "components": 2, "is_dag": False}.items() <= json.loads(out).items()
    assert "read as a header: Gene A, Gene B, score" in err
    assert "1 self-loop left out" in err
    main(["datasets", "info", str(tmp_path / "mine.tsv"), "--header", "no", "--json"])
    assert json.loads(capsys.readouterr().out)["nodes"] == 4


def test_info_of_an_ontology_by_labels(capsys, tmp_path):
    terms = "".join(f"\n[Term]\nid: A:{i}\nname: t{i}\n" + "is_a: A:0\n" * (i > 0) for i in range(3))
    (tmp_path / "o.txt").write_text(f"format-version: 1.2\n{terms}relationship: part_of A:1\n")
    options = ["--format", "obo", "--labels", "--relations", "is_a", "--json"]
    main(["datasets", "info", str(tmp_path / "o.txt"), *options])
    assert json.loads(capsys.readouterr().out)["edges"] == 2
