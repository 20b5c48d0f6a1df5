"""What cannot be read gives one clear line: which file, what is wrong, what to do."""

import re

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow
import pytest
import scipy.sparse
import writers
from hypothesis import given
from hypothesis import strategies as st

from timelike import read
from timelike.io.obo import bare

MATRIX = "%%MatrixMarket matrix coordinate real general\n"
GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph>{}</graph></graphml>'
OBO = "format-version: 1.2\n\n[Term]\nid: A\n\n[Term]\nid: B\n{}\n"

FILES = {
    "empty": ("e.tsv", "", "the file is empty"),
    "blank": ("e.tsv", "\n\n", "only comments and blank lines"),
    "comments": ("e.tsv", "# a\n# b\n", "only comments and blank lines"),
    "header only": ("e.tsv", "source\ttarget\n", "header on line 1 and nothing below"),
    "one node": ("e.tsv", "a\ta\n", "no edges between different nodes: 1 self-loops left out"),
    "old Macintosh": ("e.tsv", "source\ttarget\ra\tb\r", "line 1: there is a CR within the line"),
    "owl": ("e.owl", '<?xml version="1.0"?>\n<rdf:RDF/>\n', "this is XML but no GraphML"),
    "turtle": ("e.ttl", "@prefix e: <http://e/> .\ne:a e:b e:c .\n", "this is Turtle"),
    "json": ("e.csv", '{"edges": [["a", "b"]]}\n', "this is JSON"),
    "gml": ("e.gml", "graph [\n  directed 1\n]\n", "this is GML"),
    "no delimiter": ("e.txt", "abc\ndef\n", "line 1: no tab, comma, semicolon, bar or blank"),
    "junk": ("e.bin", bytes(range(256)), "no text file but binary data"),
    "utf-16": ("e.csv", "a,b\n".encode("utf-16"), "UTF-16; save it as UTF-8"),
    "latin-1": ("e.csv", "a,b\né,c\n".encode("latin-1"), "line 2: this is not UTF-8 text; the text is"),
    "cut gzip": ("e.tsv.gz", b"\x1f\x8b\x08\x00\x00", "the packed file is broken"),
    "cut bzip2": ("e.tsv.bz2", b"BZh91AY&SY", "the packed file is broken"),
    "cut zstd": ("e.tsv.zst", b"\x28\xb5\x2f\xfd\x04\x00", "packed file is broken|file is empty"),
    "parquet": ("e.parquet", b"PAR1....PAR1", "the Parquet file cannot be read"),
    "array matrix": (
        "e.mtx",
        "%%MatrixMarket matrix array real general\n2 2\n",
        "line 1: only square 'coordinate'",
    ),
    "wide matrix": ("e.mtx", MATRIX + "2 3 1\n1 2 1\n", "line 2: the matrix is 2 × 3; it must be square"),
    "no size": ("e.mtx", MATRIX + "% only this\n", "ends before the size"),
    "bad size": ("e.mtx", MATRIX + "2 2\n", "line 2: rows, columns, entries expected"),
    "cut matrix": ("e.mtx", MATRIX + "2 2 2\n1 2 1\n", "1 entries where 2 were announced"),
    "empty rows": (
        "e.mtx",
        MATRIX + "2000000000 2000000000 1\n1 2 1\n",
        "2,000,000,000 nodes and 1 edges",
    ),
    "outside": ("e.mtx", MATRIX + "2 2 1\n1 3 1\n", "there is a node 3; allowed: 1 to 2"),
    "matrix row": ("e.mtx", MATRIX + "% c\n2 2 1\n1 2 x\n", "line 4: the weight 'x' is no number"),
    "broken xml": ("e.graphml", GRAPHML[:60], "the XML is broken: .*line 1"),
    "hyperedge": ("e.graphml", GRAPHML.format("<hyperedge/>"), "hyperedges"),
    "half an edge": (
        "e.graphml",
        GRAPHML.format('<edge source="a"/>'),
        "edge 1: source or target is missing",
    ),
    "no edges": ("e.graphml", GRAPHML.format('<node id="a"/>'), "there are no edges in it"),
    "no terms": ("e.obo", "format-version: 1.2\n", r"no \[Term\] stanzas"),
    "no colon": ("e.obo", OBO.format("is_a A"), "line 8: a tag and a colon expected; the text is 'is_a A'"),
    "no parent": ("e.obo", OBO.format("is_a: ! x"), "line 8: the parent is missing"),
    "no target": ("e.sif", "a pd b c\nb pd\n", "line 2: it must be SOURCE KIND TARGET.*'b pd'"),
    "an empty target": ("e.sif", "a\tpd\t\tc\n", "line 1: it must be SOURCE KIND TARGET"),
    "one line": ("e.sif", "a pd b\rb pd c\n", "line 1: there is a CR within the line"),
    "stranger": ("e.obo", OBO.format("is_a: C ! c"), "line 8: the parent is no term of this file; .*'C'"),
}


@pytest.mark.parametrize(("name", "data", "why"), FILES.values(), ids=FILES)
def test_files(tmp_path, name, data, why):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    refuses(f"^{re.escape(str(path))}.*({why})", path)


def refuses(why: str, source, **options) -> None:
    with pytest.raises(ValueError, match=why) as caught:
        read(source, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (
            {"delimiter": ","},
            "line 1: one field where two or more were expected, with ',' as delimiter; .*a.tb",
        ),
        ({"delimiter": "::"}, "delimiter is '::'; it must be one character"),
        ({"columns": (0, 2)}, "columns has 2; there are columns 0 to 1"),
        ({"columns": (0,)}, "it must be .source, target. or"),
        ({"columns": "ab"}, "columns is 'ab'"),
        ({"columns": ("a", "x")}, "there is no column 'x'; the nearest are b, a"),
        ({"columns": ("a", "b"), "header": False}, "columns has 'a' but there is no header"),
        ({"labels": True}, "labels has no meaning for .*edge-list.; leave it out"),
        ({"format": "gml"}, "format is 'gml'; it must be one of parquet, matrix-market"),
        ({"format": "parquet"}, "the Parquet file cannot be read"),
        ({"nodes": [1.5]}, "nodes is .1.5.; it must hold texts or whole numbers"),
    ],
)
def test_options(tmp_path, options, why):
    path = tmp_path / "e.tsv"
    path.write_text("a\tb\nb\tc\n")
    refuses(why, path, **options)


FRAME = pl.DataFrame({"source": [1, None, 3], "target": [2, 3, 4], "weight": ["x", "y", "z"]})


@pytest.mark.parametrize(
    ("source", "options", "why"),
    [
        (
            np.zeros((2, 2), int),
            {},
            r"shape \(2, 2\), which may be edges or an adjacency matrix; give columns",
        ),
        (np.zeros((3, 5), int), {}, r"shape \(3, 5\); it must be"),
        (np.zeros((2, 5), int), {}, r"shape \(2, 5\); .*; turn an edge_index round: source\.T"),
        (np.zeros(5), {}, r"shape \(5,\)"),
        (
            pyarrow.chunked_array([[1, 2], [3]]),
            {},
            "source is a ChunkedArray; it must be a table with a column",
        ),
        (scipy.sparse.csr_array((2, 3)), {}, r"shape \(2, 3\); an adjacency matrix must be square"),
        (scipy.sparse.csr_array((3, 3)), {}, "no edges between different nodes"),
        (nx.DiGraph(), {}, "networkx.DiGraph: there are no edges in it"),
        ([], {}, "list: there are no edges in it"),
        ([(1, 2), (3,)], {}, r"list, row 1: it must be \(source, target\) or .* the text is \(3,\)"),
        ([(1, 2), (3, 4, 5.0)], {}, "row 1: it has 3 items where the first row has 2"),
        ([(1, 2, "x")], {}, "list: weights must be numbers"),
        ([("a", None)], {}, "row 0"),
        ([([1], 2)], {}, "nodes must be hashable"),
        ([(1, 2)], {"columns": (0, 1)}, "columns has no meaning for list"),
        (nx.path_graph(3), {"columns": (0, 1)}, "columns has no meaning for networkx.Graph"),
        ([(1, 2)], {"format": "obo"}, "format has no meaning for an object in memory"),
        ([(1, 2)], {"delimiter": ","}, "delimiter has no meaning for an object in memory"),
        (
            FRAME,
            {"columns": ("source", "target")},
            r"row 1: source or target is missing; the text is \(None, 3\)",
        ),
        (FRAME, {}, "column 'weight' holds String; weights must be numbers"),
        (FRAME[["source"]], {}, "1 columns; an edge needs a source and a target"),
        (
            pd.DataFrame({"a": [1.5], "b": [2]}),
            {},
            "column 'a' holds Float64; nodes must be whole numbers or text",
        ),
        (pd.DataFrame({"a": [True], "b": [2]}), {}, "column 'a' holds Boolean"),
        (scipy.sparse.eye_array(3, k=1), {"nodes": [7]}, "nodes has no meaning for"),
    ],
)
def test_objects(source, options, why):
    refuses(why, source, **options)


def test_relations_that_are_not_there(tmp_path):
    path = tmp_path / "e.obo"
    path.write_text(OBO.format("is_a: A\nrelationship: regulates A"))
    refuses("there is no relation 'isa'; there are is_a, regulates", path, relations=["isa"])
    assert read(path, relations=["regulates"]).num_edges == 1


def test_columns_are_near_whatever_their_capitals(tmp_path):
    path = tmp_path / "e.tsv"
    path.write_text("TF\tTarget\tEffect\na\tb\t+\n")
    refuses("there is no column 'tf'; the nearest are TF, ", path, columns=("tf", "target"))


def test_what_is_no_graph_at_all():
    with pytest.raises(TypeError, match="source is 7; it must be a path, a NetworkX graph"):
        read(7)


def test_missing_rows_of_frames_can_be_skipped():
    for frame in (FRAME, FRAME.to_pandas()):
        graph = read(frame, columns=("source", "target"), skip_bad_rows=True)
        assert graph.names == (1, 2, 3, 4)
        assert graph.notes.bad_rows == 1


def test_missing_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("absent.tsv", "./absent", str(tmp_path / "absent")):
        with pytest.raises(
            FileNotFoundError, match="there is no such file, and no data set is named like this"
        ):
            read(name)
    refuses("a folder must hold edge.csv.gz", tmp_path)
    (tmp_path / "train.tsv").write_text("a\tb\n")
    refuses("a folder that `timelike split` wrote; name one of its files", tmp_path)
    writers.ogb(tmp_path / "x", [(0, 5)], 3)
    refuses("there is a node 5; allowed: 0 to 2", tmp_path / "x")
    (tmp_path / "x" / "num-node-list.csv.gz").unlink()
    refuses("there is no such file; it says how many nodes there are", tmp_path / "x")


def test_nodes_that_do_not_fit_the_edges(tmp_path):
    writers.parquet(tmp_path / "e.parquet", [(1, 2)])
    refuses("nodes: 'x' is no whole number, but the nodes of", tmp_path / "e.parquet", nodes=["x"])
    assert read(tmp_path / "e.parquet", nodes=["3"]).names == (1, 2, 3)


@given(st.text("a {}!\\", max_size=12))
def test_values_of_ontologies_without_what_is_spare(text):
    """As an expression says it, which takes a time that grows with the square of the length."""
    assert bare(text) == re.sub(r"\s*(\{[^}]*\}\s*)?((?<!\\)!.*)?$", "", text).strip()
