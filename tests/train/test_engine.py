"""Rows of tables, steps, epochs and scores: against dense sums, the NumPy reference and scikit-learn."""

import dataclasses
import functools
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import reference
from graphs import pairs_last, random_graph
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import average_precision_score
from steps import compiled, make_plan

from timelike import Config, DiGraph, Model, Negatives
from timelike.engine import epoch as engine
from timelike.engine import passes, table_rows
from timelike.engine.epoch import average_precision_on_device
from timelike.engine.optimizers import heating, schedule
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import AntiDeSitter, Minkowski
from timelike.training import prepare, training_loop

# Rows of a table


def random_rows(rng, nodes, count):
    """Row numbers with repeats; some are padding, with values 0."""
    rows = rng.integers(0, nodes + 2, count, dtype=np.int32)
    return rows, np.where(rows[:, None] < nodes, rng.normal(size=(count, 3)), 0).astype(np.float32)


WRITING = {"at once": table_rows.AT_ONCE, "in turn": table_rows.IN_TURN}


@pytest.mark.parametrize("writing", WRITING)
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("nodes", [7, 20, 30])
def test_repeated_rows_get_their_summed_gradient(nodes, known, writing):
    """By the table in order if it is the smaller one, by entry otherwise, which may be `known` in advance."""
    add_up = jax.jit(functools.partial(table_rows.sum_repeated, writing=WRITING[writing]))
    rng, slots = np.random.default_rng(0), jnp.zeros(nodes, jnp.int32)
    for _ in range(50):
        rows, values = random_rows(rng, nodes, 20)
        dense = np.zeros((nodes + 2, 3))
        np.add.at(dense, rows, values.astype(np.float64))
        first = table_rows.first_entries(rows[None])[0] if known else None
        slots, own, found = jax.device_get(add_up(slots, rows, values, first))  # old slots do no harm
        kept = own < nodes
        np.testing.assert_array_equal(np.sort(own[kept]), np.unique(rows[rows < nodes]))
        np.testing.assert_allclose(found[kept], dense[own[kept]], atol=1e-6)
        assert len(own) == min(nodes, 20)


def test_rows_of_many_tables_are_rows_of_each():
    rng = np.random.default_rng(1)
    table = rng.normal(size=(4, 7, 3)).astype(np.float32)
    rows, values = (np.stack(x) for x in zip(*(random_rows(rng, 7, 20) for _ in range(4)), strict=True))
    read, added = (
        jax.vmap(table_rows.get_rows)(table, rows),
        jax.vmap(table_rows.add_rows)(table, rows, values),
    )
    one_row = jax.vmap(table_rows.set_rows, in_axes=(0, None, 0))(table, rows[0, :1], values[:, :1])
    for i in range(4):
        np.testing.assert_array_equal(read[i], table[i, np.minimum(rows[i], 6)])
        expected = np.concatenate([table[i], np.zeros((2, 3), np.float32)])
        np.add.at(expected, rows[i], values[i])
        np.testing.assert_allclose(added[i], expected[:7], atol=1e-6)
        expected = np.array(table[i])
        expected[rows[0, 0]] = values[i, 0]
        np.testing.assert_array_equal(one_row[i], expected)


# A step


def test_an_edge_of_weight_2_counts_as_two_edges(x64):
    model, points = Model(Minkowski(2), TripleFermiDirac()), jnp.asarray([[0.0, 0], [0.1, 0.2], [0.3, -0.1]])
    plan = make_plan("sgd", 2, 3)
    none = [3, 3, 3]

    def after(sources, targets, weights):
        sources, targets = jnp.asarray([sources]), jnp.asarray([targets])
        inputs = sources, targets, sources < 3, jnp.asarray([weights]), jnp.asarray([0.01])
        return compiled(plan, model, jnp.inf, points, inputs)[0][0][0]

    twice = after([[0, 1, 0], [0, 1, 0]], [[1, 2, 2], [1, 2, 2]], [1.0, 1.0])
    double = after([[0, 1, 0], none], [[1, 2, 2], none], [2.0, 0.0])
    np.testing.assert_allclose(double, twice, rtol=1e-14)
    assert not np.allclose(twice, points, atol=1e-3)


# An epoch

ADS = Model(AntiDeSitter(3, radius=0.8), TripleFermiDirac(tau1=0.4, tau2=0.25, alpha=0.3, r=-0.1))
CONFIG = Config(epochs=4, batch_size=3, learning_rate=0.05, burn_in=1, init_scale=0.5, optimizer="adam")


@functools.cache
def three_epochs(nodes):
    """Weighted edges among the first 8 of these nodes, learned for 3 epochs: states, reports, all batches."""
    small = random_graph(8, 23, weighted=True)
    graph = DiGraph(small.sources, small.targets, nodes, weights=small.weights)
    config = dataclasses.replace(CONFIG, negatives=Negatives(degree=2, reversed=1))
    plan, data = prepare.prepare(graph, ADS, config, None, None, None, alone=True)
    assert plan.in_one_kernel
    numbers, seen, original = prepare.make_numbers(ADS, config), [], passes.draw_examples

    def recorded(*arguments):
        examples = original(*arguments)
        jax.debug.callback(lambda x: seen.append(pairs_last(x)), examples, ordered=True)
        return examples

    states, reports, blocks = [engine.init_state(plan, numbers, nodes)], [], []
    with (
        mock.patch.object(passes, "draw_examples", recorded),
        mock.patch.object(passes, "PAIRS_PER_BLOCK", 60),
    ):
        run = jax.jit(functools.partial(engine.run_epoch, plan))
        for _ in range(3):
            state, report = jax.device_get(run(numbers, data, states[-1]))
            jax.effects_barrier()
            states.append(state)
            reports.append(report)
            blocks.append([*seen])
            seen.clear()
    return jax.device_get(states), reports, blocks


@pytest.mark.parametrize("nodes", [10, 40])  # a step has 24 rows: all nodes of the table, or some
def test_an_epoch_is_its_batches_one_after_the_other(x64, nodes):
    states, reports, blocks = three_epochs(nodes)
    numbers = dataclasses.asdict(ADS.likelihood)
    space = reference.Quadric(3, 2, -1, 0.8)
    run = reference.Reference(space, "triple-fermi-dirac", numbers, "adam", states[0].points.copy())
    for epoch in range(3):
        run.loss = run.norms = run.rows = run.saturated = 0
        rate = 0.05 * (0.01 if epoch == 0 else 1) * (1 - 0.75 * epoch / 3)
        assert len(blocks[epoch]) > 1
        for block in blocks[epoch]:
            for batch in zip(*block[:4], strict=True):
                run.step(*batch, rate, np.inf)
        report, every = reports[epoch], blocks[epoch]
        np.testing.assert_allclose(states[epoch + 1].points, run.points, rtol=0, atol=1e-12)
        np.testing.assert_allclose(report.loss, run.loss, rtol=1e-12)
        np.testing.assert_allclose(report.gradient_norm, run.norms / run.rows, rtol=1e-12)
        np.testing.assert_allclose(report.saturated, run.saturated / sum(b.use.sum() for b in every))
        assert report.rejected == sum(b.rejected for b in every)
        assert report.left_out == 4 * 23 - sum(b.use.sum() for b in every)
        assert report.off_surface < 1e-14


@pytest.mark.parametrize("nodes", [10, 40])
def test_rows_that_no_batch_touches_keep_their_bits(x64, nodes):
    states, _, _ = three_epochs(nodes)
    first, last = states[0], states[-1]
    for before, after in (
        (first.points, last.points),
        *zip(first.optimizer[1:], last.optimizer[1:], strict=True),
    ):
        np.testing.assert_array_equal(before[8:], after[8:])
        assert (before[:8] != after[:8]).any(axis=1).all()


@pytest.mark.parametrize("learn", [(), ("tau1",)])
def test_what_is_one_kernel_has_nothing_that_cannot_be(learn):
    """XLA does not say no to a scatter or a sort in it: it breaks down."""
    config = dataclasses.replace(CONFIG, learn=learn)
    plan, data = prepare.prepare(random_graph(8, 23), ADS, config, None, None, None, alone=True)
    numbers = prepare.make_numbers(ADS, config)
    state = jax.eval_shape(functools.partial(engine.init_state, plan, num_nodes=8), numbers)
    text = training_loop._compiled(plan).lower(numbers, data, state).as_text()
    assert text.count("xla_cpu_small_call") == 1
    assert not any(f"stablehlo.{operation}" in text for operation in ("scatter", "sort", "custom_call"))


def test_the_learning_rate_burns_in_and_falls_to_a_quarter():
    factors = np.array([schedule(epoch, 5, 2) for epoch in range(5)])
    np.testing.assert_allclose(factors, [0.01, 0.008125, 0.625, 0.4375, 0.25])
    assert schedule(0, 1, 0) == 1


def first_loss(model=None, **settings):
    """The loss of one epoch that hardly moves a point."""
    config = Config(epochs=10, learning_rate=1e-9, **settings)
    plan, data = prepare.prepare(random_graph(30, 60), MODEL, config, None, None, None)
    numbers = prepare.make_numbers(model or MODEL, config)
    return float(
        training_loop._compiled(plan)(numbers, data, training_loop._initial(plan, 30)(numbers))[1].loss
    )


def first_points():
    config = Config()
    return training_loop._initial(config.epoch_plan(False, False), 30)(
        prepare.make_numbers(MODEL, config)
    ).points


MODEL = Model(Minkowski(3), TripleFermiDirac())


def test_temperatures_are_annealed():
    np.testing.assert_allclose([heating(epoch, 10, 4.0) for epoch in (0, 3, 6, 9)], [4, 2, 1, 1], rtol=1e-6)
    warm = Model(Minkowski(3), TripleFermiDirac(tau1=0.45, tau2=0.15))
    assert first_loss(anneal=3.0) == pytest.approx(first_loss(warm), rel=1e-6)
    assert first_loss(anneal=3.0) != pytest.approx(first_loss(), rel=1e-3)


@pytest.mark.long
def test_negatives_count_by_their_weight():
    graph, points = random_graph(30, 60), first_points()
    edges = -float(jnp.sum(jax.vmap(MODEL.log_prob)(points[graph.sources], points[graph.targets])))
    one, two = first_loss(), first_loss(negatives=Negatives(uniform=4, weights={"uniform": 2.0}))
    assert two == pytest.approx(edges + 2 * (one - edges), rel=1e-5)


# Scores

_average_precision = jax.jit(average_precision_on_device)


@settings(max_examples=200)
@given(
    hnp.arrays(
        np.float32,
        24,
        elements=st.sampled_from([-3.5, -1, -0.25, 0, 0.5, 2])
        | st.floats(-9, 9, width=32, allow_subnormal=False),
    ),
    hnp.arrays(bool, 24),
)
def test_average_precision_is_scikit_learns(scores, labels):
    assume(labels.any())
    expected = average_precision_score(labels, scores)
    np.testing.assert_allclose(_average_precision(scores, labels), expected, rtol=1e-6)


@pytest.mark.parametrize("positives", [1, 12, 24])
@pytest.mark.parametrize("scores", [np.zeros(24), np.arange(24.0), -np.arange(24.0)])
def test_average_precision_of_ties_and_of_one_positive(scores, positives):
    labels = np.arange(24) < positives
    expected = average_precision_score(labels, scores)
    np.testing.assert_allclose(_average_precision(scores.astype(np.float32), labels), expected, rtol=1e-6)
