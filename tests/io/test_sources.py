"""Edges in several files, folders and globs are one graph, however they are cut."""

import numpy as np
import polars as pl
import pytest

import timelike as tl
from timelike.distributed.node_dealing import numbered_files, own_edges

PAIRS = np.array([(5, 900), (900, 12), (12, 5), (7, 7), (3, 900), (5, 12), (40, 3)])


@pytest.fixture
def folder(tmp_path):
    """Parquet files as Spark writes them: in a folder, with a marker, a hidden file and a partition."""
    place = tmp_path / "edges"
    (place / "year=2020").mkdir(parents=True)
    for number, file in enumerate(("part-0.parquet", "part-1.parquet", "year=2020/part-2.parquet")):
        rows = PAIRS[number::3]
        pl.DataFrame({"source": rows[:, 0], "target": rows[:, 1]}).write_parquet(place / file)
    for marker in ("_SUCCESS", ".part-0.parquet.crc", "_metadata.parquet"):
        (place / marker).write_bytes(b"x")
    return place


def same(one: tl.DiGraph, other: tl.DiGraph) -> None:
    assert one.names == other.names
    np.testing.assert_array_equal(one.pairs, other.pairs)


def test_folders_globs_and_lists_are_one_graph(folder):
    whole = tl.read(PAIRS)
    for source in (folder, f"{folder}/**/*.parquet", sorted(folder.rglob("part-*.parquet"))):
        same(tl.read(source), whole)
    assert tl.read(folder).notes.self_loops == 1


def test_text_files_and_names(tmp_path):
    for name, text in {"a.csv": "source,target\nx,y\n", "b.csv.gz": "source,target\ny,z\n"}.items():
        pl.read_csv(text.encode()).write_csv(tmp_path / "plain")
        data = (tmp_path / "plain").read_bytes()
        if name.endswith(".gz"):
            import gzip

            data = gzip.compress(data)
        (tmp_path / name).write_bytes(data)
    assert tl.read(f"{tmp_path}/*.csv*").names == ("x", "y", "z")
    (tmp_path / "c.csv").write_text("source,target,weight\nx,z,2\n")
    with pytest.raises(ValueError, match=r"c\.csv: some edges have weights"):
        tl.read(sorted(tmp_path.glob("*.csv")))


def test_files_that_do_not_fit_together(folder):
    pl.DataFrame({"from": ["a"], "to": ["b"]}).write_parquet(folder / "part-9.parquet")
    with pytest.raises(ValueError, match=r"part-9\.parquet: its columns are from .* are source"):
        tl.read(folder)
    (folder / "part-9.parquet").write_bytes((folder / "part-0.parquet").read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"part-9\.parquet: .*its end is missing"):
        tl.read(folder)


def test_what_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file matches"):
        tl.read(f"{tmp_path}/*.parquet")
    with pytest.raises(FileNotFoundError, match=r"gone\.tsv: there is no such file"):
        tl.read([tmp_path / "gone.tsv", tmp_path / "gone.tsv"])


def test_splits_and_models_are_no_folders_of_edges(tmp_path):
    (tmp_path / "train.tsv").write_text("a\tb\n")
    with pytest.raises(ValueError, match=r"train\.tsv"):
        tl.read(tmp_path)


def test_shards_of_several_files(folder, tmp_path):
    shards = tl.EdgeShards.write(str(folder), tmp_path / "shards", per_part=3)
    whole = tl.read(folder)
    assert (shards.num_nodes, shards.num_edges) == (whole.num_nodes, whole.num_edges)
    assert shards.names == whole.names


def test_many_processes_number_nodes_as_one_does(folder):
    whole = tl.read(folder)
    with numbered_files(str(folder)) as files:
        found, names = own_edges(files, lambda nodes: (0, nodes))
        halves = [own_edges(files, lambda nodes, i=i: (3 * i, 3 * i + 3)).dealt for i in range(2)]
    assert names == whole.names
    assert found.num_nodes == whole.num_nodes
    assert found.num_edges == whole.num_edges == sum(half.num_edges for half in halves)
    with numbered_files(str(folder / "part-0.parquet"), ("source", "target")) as files:
        assert len(files) == 1
    pl.DataFrame({"s": ["a"], "t": ["b"]}).write_parquet(folder.parent / "named.parquet")
    with numbered_files(str(folder.parent / "named.parquet")) as files:
        assert files is None


def test_commands_take_several_files(folder, tmp_path, capsys):
    from timelike.cli.main import main

    files = [str(file) for file in sorted(folder.rglob("part-*.parquet"))]
    main(["fit", *files, "--out", str(tmp_path / "model"), "--plan", "--json"])
    assert '"nodes": 6' in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["fit", "--out", str(tmp_path / "model")])
    assert "EDGES" in capsys.readouterr().err
