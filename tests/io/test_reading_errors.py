"""Unreadable input gives a one-line error: which file, what is wrong, what to do."""

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
    "empty": ("e.tsv", "", "empty"),
    "blank": ("e.tsv", "\n\n", "no edges.* blank lines"),
    "comments": ("e.tsv", "# a\n# b\n", "no edges.* comments"),
    "header only": ("e.tsv", "source\ttarget\n", "line 1 .*header.*no edges"),
    "one node": ("e.tsv", "a\ta\n", "no edges .*1 self-loop"),
    "old Macintosh": ("e.tsv", "source\ttarget\ra\tb\r", "line 1: .*CR"),
    "broken owl": ("e.owl", '<?xml version="1.0"?>\n<rdf:RDF/>\n', "not RDF/XML"),
    "owl in xml": ("e.xml", '<?xml version="1.0"?>\n<Ontology/>\n', "XML .*GraphML.*RDF/XML"),
    "owl in functions": ("e.ofn", "Prefix(:=<http://e/>)\nOntology(<http://e/>\n", "functional syntax"),
    "no classes": ("e.ttl", "@prefix e: <http://e/> .\ne:a e:b e:c .\n", "no classes"),
    "broken turtle": ("e.ttl", "@prefix e: <http://e/> .\ne:a e:b e:c\n", "not Turtle"),
    "broken triples": ("e.nt", "<http://e/a> <http://e/b> .\n", "not N-Triples"),
    "no index": ("data.noun", "00001740 03 n 01 entity 0 000 | that\n", "index.noun is missing"),
    "json": ("e.csv", '{"edges": [["a", "b"]]}\n', "JSON"),
    "gml": ("e.gml", "graph [\n  directed 1\n]\n", " GML"),
    "no delimiter": ("e.txt", "abc\ndef\n", "line 1: .*abc"),
    "junk": ("e.bin", bytes(range(256)), "binary"),
    "cut utf-16": ("e.csv", "a,b\n".encode("utf-16")[:-1], "UTF-16-LE.*damaged"),
    "mixed bytes": ("e.csv", "é,b\n".encode() + "é,c\n".encode("latin-1"), "line 2: .*UTF-8.*xe9,c"),
    "no cp1252": ("e.csv", b"a,b\n\x81,c\n", "line 2: .*UTF-8.*x81,c"),
    "old excel": ("e.xls", b"\xd0\xcf\x11\xe0" + bytes(99), "Excel.*xlsx"),
    "cut excel": ("e.xlsx", b"PK\x03\x04", "Excel.*damaged"),
    "signs as nodes": ("e.tsv", "source\ttarget\na\t+\nb\t-\n", "target column 'target' holds signs"),
    "cut gzip": ("e.tsv.gz", b"\x1f\x8b\x08\x00\x00", "compressed file"),
    "cut bzip2": ("e.tsv.bz2", b"BZh91AY&SY", "compressed file"),
    "cut zstd": ("e.tsv.zst", b"\x28\xb5\x2f\xfd\x04\x00", "compressed file|empty"),
    "parquet": ("e.parquet", b"PAR1....PAR1", "Parquet"),
    "array matrix": (
        "e.mtx",
        "%%MatrixMarket matrix array real general\n2 2\n",
        "line 1: .*'coordinate'.*array real",
    ),
    "wide matrix": ("e.mtx", MATRIX + "2 3 1\n1 2 1\n", "line 2: .*2 × 3.*square"),
    "no size": ("e.mtx", MATRIX + "% only this\n", " ends .*size"),
    "bad size": ("e.mtx", MATRIX + "2 2\n", "line 2: .*rows, columns, entries.*'2 2'"),
    "cut matrix": ("e.mtx", MATRIX + "2 2 2\n1 2 1\n", "1 entries.* 2"),
    "empty rows": (
        "e.mtx",
        MATRIX + "2000000000 2000000000 1\n1 2 1\n",
        "2,000,000,000 nodes and 1 edges",
    ),
    "outside": ("e.mtx", MATRIX + "2 2 1\n1 3 1\n", "node 3 .*1 to 2"),
    "matrix row": ("e.mtx", MATRIX + "% c\n2 2 1\n1 2 x\n", "line 4: .*weight 'x'"),
    "broken xml": ("e.graphml", GRAPHML[:60], "XML .*line 1"),
    "hyperedge": ("e.graphml", GRAPHML.format("<hyperedge/>"), "hyperedges"),
    "half an edge": (
        "e.graphml",
        GRAPHML.format('<edge source="a"/>'),
        "edge 1: .*source or target",
    ),
    "no edges": ("e.graphml", GRAPHML.format('<node id="a"/>'), "no edges"),
    "no terms": ("e.obo", "format-version: 1.2\n", r"no \[Term\]"),
    "no colon": ("e.obo", OBO.format("is_a A"), "line 8: .*colon.*'is_a A'"),
    "no parent": ("e.obo", OBO.format("is_a: ! x"), "line 8: .*parent"),
    "no target": ("e.sif", "a pd b c\nb pd\n", "line 2: .*TARGET.*'b pd'"),
    "an empty target": ("e.sif", "a\tpd\t\tc\n", "line 1: .*TARGET"),
    "one line": ("e.sif", "a pd b\rb pd c\n", "line 1: .*CR"),
    "stranger": ("e.obo", OBO.format("is_a: C ! c"), "line 8: .*parent.*'C'"),
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
        ({"delimiter": ","}, "line 1: 1 field.*','.*a.tb"),
        ({"delimiter": "::"}, "delimiter is '::'"),
        ({"columns": (0, 2)}, "columns has 2; .*0 to 1"),
        ({"columns": (0,)}, r"columns is \(0,\)"),
        ({"columns": "ab"}, "columns is 'ab'"),
        ({"columns": ("a", "x")}, "column 'x'.* b, a"),
        ({"columns": ("a", "b"), "header": False}, "columns has 'a'.*header"),
        ({"labels": True}, "labels has .*edge-list"),
        ({"format": "gml"}, "format is 'gml'; .*parquet, excel, matrix-market"),
        ({"format": "parquet"}, "e.tsv: .*Parquet"),
        ({"nodes": [1.5]}, "nodes is .1.5."),
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
        (np.zeros((2, 2), int), {}, r"source has shape \(2, 2\).*columns="),
        (np.zeros((3, 5), int), {}, r"source has shape \(3, 5\)"),
        (np.zeros((2, 5)), {}, r"source has shape \(2, 5\).*integer \(2, edges\)"),
        (np.zeros((2, 5), int), {}, "no edges.*5 self-loops"),
        (np.zeros(5), {}, r"source has shape \(5,\)"),
        (pyarrow.chunked_array([[1, 2], [3]]), {}, "source is a ChunkedArray"),
        (scipy.sparse.csr_array((2, 3)), {}, r"source has shape \(2, 3\).*square"),
        (scipy.sparse.csr_array((3, 3)), {}, "no edges"),
        (nx.DiGraph(), {}, "networkx.DiGraph: .*no edges"),
        ([], {}, "list: .*no edges"),
        ([(1, 2), (3,)], {}, r"list, row 1: .*\(source, target\).*\(3,\)"),
        ([(1, 2), (3, 4, 5.0)], {}, "list, row 1: .*3 items.* 2"),
        ([(1, 2, "x")], {}, "list: .*weights.*'x'"),
        ([("a", None)], {}, "list, row 0"),
        ([([1], 2)], {}, "list: nodes .*hashable"),
        ([(1, 2)], {"columns": (0, 1)}, "columns has .*list"),
        (nx.path_graph(3), {"columns": (0, 1)}, "columns has .*networkx.Graph"),
        ([(1, 2)], {"format": "obo"}, "format has .*object"),
        ([(1, 2)], {"delimiter": ","}, "delimiter has .*object"),
        (FRAME, {"columns": ("source", "target")}, r"row 1: .*source or target.*\(None, 3\)"),
        (FRAME, {}, "column 'weight' holds String"),
        (FRAME[["source"]], {}, "DataFrame: 1 columns"),
        (pd.DataFrame({"a": [1.5], "b": [2]}), {}, "column 'a' holds Float64"),
        (pd.DataFrame({"a": [True], "b": [2]}), {}, "column 'a' holds Boolean"),
        (scipy.sparse.eye_array(3, k=1), {"nodes": [7]}, "nodes has .*scipy"),
    ],
)
def test_objects(source, options, why):
    refuses(why, source, **options)


def test_unknown_relations(tmp_path):
    path = tmp_path / "e.obo"
    path.write_text(OBO.format("is_a: A\nrelationship: regulates A"))
    refuses("relation 'isa'.*is_a, regulates", path, relations=["isa"])
    assert read(path, relations=["regulates"]).num_edges == 1


def test_the_nearest_columns_ignore_case(tmp_path):
    path = tmp_path / "e.tsv"
    path.write_text("TF\tTarget\tEffect\na\tb\t+\n")
    refuses("column 'tf'.* TF, ", path, columns=("tf", "target"))


def test_an_object_that_is_not_a_graph():
    with pytest.raises(TypeError, match="source is 7"):
        read(7)


def test_missing_rows_of_frames_can_be_skipped():
    for frame in (FRAME, FRAME.to_pandas()):
        graph = read(frame, columns=("source", "target"), skip_bad_rows=True)
        assert graph.names == (1, 2, 3, 4)
        assert graph.notes.bad_rows == 1


def test_missing_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("absent.tsv", "./absent", str(tmp_path / "absent")):
        with pytest.raises(FileNotFoundError, match=f"^{re.escape(name)}: .*file.*data set"):
            read(name)
    refuses("edge.csv.gz", tmp_path)
    (tmp_path / "train.tsv").write_text("a\tb\n")
    refuses("`timelike split`.*train.tsv", tmp_path)
    writers.ogb(tmp_path / "x", [(0, 5)], 3)
    refuses("node 5 .*0 to 2", tmp_path / "x")
    (tmp_path / "x" / "num-node-list.csv.gz").unlink()
    refuses("num-node-list.csv.gz: .*number of nodes", tmp_path / "x")


def test_nodes_that_do_not_fit_the_edges(tmp_path):
    writers.parquet(tmp_path / "e.parquet", [(1, 2)])
    refuses("nodes: 'x' .*e.parquet", tmp_path / "e.parquet", nodes=["x"])
    assert read(tmp_path / "e.parquet", nodes=["3"]).names == (1, 2, 3)


@given(st.text("a {}!\\", max_size=12))
def test_values_of_ontologies_without_modifiers_and_comments(text):
    """Compared with a regular expression that takes quadratic time."""
    assert bare(text) == re.sub(r"\s*(\{[^}]*\}\s*)?((?<!\\)!.*)?$", "", text).strip()
