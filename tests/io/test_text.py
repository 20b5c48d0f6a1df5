"""Edge lists as text: layouts, line numbers, malformed rows, the fast path against the careful one."""

import gzip
import io
import random
import re
import sys

import numpy as np
import polars as pl
import pytest
import writers

from timelike import read
from timelike.io import edge_lists
from timelike.io.name_numbering import IdNumbering, Numbering


def edges(graph) -> list[tuple]:
    return [(graph.name(s), graph.name(t)) for s, t in zip(graph.sources, graph.targets, strict=True)]


@pytest.fixture
def write(tmp_path):
    return lambda data, name="edges.tsv": writers.packed(
        tmp_path / name, data if isinstance(data, bytes) else data.encode()
    )


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (
            "New York\tLos Angeles\nLos Angeles\tSão Paulo\n",
            [("New York", "Los Angeles"), ("Los Angeles", "São Paulo")],
        ),
        ("a b\n", [("a", "b")]),
        ("a,b\nb,c", [("a", "b"), ("b", "c")]),
        ("a;b\n", [("a", "b")]),
        ("a|b\n", [("a", "b")]),
        ("  a    b  \n\tc d\n", [("a", "b"), ("c", "d")]),
        ("a\tb\t\nc\td\n", [("a", "b"), ("c", "d")]),
        ("a, b\nb ,c\n", [("a", "b"), ("b", "c")]),
        ('"a, b","c ""d"""\n', [("a, b", 'c "d"')]),
        ('"New York" "Los Angeles"\n', [("New York", "Los Angeles")]),
        ('5" pipe\tvalve\n', [('5" pipe', "valve")]),
        ("\ufeffa\tb\r\nb\tc\r\n", [("a", "b"), ("b", "c")]),
        ("% a comment\n# another\n\n1 2\n\n2 3\n", [(1, 2), (2, 3)]),
        ("from\tto\n1\t2\n", [(1, 2)]),
        ("gene,partner\n7,8\n8,9\n", [(7, 8), (8, 9)]),
        ("regulator\ttarget\tscore\na\tb\thigh\n", [("a", "b")]),
        ("protein,partner,score\na,b,0.5\nlonely,c,1e-3\n", [("a", "b"), ("lonely", "c")]),
        ("a,b,NA\nb,c,0.5\n", [("a", "b"), ("b", "c")]),
        ("a,b,2\nb,c,0.5\n", [("a", "b"), ("b", "c")]),
        ("a,b,x\nb,c,y\n", [("a", "b"), ("b", "c")]),
        ("007\t8\n", [("007", "8")]),
        ("-1\t8\n", [(-1, 8)]),
        ("99999999999999999999\t8\n", [("99999999999999999999", "8")]),
        ("name,target,kind,source\nx,b,k,a\n", [("a", "b")]),
        ("Child,Parent\nx,b\n", [("x", "b")]),
        ('"TF name","Gene Symbol"\na,b\n', [("a", "b")]),
        ("regulatorId\tregulatorName\tgeneId\tgeneName\n1\tlexA\t2\trecA\n", [(1, 2)]),
        (
            "1)regulatorId\t2)regulatorName\t4)regulatedId\t5)regulatedName\nR1\tlexA\tG2\trecA\n",
            [("R1", "G2")],
        ),
        ("Regulator Name,Regulated Gene\na,b\n", [("a", "b")]),
        ("\ufeffsep=;\r\nTF;Gene\r\na;b\r\n", [("a", "b")]),
        ('"sep=,"\na,b\n', [("a", "b")]),
        ("source_name,source,target\nx,a,b\ny,b,c\n", [("a", "b"), ("b", "c")]),
        ("regulator_name,regulator_id,target_id,target_name\nx,7,8,y\n", [("x", "y")]),
        ("subject\tpredicate\tobject\na\tis_a\tb\n", [("a", "b")]),
        ("a name\ta gene\nb\tc\n", [("a name", "a gene"), ("b", "c")]),
        ("id,superclass,subclass\n7,x,b\n", [("x", "b")]),
        ("日本\tñandú\n🙂\t日本\n", [("日本", "ñandú"), ("🙂", "日本")]),
    ],
)
def test_layouts_are_recognised(write, data, found):
    assert edges(read(write(data, "edges"))) == found


def test_columns_by_name_and_number(write):
    path = write("id,to,w,from\n1,b,2.5,a\n2,c,3,b\n", "e.csv")
    for columns in (("from", "to", "w"), (3, 1, 2)):
        graph = read(path, columns=columns, header=True)
        assert edges(graph) == [("a", "b"), ("b", "c")]
        assert graph.weights.tolist() == [2.5, 3]
    assert "columns not read: id" in graph.notes.lines()


def test_a_remark_asks_about_a_relation_between_the_nodes(write):
    """Lines of Cytoscape's SIF: source, kind, target."""
    data = "lexA\tpd\trecA\nlexA\tpd\tumuD\nfis\tpd\tcrp\n"
    assert any("'pd'" in line and "columns 0,2" in line for line in read(write(data)).notes.lines())
    graph = read(write(data), columns=(0, 2))
    assert edges(graph) == [("lexA", "recA"), ("lexA", "umuD"), ("fis", "crp")]
    assert "columns 0,2" not in str(graph.notes)
    two = "".join(f"r{i}\t{'pd' if i % 3 else 'pp'}\tg{i}\n" for i in range(30))
    assert "'pd' or 'pp'" in str(read(write(two)).notes)
    for star in ("a\thub\nb\thub\nc\thub\n", "a\thub\t1\nb\thub\t2\nc\thub\t3\n"):
        assert "columns 0,2" not in str(read(write(star)).notes)


def test_options_override_guesses(write):
    path = write("source;x,target\n!a;b,c\n", "e")
    assert edges(read(path, delimiter=",", header=False, comment="!")) == [("source;x", "target")]
    found = edges(read(path, delimiter=";", header=False, comment=""))
    assert found == [("source", "x,target"), ("!a", "b,c")]


def test_standard_input(monkeypatch):
    for data in (b"a\tb\n", gzip.compress(b"a\tb\n")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        graph = read("-")
        assert edges(graph) == [("a", "b")]
        assert graph.notes.source == "standard input"


def test_listed_nodes_stay_and_come_first(write, tmp_path):
    path = write("a\tb\n")
    (tmp_path / "nodes.txt").write_text("# names\nlonely one\nb\n")
    for nodes in (tmp_path / "nodes.txt", str(tmp_path / "nodes.txt"), ["lonely one", "b"]):
        graph = read(path, nodes=nodes)
        assert graph.names == ("lonely one", "b", "a")
    assert read(write("0 1\n"), nodes=["2"]).num_nodes == 3
    assert read(write("0 1\n"), nodes=[5]).names == (0, 1, 5)
    assert read([(0, 1)], nodes=[3, 2]).num_nodes == 4


BAD = {
    "one field": ("b", "1 field"),
    "no source": ("\tb", "source"),
    "no target": ("b\t", "target"),
    "too many": ("a\tb\tc\td", "4 fields.* 3"),
    "two lines": ("a\tb\rb\tc", "CR "),
    "open quote": ('"a\tb', "quote"),
}


@pytest.mark.parametrize("packing", ["", ".gz", ".bz2", ".zst"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(("line", "why"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("lines", [3, 2000])  # the careful path alone, and the fast one giving up
def test_a_malformed_row_is_named_by_its_line(write, packing, end, line, why, lines):
    rows = ["# comment", "", *(f"n{i}\tn{i + 1}\t1" for i in range(lines)), line, "y\tz\t1", line]
    path = write(end.join(rows), f"e.tsv{packing}")
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}, line {lines + 3}: .*{why}") as caught:
        read(path)
    message = str(caught.value)
    assert repr(line) in message
    assert "\n" not in message
    graph = read(path, skip_bad_rows=True)
    assert graph.notes.bad_rows == 2
    assert "2 malformed rows skipped" in str(graph.notes)
    assert graph.num_edges == lines + 1


def test_a_weight_that_is_no_number_is_malformed(write):
    path = write("source,target,weight\na,b,1\nb,c,heavy\n", "e.csv")
    with pytest.raises(ValueError, match=r"line 3: .*weight 'heavy'.*'b,c,heavy'"):
        read(path)
    assert read(path, skip_bad_rows=True).notes.bad_rows == 1


def test_what_is_left_out_is_counted(write):
    weights = ["1", "nan", "", "inf", "-2", "0", "NA", "1e-60", "1e60"]
    lines = [f"a,n{i},{w}" for i, w in enumerate(weights)] + ["b,b,1", "a,n0,7"]
    graph = read(write("source,target,weight\n" + "\n".join(lines), "e.csv"))
    assert edges(graph) == [("a", "n0")]
    assert graph.weights.tolist() == [1]
    assert graph.num_nodes == 11
    notes = graph.notes
    assert (notes.rows, notes.missing_weights, notes.negative_weights, notes.zero_weights) == (11, 5, 1, 2)
    assert (notes.self_loops, notes.duplicates) == (1, 1)
    assert str(notes).count("\n") == 5
    assert "1 edge left out because of a negative weight" in str(notes)


def test_line_numbers_go_on_from_block_to_block(write, monkeypatch):
    monkeypatch.setattr("timelike.io.byte_streams.BLOCK", 64)
    path = write("".join(f"node{i}\tnode{i + 1}\n" for i in range(100)) + "x\n")
    with pytest.raises(ValueError, match="line 101: 1 field"):
        read(path)
    graph = read(path, skip_bad_rows=True)
    assert graph.names == tuple(f"node{i}" for i in range(101))
    assert graph.num_edges == 100


def test_the_fast_path_reads_what_the_careful_one_reads(write, monkeypatch):
    rng = random.Random(0)
    odd = ["1_0", "0x1", "1.", ".5", "+1", "1e3", " 2 ", "-0", "Inf", "-inf", "NaN", "1e400", "٣"]
    for _ in range(50):
        delimiter = rng.choice("\t,; ")
        pool = [
            "a",
            "b c" if delimiter != " " else "bc",
            "é",
            "x" * 40,
            "7",
            rng.choice(["#z", " pad ", "\xa0n"]),
        ]
        weights = [
            "1.5" if rng.random() < 0.95 else rng.choice([str(rng.random()), *odd]) for _ in range(400)
        ]
        rows = [delimiter.join([rng.choice(pool), rng.choice(pool), weight]) for weight in weights]
        end = rng.choice(["\n", "\r\n"])
        path = write(f"source{delimiter}target{delimiter}weight{end}" + end.join(rows), "e")
        fast, careful = (outcome(path, monkeypatch, limit) for limit in (True, False))
        assert fast == careful


def outcome(path, monkeypatch, fast: bool) -> tuple:
    """All that can be seen of a graph, read with or without the fast path."""
    with monkeypatch.context() as patch:
        if not fast:
            patch.setattr(edge_lists, "_fast", lambda *_: None)
        graph = read(path, skip_bad_rows=True)
    return (
        graph.names,
        graph.sources.tolist(),
        graph.targets.tolist(),
        graph.weights.tolist(),
        str(graph.notes),
    )


def test_the_fast_path_is_taken(write, monkeypatch):
    monkeypatch.setattr(edge_lists, "_rows", None)
    for data in (
        "source\ttarget\n" + "a b\tc\r\n" * 1000,
        "# SNAP\n# FromNodeId\tToNodeId\n" + "1\t2\n" * 2000,
        " 1   2\t0.5\n" * 1000,
        "a,b,0.25,more\n" * 1000,
    ):
        assert read(write(data, "e")).num_edges == 1


def test_numbering_counts_names_in_the_order_of_first_appearance(monkeypatch):
    monkeypatch.setattr("timelike.io.name_numbering.STEP", 1000)
    rng = np.random.default_rng(0)
    numbering, number = Numbering(bits=1), {}
    for size in (0, 1, 7, 300, 20_000):
        columns = [pl.Series([f"n{i}" for i in rng.integers(0, 9000, size)], dtype=pl.String) for _ in "st"]
        found = numbering.number(columns)
        rows = zip(*columns, strict=True)
        assert np.transpose(found).tolist() == [
            [number.setdefault(x, len(number)) for x in row] for row in rows
        ]
    assert numbering.names().to_list() == list(number)
    assert numbering.count == len(number)


def test_ids_are_numbered_once(monkeypatch):
    monkeypatch.setattr("timelike.io.name_numbering.STEP", 1000)
    rng = np.random.default_rng(0)
    numbering, seen = IdNumbering(bits=1), {}
    far = np.append(rng.integers(-(2**63), 2**63 - 1, 9000), [0, -1, 2**63 - 1, -(2**63)])
    for size in (0, 1, 7, 300, 20_000):
        columns = [pl.Series(rng.choice(far, size)) for _ in "st"]
        for column, found in zip(columns, numbering.number(columns), strict=True):
            for name, number in zip(column, found.tolist(), strict=True):
                assert seen.setdefault(name, number) == number
    names = numbering.names().to_list()
    assert len(names) == numbering.count == len(seen)
    assert seen == {name: i for i, name in enumerate(names)}


@pytest.mark.parametrize("far", [2**40, -5, 2**30])
def test_ids_far_apart_may_come_late(far, monkeypatch, tmp_path):
    for name in ("BATCH", "LARGE"):
        monkeypatch.setattr(f"timelike.io.parquet.{name}", 2)
    rows = [(3, 1), (1, 1), (1, 2), (2, 3), (far, 3), (2, far)]
    path = writers.parquet(tmp_path / "e.parquet", rows)
    graph = read(path, nodes=[9, far])
    assert graph.names == tuple(sorted([1, 2, 3, 9, far]))
    assert edges(graph) == sorted(set(rows) - {(1, 1)})
    assert read(path, nodes=[-(2**50)]).names[0] == -(2**50)
    assert read([(0, 1), (1, 2)], nodes=[-7]).names == (-7, 0, 1, 2)


@pytest.mark.parametrize("late", ["a", "007", "+1", "-0", "1000000000000000000", "9223372036854775808"])
@pytest.mark.parametrize("far", ["4", "-5", "99999999999"])
def test_names_may_come_late_among_whole_numbers(late, far, monkeypatch, write):
    monkeypatch.setattr("timelike.io.edge_buffer.PIECE", 2)
    monkeypatch.setattr("timelike.io.edge_lists.SOME", 1)
    rows = [("7", "7"), ("3", "1"), (far, "3"), ("1", late), ("7", "1"), ("3", "1")]
    path = write("".join(f"{s}\t{t}\n" for s, t in rows))
    graph = read(path, header=False)
    seen = list(dict.fromkeys(name for row in rows for name in row))
    assert list(graph.names) == seen
    assert set(edges(graph)) == set(rows[1:])
    listed = read(write("".join(f"{s}\t{t}\n" for s, t in rows[:3])), header=False, nodes=[late])
    assert list(listed.names) == [late, "7", "3", "1", far]
