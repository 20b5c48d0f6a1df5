"""Gradients summed by node: hubs use several rows, padding none; also for stacked runs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from timelike.engine.table_rows import COMPANY, COPIES, CROWD, HUBS, MORE_COPIES, Places, sum_by_node


@pytest.mark.parametrize("nodes", [5, HUBS + 200])
def test_sums_are_those_of_a_loop(nodes):
    rng = np.random.default_rng(nodes)
    rows = rng.choice(nodes + 1, (2, 3000), p=_many_hubs(nodes))  # the last number is padding
    values = rng.normal(size=(2, 3000, 2)).astype(np.float32)
    places = Places.of(np.bincount(rows[0], minlength=nodes)[:nodes], HUBS)
    expected = np.zeros((2, nodes + 1, 2))
    for lane in range(2):
        np.add.at(expected[lane], rows[lane], values[lane])
    found = jax.vmap(sum_by_node, (None, 0, 0))(places, jnp.asarray(rows, jnp.int32), values)
    np.testing.assert_allclose(found, expected[:, :nodes], atol=1e-4)
    np.testing.assert_allclose(sum_by_node(places, jnp.asarray(rows[0]), values[0]), found[0], atol=1e-4)


def _many_hubs(nodes):
    weights = 1 / np.arange(1, nodes + 2)
    return weights / weights.sum()


def test_hubs_are_the_nodes_of_highest_degree():
    degrees = np.arange(HUBS + 3)
    places = np.asarray(Places.of(degrees, HUBS).of_node)
    np.testing.assert_array_equal(np.flatnonzero(places < len(degrees)), [0, 1, 2])
    assert places[-1] == len(degrees)
    assert places.max() == len(degrees) + COPIES * (HUBS - 1)


def test_there_are_as_many_hubs_and_busy_nodes_as_a_step_has():
    degrees = np.stack([np.zeros(7, int), [500, 400, 40, 30, 20, 3, 2]])
    found = Places.for_steps(degrees, rows=1000)  # as many rows as edge ends
    assert (found.hubs, found.busy, found.size) == (2, 3, 2 * MORE_COPIES + 3)
    assert 400 > CROWD > 40
    assert 20 > COMPANY > 3
    busy = 7 + 2 * MORE_COPIES
    np.testing.assert_array_equal(found.of_node, [7, 7 + MORE_COPIES, busy, busy + 1, busy + 2, 5, 6])
    assert Places.for_steps(degrees, rows=10).size == 0
