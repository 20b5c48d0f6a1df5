"""Lessons have room for more, which nothing is learned from; updates of about one size share a program."""

import jax
import jax.numpy as jnp
import numpy as np
from compilations import compilations

import timelike as tl
from timelike.engine.lessons import Lessons, roomy
from timelike.engine.negatives import Negatives
from timelike.engine.sampling import EdgeTable, draw_examples


def test_room_is_little_and_lengths_are_few():
    lengths = [roomy(n) for n in range(1, 200_000, 7)]
    assert all(n <= room <= max(2 * n, 1) for n, room in zip(range(1, 200_000, 7), lengths, strict=True))
    assert len(set(lengths)) < 50
    assert roomy(10**6) < 1.15 * 10**6


def test_padding_is_never_drawn():
    graph = tl.datasets.random_dag(100, 400, seed=1)
    kinds = Negatives(uniform=3, active_source=2, reversed=1)
    lessons = Lessons.of(EdgeTable.build(graph, kinds=kinds), np.arange(50, 120))
    assert lessons.num_edges == 128
    found = draw_examples(jax.random.key(0), lessons, kinds, jnp.arange(128))
    use = np.asarray(found.use)
    assert use[0].sum() == 70
    s, t = np.asarray(found.sources)[use], np.asarray(found.targets)[use]
    assert max(s.max(), t.max()) < 100
    positive = np.stack([np.asarray(x)[0][use[0]] for x in found[:2]], axis=1)
    assert {tuple(p) for p in positive.tolist()} == {tuple(p) for p in graph.pairs[50:120].tolist()}
    negative = [np.asarray(x)[1:][use[1:]] for x in found[:2]]
    assert not graph.has_edges(*negative).any()


def test_a_chain_of_updates_compiles_little():
    graph = tl.datasets.random_dag(60, 300, seed=2)
    pairs = np.random.default_rng(0).permutation(graph.pairs)
    model = tl.SpacetimeEmbedding(
        "minkowski", dim=3, epochs=2, baselines="none", evidence="none", progress=False
    )
    model.fit(tl.DiGraph.from_arrays(*pairs[:260].T, 60))
    first, *later = (tl.DiGraph.from_arrays(*part.T, 60) for part in np.array_split(pairs[260:], 8))
    model.update(first)
    with compilations() as compiled:
        for part in later:
            model.update(part)
    assert len(compiled) <= len(later) + 1  # a transfer of the edges each, and one epoch with more room
