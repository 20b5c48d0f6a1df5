"""Graphs written by other libraries are read back: names, order, weights, counts of dropped edges."""

import re
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse
import writers
from hypothesis import given, settings
from hypothesis import strategies as st

from timelike import DiGraph, read

#: No line breaks or control characters, which text formats cannot hold, and no blanks at the ends.
characters = st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\u2028\u2029\ufeff")
texts = st.text(characters, min_size=1, max_size=8).filter(lambda x: x == x.strip())
words = st.from_regex(r"[A-Za-zäöüλ][A-Za-z0-9_:.é]{0,6}", fullmatch=True)
numbers = st.integers(-(10**15), 10**15) | st.integers(0, 5)
counted = st.integers(0, 6)
weights = st.floats(0.015625, 1000, width=32) | st.sampled_from([0.0, -1.5])


@st.composite
def edges(draw, names):
    """Rows with self-loops and repetitions, all with weights or none."""
    pool = draw(st.lists(names, min_size=2, max_size=6, unique=True))
    ends = st.sampled_from(pool)
    row = st.tuples(ends, ends, weights) if draw(st.booleans()) else st.tuples(ends, ends)
    return [(pool[0], pool[1], 1.0)[: len(draw(row))], *draw(st.lists(row, max_size=12))]


def expected(rows, nodes=()):
    """The edges to keep, counts of the dropped ones, and all nodes in order of first appearance."""
    kept, out = {}, {"self_loops": 0, "negative_weights": 0, "zero_weights": 0, "duplicates": 0}
    order = dict.fromkeys([*nodes, *(x for row in rows for x in row[:2])])
    for s, t, *weight in rows:
        w = weight[0] if weight else 1
        if s == t:
            out["self_loops"] += 1
        elif w <= 0:
            out["negative_weights" if w < 0 else "zero_weights"] += 1
        elif (s, t) in kept:
            out["duplicates"] += 1
        else:
            kept[s, t] = w
    return kept, out, list(order)


def whole(names):
    """Names as whole numbers in ascending order, if all are written like whole numbers."""
    if all(re.fullmatch(r"0|-?[1-9][0-9]{0,17}", str(x)) for x in names):
        return {x: int(x) for x in sorted(names, key=int)}
    return {x: x for x in names}


def check(graph: DiGraph, rows, nodes=()) -> None:
    kept, out, order = expected(rows, nodes)
    called = whole(order)
    names = list(called.values())
    assert [graph.name(i) for i in range(graph.num_nodes)] == names
    assert (graph.names is None) == (names == list(range(len(names))))
    found = [(graph.name(s), graph.name(t)) for s, t in zip(graph.sources, graph.targets, strict=True)]
    want = {(called[s], called[t]): w for (s, t), w in kept.items()}
    assert set(found) == set(want)
    assert len(found) == len(want)
    if graph.weights is None:
        assert set(want.values()) <= {1}
    else:
        assert graph.weights.tolist() == [np.float32(want[edge]) for edge in found]
    assert graph.notes.rows == len(rows)
    assert {kind: getattr(graph.notes, kind) for kind in out} == out


@settings(max_examples=30)
@given(
    edges(texts),
    st.sampled_from([("e.tsv", "\t"), ("e.csv", ","), ("e.txt", ";"), ("e.txt.gz", "|"), ("e.zst", " ")]),
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_delimited_text(rows, form, header, end, bom):
    with tempfile.TemporaryDirectory() as folder:
        path = writers.delimited(Path(folder) / form[0], rows, form[1], header, end, bom)
        check(read(path, columns=range(len(rows[0])), header=header, delimiter=form[1]), rows)


@settings(max_examples=30)
@given(edges(words), st.sampled_from(["\t", ",", ";", "|", " ", "   "]), st.sampled_from(["", ".gz", ".bz2"]))
def test_plain_text_needs_no_options(rows, delimiter, packing):
    head = delimiter.join(["source", "target", "weight"][: len(rows[0])])
    lines = [head, *(delimiter.join(map(str, row)) for row in rows)]
    with tempfile.TemporaryDirectory() as folder:
        path = writers.packed(Path(folder) / f"edges{packing}", "\n".join(lines).encode())
        check(read(path), rows)


@settings(max_examples=30)
@given(st.one_of(edges(texts), edges(numbers), edges(counted)))
def test_parquet_and_frames(rows):
    with tempfile.TemporaryDirectory() as folder:
        check(read(writers.parquet(Path(folder) / "e.parquet", rows)), rows)
    table = writers.frame(rows)
    check(read(table), rows)
    check(read(table.lazy()), rows)
    check(read(pd.DataFrame(rows, columns=table.columns)), rows)
    check(read(table.to_arrow()), rows)


@settings(max_examples=30)
@given(edges(words), st.lists(words, max_size=3))
def test_graphml_and_obo(rows, lonely):
    nodes = list(dict.fromkeys([*lonely, *(x for row in rows for x in row[:2])]))
    by_source = sorted(rows, key=lambda row: nodes.index(row[0]))
    with tempfile.TemporaryDirectory() as folder:
        check(read(writers.graphml(Path(folder) / "e.graphml", rows, nodes)), by_source, nodes)
        bare = [row[:2] for row in by_source]
        check(read(writers.obo(Path(folder) / "e.obo.gz", bare, nodes)), bare, nodes)
        graph = read(Path(folder) / "e.obo.gz", labels=True)
        assert graph.names == tuple(f"label of {x}" for x in nodes)


@settings(max_examples=30)
@given(edges(words), st.lists(words, max_size=3, unique=True))
def test_sif(rows, lonely):
    bare = [row[:2] for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        check(
            read(writers.sif(Path(folder) / "e.sif.gz", bare, lonely)),
            bare,
            dict.fromkeys(x for row in [*bare, lonely] for x in row),
        )


@settings(max_examples=30)
@given(edges(st.integers(0, 9)), st.sampled_from(["", ".gz"]))
def test_matrices(rows, packing):
    nodes = list(range(10))
    with tempfile.TemporaryDirectory() as folder:
        check(read(writers.matrix_market(Path(folder) / f"e.mtx{packing}", rows, 10)), rows, nodes)
        bare = [row[:2] for row in rows]
        check(read(writers.ogb(Path(folder) / "graph", bare, 10)), bare, nodes)
    once = [row for i, row in enumerate(rows) if row[:2] not in [other[:2] for other in rows[:i]]]
    check(read(writers.matrix(once, 10)), once, nodes)
    ends = np.array([row[:2] for row in rows]).T
    weight = np.array([row[2] for row in rows]) if len(rows[0]) == 3 else None
    check(read(SimpleNamespace(edge_index=ends, edge_weight=weight, num_nodes=10)), rows, nodes)


@settings(max_examples=30)
@given(st.one_of(edges(texts), edges(numbers), edges(counted)))
def test_lists_and_networkx(rows):
    check(read(rows), rows)
    nodes = list(dict.fromkeys(x for row in rows for x in row[:2]))
    graph = writers.networkx(rows)
    check(read(graph), list(graph.edges(data="weight", default=1)), nodes)


@given(edges(numbers | texts | st.tuples(counted, words)))
def test_names_of_any_kind(rows):
    graph = read(rows)
    names = {x for row in rows for x in row[:2]}
    assert {graph.name(i) for i in range(graph.num_nodes)} == names
    found = {(graph.name(s), graph.name(t)) for s, t in zip(graph.sources, graph.targets, strict=True)}
    assert found == set(expected(rows)[0])


@given(edges(numbers))
def test_arrays_of_numbers(rows):
    array = np.array(rows) if len(rows[0]) == 2 else np.array(rows, float)
    check(read(array, columns=range(array.shape[1])), rows)


def test_a_symmetric_matrix_counts_both_ways(tmp_path):
    dense = np.array([[0, 2, 0], [2, 0, 3], [0, 3, 5.0]])
    scipy.io.mmwrite(tmp_path / "e.mtx", scipy.sparse.coo_array(dense), symmetry="symmetric")
    graph = read(tmp_path / "e.mtx")
    assert list(zip(graph.sources, graph.targets, strict=True)) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert graph.weights.tolist() == [2, 2, 3, 3]
    assert (graph.num_nodes, graph.notes.self_loops) == (3, 1)


def test_an_undirected_graph_counts_both_ways(tmp_path):
    undirected = writers.networkx([("a", "b", 2.0), ("b", "c", 3.0)]).to_undirected()
    for source in (undirected, writers.nx.write_graphml_xml(undirected, tmp_path / "u") or tmp_path / "u"):
        graph = read(source)
        assert graph.num_edges == 4
        assert graph.weights.tolist() == [2, 2, 3, 3]
        assert any("both ways" in line for line in graph.notes.lines())


@pytest.mark.parametrize("shape", [(4, 4), (7, 7)])
def test_a_square_array_is_an_adjacency_matrix(shape):
    dense = np.random.default_rng(0).integers(0, 3, shape)
    graph = read(dense)
    rebuilt = np.zeros(shape)
    rebuilt[graph.sources, graph.targets] = graph.weights
    assert np.array_equal(rebuilt, dense * (1 - np.eye(len(dense))))
    assert graph.notes.self_loops == np.count_nonzero(np.diag(dense))


def test_a_sparse_matrix_is_read_alike_however_it_is_stored():
    """Duplicate entries add up, and the matrix itself stays unchanged."""
    parts = scipy.sparse.coo_array(
        ([1.0, 2.0, 4.0, 1.0, -1.0], ([0, 0, 1, 2, 2], [1, 1, 2, 0, 0])), shape=(3, 3)
    )
    split = scipy.sparse.csr_array(([2.0, 1.0, 4.0], [1, 1, 2], [0, 2, 3, 3]), shape=(3, 3))
    for matrix in (parts, split, parts.tocsc(), parts.todok(), parts.tolil()):
        stored = matrix.nnz
        graph = read(matrix)
        assert (graph.pairs.tolist(), graph.weights.tolist()) == ([[0, 1], [1, 2]], [3, 4])
        assert graph.notes.duplicates == 0
        assert matrix.nnz == stored


@pytest.mark.parametrize("names", [["b", "a", "c"], [10, 20, 30, 40]])
def test_a_frame_with_the_same_names_down_and_across_is_an_adjacency_matrix(names):
    values = np.zeros((len(names), len(names)))
    values[0, 1] = values[2, 0] = 1
    frame = pd.DataFrame(values, index=names, columns=names)
    for same in (frame, frame[names[::-1]]):  # also with the columns in another order
        graph = read(same)
        found = {(graph.name(i), graph.name(j)) for i, j in graph.pairs}
        assert found == {(names[0], names[1]), (names[2], names[0])}
        assert graph.num_nodes == len(names)
        assert graph.weights is None
    values[0, 1], values[1, 2] = 0.5, np.nan
    assert sorted(read(pd.DataFrame(values, index=names, columns=names)).weights) == [0.5, 1]


def test_a_graph_that_was_read_already_stays():
    graph = DiGraph.from_edges([("a", "b")])
    assert read(graph) is graph
