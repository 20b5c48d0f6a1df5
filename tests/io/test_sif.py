"""Cytoscape's networks: several targets per line, relations, nodes without edges."""

import pytest

from timelike import read
from timelike.io.reading import read_pairs

DATA = "lexA pd recA umuD\nfis  pp crp\nlonely\n# a remark\n"


@pytest.fixture
def write(tmp_path):
    def write(text, name="net.sif"):
        (tmp_path / name).write_bytes(text.encode())
        return str(tmp_path / name)

    return write


def edges(graph) -> list[tuple]:
    return [(graph.name(s), graph.name(t)) for s, t in zip(graph.sources, graph.targets, strict=True)]


def test_lines_of_several_targets_and_of_a_node_alone(write):
    for name, options in (("net.sif", {}), ("net.txt", {"format": "sif"})):
        graph = read(write(DATA, name), **options)
        assert edges(graph) == [("lexA", "recA"), ("lexA", "umuD"), ("fis", "crp")]
        assert graph.names == ("lexA", "recA", "umuD", "fis", "crp", "lonely")
        (remark,) = graph.notes.lines()
        assert "pd (2), pp (1); all" in remark


def test_names_hold_blanks_where_tabs_divide(write):
    graph = read(write("a b\tpd\tc d\ta b\r\ne\r\n"))
    assert edges(graph) == [("a b", "c d")]
    assert graph.names == ("a b", "c d", "e")
    assert graph.notes.self_loops == 1


def test_some_kinds_of_edges(write):
    graph = read(write(DATA), relations=["pp"])
    assert edges(graph) == [("fis", "crp")]
    assert any("pd (2), pp (1); read: pp" in line for line in graph.notes.lines())
    with pytest.raises(ValueError, match=r"relation 'dp'.*pd \(2\), pp \(1\)"):
        read(write(DATA), relations=["dp"])


def test_pairs_to_ask_about(write):
    found = []
    read_pairs(write("a pd b b\na pp a\nc\n"), lambda table: found.extend(table.rows()))
    assert found == [("a", "b"), ("a", "b"), ("a", "a")]
