"""Other programs can read the exports."""

import dataclasses

import networkx as nx
import numpy as np
import polars as pl
import pytest
from embeddings import make, make_model
from random_points import random_graph

from timelike import DiGraph
from timelike.embedding import exports
from timelike.embedding.exports import FORMATS
from timelike.manifolds import MANIFOLDS

NAMES = ("a b", "Ω", "<&\"'>", "tab\there", "x\x00y", "line\nend")


def test_frame():
    embedding = make(make_model("anti-de-sitter", dim=3), nodes=6, names=NAMES)
    frame = embedding.to_frame()
    assert frame.columns == ["node", "t0", "t1", "x0", "x1", "time"]
    assert frame["node"].to_list() == list(NAMES)
    np.testing.assert_array_equal(frame.select("t0", "t1", "x0", "x1").to_numpy(), embedding.points)


def test_frame_without_names_has_numbers():
    frame = make(make_model("euclidean", dim=2), nodes=3).to_frame()
    assert frame["node"].to_list() == [0, 1, 2]
    assert frame.columns == ["node", "x0", "x1", "time"]
    assert make(nodes=2, names=(1, "b")).to_frame()["node"].to_list() == ["1", "b"]


def test_time_is_the_coordinate_of_minkowski_and_wraps_on_a_cylinder():
    embedding = make(make_model("minkowski"), nodes=9)
    np.testing.assert_array_equal(embedding.to_frame()["time"], embedding.points[:, 0])
    cylinder = make(make_model("cylindrical-minkowski"), nodes=9)  # of circumference 10
    cylinder = dataclasses.replace(cylinder, points=cylinder.points + 7)
    times = cylinder.to_frame()["time"].to_numpy()
    np.testing.assert_allclose(times, (cylinder.points[:, 0] + 5) % 10 - 5, atol=1e-5)


@pytest.mark.parametrize("manifold", MANIFOLDS)
def test_coordinates_are_named_by_their_sign(manifold):
    m = MANIFOLDS[manifold](3)
    names = exports.coordinate_names(m)
    assert len(set(names)) == m.ambient_dim
    times = sum(name.startswith("t") for name in names)
    # A quadric ⟨x, x⟩ = −1 has one negative coordinate more than its signature says.
    assert times - m.signature[0] == int(
        manifold in ("hyperboloid", "anti-de-sitter", "two-time-hyperboloid")
    )


def test_npz(tmp_path):
    embedding = make(nodes=6, names=NAMES)
    embedding.export(tmp_path / "x.npz", "npz")
    with np.load(tmp_path / "x.npz", allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["points"], embedding.points)
        assert arrays["names"].tolist() == list(NAMES)
        assert arrays["coordinates"].tolist() == ["t0", "x0", "x1"]


def test_tables(tmp_path):
    embedding = make(nodes=6, names=NAMES)
    embedding.export(tmp_path / "x.parquet", "parquet")
    assert pl.read_parquet(tmp_path / "x.parquet").equals(embedding.to_frame())
    embedding.export(tmp_path / "x.tsv", "tsv")
    types = {name: pl.Float32 for name in ("t0", "x0", "x1", "time")}
    assert pl.read_csv(tmp_path / "x.tsv", separator="\t", schema_overrides=types).equals(
        embedding.to_frame()
    )


def test_word2vec(tmp_path):
    embedding = make(nodes=6, names=NAMES)
    embedding.export(tmp_path / "x.txt", "word2vec")
    head, *lines = (tmp_path / "x.txt").read_text(encoding="utf-8").split("\n")[:-1]
    assert head == "6 3"
    words = {line.split(" ")[0]: [np.float32(x) for x in line.split(" ")[1:]] for line in lines}
    assert list(words) == ["a_b", "Ω", "<&\"'>", "tab_here", "x\x00y", "line_end"]
    np.testing.assert_array_equal(list(words.values()), embedding.points)
    with pytest.raises(ValueError, match="word2vec: two names"):
        make(nodes=2, names=("a b", "a_b")).export(tmp_path / "y.txt", "word2vec")
    assert not (tmp_path / "y.txt").exists()


def test_tensorboard(tmp_path):
    embedding = make(nodes=6, names=NAMES)
    for _ in range(2):
        embedding.export(tmp_path / "board", "tensorboard")
    vectors = np.loadtxt(tmp_path / "board" / "vectors.tsv", delimiter="\t", dtype=np.float32)
    np.testing.assert_array_equal(vectors, embedding.points)
    names = (tmp_path / "board" / "metadata.tsv").read_text(encoding="utf-8").split("\n")[:-1]
    assert names == ["a b", "Ω", "<&\"'>", "tab here", "x\x00y", "line end"]


def test_graphml_of_the_likeliest_edges(tmp_path):
    embedding = make(nodes=6, names=NAMES)
    embedding.export(tmp_path / "x.graphml", "graphml", edges=7)
    graph = nx.read_graphml(tmp_path / "x.graphml")
    assert graph.is_directed()
    readable = {name: name.replace("\x00", "\ufffd") for name in NAMES}
    assert list(graph) == list(readable.values())
    for name, point in zip(NAMES, embedding.points, strict=True):
        assert [graph.nodes[readable[name]][c] for c in ("t0", "x0", "x1")] == point.tolist()
    expected = {(readable[a], readable[b]): p for a, b, p in embedding.top_edges(7)}
    assert {(a, b): p for a, b, p in graph.edges(data="probability")} == expected


def test_graphml_of_a_graph(tmp_path):
    embedding, known = make(nodes=8), random_graph(8, 12)
    embedding.export(tmp_path / "x.graphml", "graphml", graph=known)
    graph = nx.read_graphml(tmp_path / "x.graphml", node_type=int)
    assert set(graph.edges) == set(zip(known.sources.tolist(), known.targets.tolist(), strict=True))
    for a, b, p in graph.edges(data="probability"):
        assert p == pytest.approx(embedding.prob(a, b), rel=1e-6)
    embedding.export(tmp_path / "empty.graphml", "graphml", graph=DiGraph.from_arrays([], [], 8))
    assert nx.read_graphml(tmp_path / "empty.graphml").number_of_edges() == 0


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_writes_one_thing(format, tmp_path):
    if format == "lancedb":
        pytest.importorskip("lancedb", reason="lancedb is not installed")
    make(nodes=2).export(tmp_path / "out", format)
    assert [x.name for x in tmp_path.iterdir()] == ["out"]


def test_mistakes(tmp_path):
    with pytest.raises(ValueError, match=r"format is 'pickle'.*npz, npy"):
        make().export(tmp_path / "x", "pickle")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        make().export(tmp_path / "nowhere" / "x", "tsv")
