"""Shuffling: a permutation of every size, and every edge once per epoch."""

from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from graphs import pairs_last, random_graph
from scipy.stats import chisquare
from without_jax import in_numpy

from timelike.core.hashed_random import Shuffle
from timelike.engine import passes
from timelike.engine.config import EpochPlan
from timelike.engine.negatives import Negatives
from timelike.engine.optimizers import Step
from timelike.engine.sampling import EdgeTable

KEY = jax.random.key(7)
STEP = Step(jnp.float32(0.1), jnp.float32(1.0))


def test_shuffle_is_a_permutation_of_every_size():
    with in_numpy(), mock.patch.object(jax.random, "split", lambda key: (key, key)):
        for count in range(1, 301):
            shuffle = Shuffle.draw(None, count)
            ids = shuffle(np.arange(shuffle.size + 3))
            np.testing.assert_array_equal(np.sort(ids[:-3]), np.arange(shuffle.size))
            assert (ids[-3:] == shuffle.size).all()
            assert np.sum(ids[:-3] >= count) == shuffle.size - count <= np.sqrt(count)


@pytest.mark.parametrize("count", [1009, 1_000_003])
def test_shuffle_on_the_device(count):
    def ids(key):
        shuffle = Shuffle.draw(key, count)
        return shuffle(jnp.arange(shuffle.size))

    compiled = jax.jit(ids)
    one, two, same = (np.asarray(compiled(jax.random.key(i))) for i in (0, 1, 0))
    np.testing.assert_array_equal(np.sort(one), np.arange(len(one)))
    np.testing.assert_array_equal(one, same)
    assert np.mean(one == two) < 0.05
    assert np.mean(one == np.arange(len(one))) < 0.05
    assert abs(np.corrcoef(one[:-1], one[1:])[0, 1]) < 0.1  # neighbours are separated


def test_every_place_of_a_shuffle_is_equally_likely():
    places = jax.jit(jax.vmap(lambda key: Shuffle.draw(key, 12)(jnp.arange(12))))(jax.random.split(KEY, 3000))
    counts = np.array([np.bincount(column, minlength=12) for column in np.asarray(places).T])
    assert chisquare(counts, axis=1).pvalue.min() > 1e-4


@pytest.mark.parametrize(("edges", "batch"), [(37, 4), (37, 1000)])
def test_an_epoch_sees_every_edge_once(monkeypatch, edges, batch):
    seen, original = [], passes.draw_examples

    def recorded(*arguments):
        examples = original(*arguments)
        jax.debug.callback(lambda x: seen.append(pairs_last(x)), examples)
        return examples

    monkeypatch.setattr(passes, "draw_examples", recorded)
    monkeypatch.setattr(
        passes, "take_step", lambda plan, model, step, carry, batch: (carry, (batch[1], jnp.zeros(0)))
    )
    monkeypatch.setattr(passes, "PAIRS_PER_BLOCK", 64)
    graph = random_graph(8, edges, weighted=True)
    plan = EpochPlan(batch, Negatives(uniform=1), "sgd", "last", ())
    carry = (jnp.zeros((8, 2)), (), (), ())
    _, counts = jax.jit(lambda table, key: passes._sweep_edges(plan, None, table, STEP, key, carry))(
        EdgeTable.build(graph), KEY
    )
    jax.effects_barrier()
    s, t, w, use = (
        np.concatenate([x.reshape(-1) for x in xs])
        for xs in zip(
            *((e.sources[..., 0], e.targets[..., 0], e.weights, e.use[..., 0]) for e in seen), strict=True
        )
    )
    order = np.lexsort((t[use], s[use]))
    np.testing.assert_array_equal(s[use][order], graph.sources)
    np.testing.assert_array_equal(t[use][order], graph.targets)
    np.testing.assert_array_equal(w[use][order], graph.weights)
    assert not w[~use].any()
    assert counts.rejected == sum(e.rejected for e in seen)
    assert counts.pairs == sum(e.use.sum() for e in seen)
