"""Edge shards hold the same edges as the graph that `read` returns."""

import numpy as np
import polars as pl
import pytest

import timelike as tl
from timelike.io.edge_shards import EdgeShards


def edges_of(shards: EdgeShards) -> np.ndarray:
    parts = np.concatenate([shards.part(i) for i in range(len(shards.counts))], axis=1)
    return np.unique(np.concatenate([parts.T, shards.held_out]), axis=0)


def table(path, sources, targets):
    pl.DataFrame({"source": sources, "target": targets}).write_parquet(path)
    return path


RNG = np.random.default_rng(0)
ENDS = RNG.integers(0, 60, (2, 500))
FILES = {
    "numbers from 0": ENDS,
    "numbers far apart": ENDS * 10**12 - 7,
    "texts": [[f"n{i}" for i in end] for end in ENDS],
}


@pytest.mark.parametrize("ends", FILES.values(), ids=FILES)
@pytest.mark.parametrize("per_part", [90, 10**6])
def test_parts_hold_the_edges_that_read_finds(ends, per_part, tmp_path):
    file = table(tmp_path / "edges.parquet", *ends)
    graph, shards = tl.read(file), EdgeShards.write(file, tmp_path / "parts", per_part=per_part)
    assert (shards.num_nodes, shards.num_edges) == (graph.num_nodes, graph.num_edges)
    assert len(shards.counts) == -(-500 // per_part)
    np.testing.assert_array_equal(edges_of(shards), graph.pairs)
    assert [shards.name(i) for i in range(5)] == [graph.name(i) for i in range(5)]
    assert shards.names == graph.names
    np.testing.assert_array_equal(shards.degrees[0], np.diff(graph.row_starts))
    for i in range(len(shards.counts)):
        key = shards.part(i)[0] * 10**6 + shards.part(i)[1]
        assert (np.diff(key) > 0).all()


def test_edge_lists_and_their_options(tmp_path):
    file = tmp_path / "edges.csv"
    file.write_text("to,from\n" + "\n".join(f"b{i},a{i % 3}" for i in range(50)))
    shards = EdgeShards.write(file, tmp_path / "parts", columns=["from", "to"])
    np.testing.assert_array_equal(edges_of(shards), tl.read(file, columns=["from", "to"]).pairs)


def test_bad_rows_and_a_format_by_name(tmp_path):
    file = tmp_path / "edges.graphml"
    file.write_text("a\tb\nc\nb\tc\n")
    shards = EdgeShards.write(file, tmp_path / "parts", format="edge-list", skip_bad_rows=True)
    assert (shards.num_edges, [shards.name(i) for i in range(3)]) == (2, ["a", "b", "c"])
    with pytest.raises(ValueError, match="line 2: 1 field"):
        EdgeShards.write(file, tmp_path / "parts", format="edge-list")
    with pytest.raises(ValueError, match=r"labels has .*edges.graphml \(edge-list\)"):
        EdgeShards.write(file, tmp_path / "parts", format="edge-list", labels=True)


def test_names_are_kept_of_a_graph(tmp_path):
    graph = tl.DiGraph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
    assert EdgeShards.write(graph, tmp_path / "parts").names == graph.names


def test_input_that_cannot_be_streamed(tmp_path):
    (tmp_path / "loops.tsv").write_text("1\t1\n2\t2\n")
    with pytest.raises(ValueError, match="no edges"):
        EdgeShards.write(tmp_path / "loops.tsv", tmp_path / "parts")
    assert not (tmp_path / "parts").exists()
    (tmp_path / "g.graphml").write_text("<graphml/>")
    with pytest.raises(ValueError, match=r"g.graphml: .*graphml.*edge-list, excel, parquet, sif"):
        EdgeShards.write(tmp_path / "g.graphml", tmp_path / "parts")
    with pytest.raises(ValueError, match="hold_out is 1"):
        EdgeShards.write(tl.datasets.cycle(9), tmp_path / "parts", hold_out=1)
