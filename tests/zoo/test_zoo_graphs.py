"""Graphs of the zoo: seeded, simple, directed, and divided into halves by the stated rule."""

import io
import itertools
import zipfile

import numpy as np
import pytest

from benchmarks.zoo import real
from benchmarks.zoo.downloads import MissingSourceError, Sources
from benchmarks.zoo.families import FAMILIES, erdos_renyi, generate, ring_lattice, symmetric_geometric
from benchmarks.zoo.halves import GENERATED_GROUPS, HALVES, REAL_GROUPS, graphs_of, half_of
from benchmarks.zoo.sources import digest, facts, graph_of, prepare


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_simple_and_seeded(name):
    graph = generate(name, 0)
    pairs = graph.pairs
    assert 200 <= graph.num_nodes <= 2000
    assert np.all(pairs[:, 0] != pairs[:, 1])
    assert len(np.unique(pairs, axis=0)) == graph.num_edges >= 500
    assert digest(generate(name, 0)) == digest(graph) != digest(generate(name, 1))


def test_families_have_the_direction_they_claim():
    assert facts(symmetric_geometric(0))["reciprocity"] == 1
    assert facts(ring_lattice(0))["reciprocity"] == 0
    assert erdos_renyi(0, nodes=5, edges=20).num_edges == 20


def test_numbers_of_nodes_say_nothing():
    graph = generate("random-dag", 0)
    assert 0.4 < np.mean(graph.sources < graph.targets) < 0.6


@pytest.mark.parametrize("groups", [GENERATED_GROUPS, REAL_GROUPS])
def test_groups_are_dealt_in_alphabetical_order(groups):
    assert list(groups) == sorted(groups)
    for half, group in zip(itertools.cycle(HALVES), groups):
        assert group in HALVES[half]


def test_every_graph_is_in_one_half():
    tune, test = (set(graphs_of(half)) for half in ("tune", "test"))
    assert tune | test == {*FAMILIES, *real.REAL}
    assert not tune & test
    assert half_of("ring-lattice") == "test"


def test_a_large_graph_is_cut_to_its_core():
    clique = np.array([(a, b) for a in range(5) for b in range(5) if a != b])
    tail = np.array([(i, i + 1) for i in range(4, 30)])
    assert len(real.cut(np.concatenate([clique, tail]), 10, 1000)) == len(clique)
    assert len(real.cut(clique, 5, 20)) == 20


@pytest.fixture
def cache(tmp_path):
    """A cache that holds a package already, so that nothing is downloaded."""
    text = io.StringIO()
    np.savetxt(text, np.array([[5, 1, 0], [0, 0, 2], [1, 0, 0]]), fmt="%d")
    with zipfile.ZipFile(tmp_path / "graspologic-3.4.4-py3-none-any.whl", "w") as archive:
        archive.writestr("graspologic/datasets/drosophila/right_adjacency.csv", text.getvalue())
    return tmp_path


def test_a_prepared_graph_is_read_again(cache, tmp_path):
    name = "drosophila-mushroom-body"
    graph = prepare(name, Sources(cache), tmp_path / "graphs")
    assert graph.pairs.tolist() == [[0, 1], [1, 2], [2, 0]]
    assert digest(graph_of(name, 1, tmp_path / "graphs")) == digest(graph)


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(MissingSourceError, match="TIMELIKE_DATA"):
        prepare("dream5-yeast", Sources(tmp_path), tmp_path)
    with pytest.raises(MissingSourceError, match="dream5"):
        prepare("dream5-yeast", Sources(tmp_path, tmp_path), tmp_path)
    with pytest.raises(MissingSourceError, match="npm-dependencies"):
        graph_of("npm-dependencies", 0, tmp_path)
