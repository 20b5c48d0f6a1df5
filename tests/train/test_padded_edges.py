"""Graphs of nearly the same size share a program: padding is no edge, and changes nothing that is full."""

import dataclasses

import jax
import numpy as np
import pytest
from compilations import compilations
from graphs import random_graph

from timelike import Config, Model, train
from timelike.engine.negatives import Negatives
from timelike.engine.padded_edges import PaddedEdges, Room
from timelike.engine.sampling import EdgeTable, draw_examples
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import Minkowski

KINDS = Negatives(active_source=2, active_target=2, degree=2, reversed=1)
GRAPH = random_graph(30, 120)
PART = GRAPH.subgraph(np.arange(GRAPH.num_edges) % 5 > 0)
ROOM = Room.of([GRAPH, PART], KINDS)
MODEL = Model(Minkowski(3), TripleFermiDirac())
CONFIG = Config(epochs=2, burn_in=1, batch_size=8, negatives=KINDS, select="last")


def examples(graph):
    table = PaddedEdges.of(EdgeTable.build(graph, kinds=KINDS), ROOM)
    ids = np.arange(ROOM.edges, dtype=np.int32)
    return jax.tree.map(np.asarray, draw_examples(jax.random.key(1), table, KINDS, ids))


def test_a_room_is_as_long_as_the_longest():
    assert ROOM.edges == GRAPH.num_edges > PART.num_edges
    assert ROOM.active_sources == len(np.unique(GRAPH.sources))


def test_every_edge_is_a_positive_once_and_padding_none():
    found = examples(PART)
    use = found.use[0]
    pairs = np.stack([found.sources[0][use], found.targets[0][use]], axis=1)
    np.testing.assert_array_equal(pairs, PART.pairs)
    assert not found.use[:, PART.num_edges :].any()


def test_negatives_are_no_edges_and_their_ends_are_active():
    found = examples(PART)
    a, b = (x[1:][found.use[1:]] for x in (found.sources, found.targets))
    assert not PART.has_edges(a, b).any()
    rows = slice(1, 3)  # active sources
    used = found.sources[rows][found.use[rows]]
    assert set(used) <= set(PART.sources.tolist())


def test_graphs_in_one_room_share_a_program():
    with compilations() as before:
        full = train(GRAPH, MODEL, CONFIG, room=ROOM, progress=False)
    with compilations() as after:
        part = train(PART, MODEL, CONFIG, room=ROOM, progress=False)
    assert len(before) > len(after)
    with compilations() as again:
        train(PART, MODEL, dataclasses.replace(CONFIG, seed=1), room=ROOM, progress=False)
    assert not again
    assert np.isfinite(full.points).all()
    assert np.isfinite(part.points).all()


def test_a_graph_that_fills_the_room_is_trained_as_without():
    np.testing.assert_array_equal(
        train(GRAPH, MODEL, CONFIG, room=ROOM, progress=False).points,
        train(GRAPH, MODEL, CONFIG, progress=False).points,
    )


def test_padding_does_not_count_as_left_out():
    sparse = dataclasses.replace(CONFIG, negatives=Negatives(uniform=1))
    room = Room.of([GRAPH, PART], sparse.negatives)._replace(draws=16)
    found = train(PART, MODEL, sparse, room=room, progress=False)
    assert found.history["left_out"] == pytest.approx(0)
