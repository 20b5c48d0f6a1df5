"""100 random steps of the engine against the NumPy reference: every manifold, likelihood and optimiser."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import reference
from quick_compiling import QUICKLY
from steps import compiled, make_plan, one_by_one

import timelike.engine.batch_step
from timelike.core.model import Model
from timelike.engine import table_rows
from timelike.engine.batch_step import batch_loss
from timelike.engine.config import EpochPlan
from timelike.engine.optimizers import OPTIMIZERS, update_rows
from timelike.engine.table_rows import sum_by_node
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import MANIFOLDS

DIM, PAIRS, STEPS = 3, 4, 100

#: Nodes, and edges per step. A step on at least as many rows as nodes updates the whole table; other steps
#: update their rows, and short ones know in advance which rows are the same node.
FEW_NODES, SHORT, LONG = (12, 5), (60, 5), (60, 7)

#: name → (numbers of our manifold, the reference's own geometry).
SPACES = {
    "euclidean": ({}, reference.Flat(DIM, 0)),
    "minkowski": ({}, reference.Flat(DIM, 1)),
    "cylindrical-euclidean": ({"circumference": 1.9}, reference.Flat(DIM, 0, 1.9)),
    "cylindrical-minkowski": ({"circumference": 1.9}, reference.Flat(DIM, 1, 1.9)),
    "sphere": ({"radius": 1.3}, reference.Quadric(DIM, 0, 1, 1.3)),
    "hyperboloid": ({"radius": 1.3}, reference.Quadric(DIM, 1, -1, 1.3)),
    "de-sitter": ({"radius": 1.3}, reference.Quadric(DIM, 1, 1, 1.3)),
    "anti-de-sitter": ({"radius": 0.8}, reference.Quadric(DIM, 2, -1, 0.8)),
    "two-time-hyperboloid": ({"radius": 0.8}, reference.Quadric(DIM, 3, -1, 0.8)),
}

CLIP = 1.0

#: The state of an optimiser, in the order of the reference's tables.
MEMORY = {
    "sgd": lambda state: (),
    "adam": lambda state: (state.mu, state.nu),
    "dense-adam": lambda state: (state.mu, state.nu),
    "adagrad": lambda state: (np.zeros_like(state.sum_of_squares), state.sum_of_squares),
}

#: k > 1 lets the triple Fermi–Dirac function pass 1, so that some pairs saturate.
LIKELIHOOD_NUMBERS = {
    "fermi-dirac": {"tau": 0.3, "r": 0.2, "alpha": 0.7},
    "triple-fermi-dirac": {"tau1": 0.4, "tau2": 0.25, "alpha": 0.3, "r": -0.1, "k": 1.3},
    "law-lucas": {"tau1": 0.4, "tau2": 0.25},
    "cone": {"tau1": 0.6, "tau2": 0.25, "alpha": 0.3, "beta": 0.2, "r": 0.1, "k": 0.9},
}


def batches(rng, nodes, batch):
    """Fixed random batches: repeated nodes, masked pairs (all self-pairs), weights, and some padding."""
    sources, targets = rng.integers(0, nodes, (2, STEPS, batch, PAIRS), dtype=np.int32)
    use = (sources != targets) & (rng.random(sources.shape) < 0.85)
    weights = rng.choice([0.5, 1.0, 2.0], (STEPS, batch))
    padding = rng.random((STEPS, batch)) < 0.05
    sources[padding], targets[padding], use[padding], weights[padding] = nodes, nodes, False, 0.0
    return sources, targets, use, weights


def rates(rng):
    """Learning rates that differ by step; three are so high that steps are shortened."""
    values = rng.uniform(0.005, 0.03, STEPS)
    values[[3, 33, 66]] = 5.0
    return values


#: The pieces of a step, each compiled once for all combinations that share it.
quickly = functools.partial(jax.jit, compiler_options=QUICKLY)
PIECES = {
    "batch_loss": quickly(batch_loss),
    "update_rows": quickly(update_rows, static_argnums=1),
    "sum_by_node": quickly(sum_by_node),
    **{name: quickly(getattr(table_rows, name)) for name in ("get_rows", "get_state")},
    **{
        name: quickly(getattr(table_rows, name), static_argnums=4)
        for name in ("sum_repeated", "put_rows", "put_state")
    },
}
FIRST_ENTRIES = jax.jit(table_rows.first_entries)
TRANSFORMATION = functools.cache(EpochPlan.transformation)


@pytest.fixture
def compiled_pieces(monkeypatch):
    for name, piece in PIECES.items():
        monkeypatch.setattr(timelike.engine.batch_step, name, piece)
    monkeypatch.setattr(table_rows, "first_entries", FIRST_ENTRIES)
    monkeypatch.setattr(EpochPlan, "transformation", TRANSFORMATION)


def compare(steps, manifold, likelihood, optimizer, sizes=SHORT, in_one_kernel=True, tolerance=1e-12):
    nodes, batch_size = sizes
    numbers, space = SPACES[manifold]
    values = LIKELIHOOD_NUMBERS[likelihood]
    model = Model(MANIFOLDS[manifold](DIM, **numbers), LIKELIHOODS[likelihood](**values))
    rng = np.random.default_rng([len(manifold), len(likelihood), len(optimizer)])
    points = np.array([space.random_point(rng) for _ in range(nodes)])
    inputs = (*batches(rng, nodes, batch_size), rates(rng))
    plan = make_plan(optimizer, batch_size, PAIRS, in_one_kernel)
    (trail, losses, saturated, norms), (_, state, _, _) = steps(
        plan, model, CLIP, jnp.asarray(points), inputs
    )

    run = reference.Reference(space, likelihood, values, optimizer, points)
    for found, batch in zip(trail, zip(*inputs, strict=True), strict=True):
        run.step(*batch, CLIP)
        assert_close(found, run.points, tolerance)
    for found, table in zip(MEMORY[optimizer](state), (run.first, run.second), strict=False):
        assert_close(found, table, tolerance)
    assert_close(losses.sum(), run.loss, tolerance)
    # Near an antipode of de Sitter the slope of the arc diverges and arccos(⟨p, q⟩) loses digits.
    assert_close(norms.sum(), run.norms, 1e-10)
    assert saturated.sum() == run.saturated
    assert run.clipped > 0
    assert run.shortened > 0


def assert_close(found, expected, tolerance=1e-12):
    """Equal up to `tolerance` of the largest number."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def combinations():
    """Every likelihood on every manifold: the gradients. Every optimiser on every manifold: the update."""
    assert len(OPTIMIZERS) <= len(LIKELIHOODS)
    for i, manifold in enumerate(MANIFOLDS):
        for j, likelihood in enumerate(LIKELIHOODS):
            yield manifold, likelihood, [*OPTIMIZERS][(i + j) % len(OPTIMIZERS)]


@pytest.mark.parametrize(("manifold", "likelihood", "optimizer"), [*combinations()])
def test_every_step_equals_the_reference(x64, compiled_pieces, manifold, likelihood, optimizer):
    compare(one_by_one, manifold, likelihood, optimizer)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [FEW_NODES, SHORT, LONG])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("likelihood", LIKELIHOODS)
@pytest.mark.parametrize("manifold", MANIFOLDS)
def test_every_combination_equals_the_reference(x64, compiled_pieces, manifold, likelihood, optimizer, sizes):
    # A few of the pairs lie near an antipode, where the reference's arccos loses digits.
    compare(one_by_one, manifold, likelihood, optimizer, sizes, tolerance=1e-11)


@pytest.mark.parametrize(
    ("combination", "sizes", "in_one_kernel"),
    [
        (("cylindrical-minkowski", "triple-fermi-dirac", "sgd"), FEW_NODES, True),
        (("anti-de-sitter", "triple-fermi-dirac", "adam"), SHORT, True),
        (("minkowski", "triple-fermi-dirac", "adagrad"), LONG, True),
        (("minkowski", "fermi-dirac", "adam"), LONG, False),
        (("euclidean", "fermi-dirac", "adam"), FEW_NODES, False),
        (("minkowski", "cone", "dense-adam"), SHORT, False),
    ],
)
def test_one_program_of_100_steps_equals_the_reference(x64, combination, sizes, in_one_kernel):
    compare(compiled, *combination, sizes, in_one_kernel)


def test_the_lists_are_complete():
    assert set(SPACES) == set(MANIFOLDS)
    assert set(LIKELIHOOD_NUMBERS) == set(LIKELIHOODS)
    assert set(MEMORY) == set(OPTIMIZERS)
