"""The GPU kernels, interpreted on the CPU, against the engine's own step."""

import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AbstractDevice, AbstractMesh, use_abstract_mesh

from timelike import Model
from timelike.datasets import grid
from timelike.engine import gpu_step, gpu_tiles, table_storage
from timelike.engine.batch_step import take_step
from timelike.engine.config import EpochPlan
from timelike.engine.negatives import Negatives
from timelike.engine.optimizers import OPTIMIZERS, Learned, Step
from timelike.engine.table_rows import Places
from timelike.engine.table_storage import narrow, wide
from timelike.likelihoods import Cone, FermiDirac, LawLucas, TripleFermiDirac
from timelike.manifolds import AntiDeSitter, Cylinder, Euclidean, Minkowski
from timelike.training.prepare import _faster

NODES, BATCH, PAIRS, STEPS = 600, 7, 3, 2
STEP = Step(jnp.float32(0.1), jnp.float32(1.0))
MODELS = {
    "minkowski": Model(Minkowski(10), TripleFermiDirac()),
    "a circle of time": Model(Cylinder(Minkowski(5), 3.0), TripleFermiDirac()),
    "euclidean": Model(Euclidean(3), FermiDirac()),
    "law-lucas": Model(Minkowski(4), LawLucas()),
    "cone": Model(Minkowski(4), Cone()),
}


def batch():
    """Pairs with many repeated nodes, and one padding pair."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 40, (2, PAIRS * BATCH), dtype=np.int32)
    weights = rng.random((PAIRS, BATCH)).astype(np.float32)
    ends[:, 5], weights[0, 5] = NODES, 0
    return ends.reshape(-1), weights


def degrees():
    """Degrees that make 10 nodes hubs and 9 busy."""
    return np.repeat([2, 1, 0], [10, 9, NODES - 19])


def start(model, optimizer):
    points = jnp.asarray(
        np.random.default_rng(1).normal(size=(NODES, model.manifold.ambient_dim)), jnp.float32
    )
    return points, OPTIMIZERS[optimizer]().init(points)


@functools.partial(jax.jit, static_argnums=1)
def by_the_engine(model, optimizer, points, state):
    plan = EpochPlan(BATCH, Negatives(uniform=PAIRS - 1), optimizer, "last", ())
    carry = (points, state, Learned.start({}), jnp.zeros(NODES, jnp.int32))
    for _ in range(STEPS):
        carry, (likelihoods, norms) = take_step(plan, model, STEP, carry, (*map(jnp.asarray, batch()), None))
    return carry[0], carry[1], likelihoods, jnp.nansum(norms)


@functools.partial(jax.jit, static_argnums=(1, 2))
def by_kernels(model, optimizer, hubs, points, state):
    places = Places.of(degrees(), hubs=10, busy=9) if hubs else Places.none()
    packed, rest = begun = table_storage.pack(points, state)
    for _ in range(STEPS):
        packed, rest, likelihoods, norms = gpu_step.step(
            model,
            OPTIMIZERS[optimizer](),
            STEP,
            places,
            packed,
            rest,
            *map(jnp.asarray, batch()),
            interpret=True,
        )
    ended = packed, rest
    assert jax.tree.map(jnp.result_type, ended) == jax.tree.map(jnp.result_type, begun)  # to go on from
    return *table_storage.unpack(packed, rest, points.shape[1]), likelihoods, jnp.nansum(norms)


CASES = [
    ("minkowski", "adam", True),
    *(pytest.param(name, "adam", False, marks=pytest.mark.long) for name in MODELS),
    *(pytest.param("minkowski", name, True, marks=pytest.mark.long) for name in ("sgd", "adagrad")),
]


@pytest.mark.parametrize(("name", "optimizer", "hubs"), CASES)
def test_the_same_steps(name, optimizer, hubs):
    model = jax.tree.map(jnp.float32, MODELS[name])
    points, state = start(model, optimizer)
    wanted = by_the_engine(model, optimizer, points, state)
    found = by_kernels(model, optimizer, hubs, points, state)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6), found, wanted)
    assert not np.allclose(found[0], points)


@pytest.mark.long
def test_the_same_steps_on_tables_of_16_bits():
    """Sums in another order may round differently: by a unit, in a row or two."""
    model = jax.tree.map(jnp.float32, MODELS["minkowski"])
    points = narrow(start(model, "adam")[0], jnp.uint16)
    state = OPTIMIZERS["adam"]().init(points)
    wanted, found = (
        jax.tree.map(lambda x: np.asarray(wide(x), np.float32), step)
        for step in (
            by_the_engine(model, "adam", points, state),
            by_kernels(model, "adam", True, points, state),
        )
    )
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=2**-7, atol=1e-6), found, wanted)
    assert np.mean(found[0] == wanted[0]) > 0.99
    assert not np.allclose(found[0], wide(points))


@pytest.mark.parametrize("dtype", ["float32", "uint16"])
def test_packing_is_undone(dtype):
    points = narrow(start(MODELS["minkowski"], "adam")[0], dtype)
    state = jax.tree.map(lambda x: x + 1, OPTIMIZERS["adam"]().init(points))
    packed, rest = table_storage.pack(points, state)
    assert packed[0].nbytes % table_storage.REQUEST == 0
    jax.tree.map(np.testing.assert_array_equal, table_storage.unpack(packed, rest, 10), (points, state))


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:The Pallas Triton backend is deprecated")  # JAX 0.12 still has it
@pytest.mark.parametrize("dtype", ["float32", "uint16"])
def test_the_kernels_are_lowered_for_a_gpu(dtype):
    """Triton supports all operations that they use; only a GPU shows that they compile."""
    model = jax.tree.map(jnp.float32, MODELS["a circle of time"])
    points = narrow(start(model, "adam")[0], dtype)
    packed, rest = table_storage.pack(points, OPTIMIZERS["adam"]().init(points))

    def step(packed, rest):
        places = Places.of(degrees(), hubs=10, busy=9)
        optimizer = OPTIMIZERS["adam"]()
        return gpu_step.step(model, optimizer, STEP, places, packed, rest, *map(jnp.asarray, batch()))

    device = AbstractDevice("NVIDIA H200", None, "gpu")
    with use_abstract_mesh(AbstractMesh((), (), abstract_device=device)):
        text = jax.jit(step).trace(packed, rest).lower(lowering_platforms=("cuda",)).as_text()
    assert text.count("triton") >= 2


def test_where_there_are_kernels(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
    assert not gpu_step.fits(MODELS["minkowski"], dense=False)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert all(gpu_step.fits(model, dense=False) for model in MODELS.values())
    assert not gpu_step.fits(MODELS["minkowski"], dense=True)
    assert not gpu_step.fits(Model(AntiDeSitter(3), TripleFermiDirac()), dense=False)


def test_without_triton_xla_takes_the_steps(monkeypatch):
    """JAX has announced the removal of its Triton backend."""
    plan = EpochPlan(2**14, Negatives(uniform=4), "adam", "last", ())
    graph, small = grid(200, 200), grid(2, 2)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert gpu_tiles.work(interpret=True)
    assert not gpu_tiles.work()  # there is no GPU
    assert _faster(plan, MODELS["minkowski"], graph, alone=True) == plan
    monkeypatch.setattr(gpu_tiles, "work", lambda: True)
    assert _faster(plan, MODELS["minkowski"], graph, alone=True).fused
    assert _faster(plan, MODELS["minkowski"], small, alone=True) == plan  # its steps are short
    monkeypatch.setitem(sys.modules, "timelike.engine.gpu_step", None)
    assert _faster(plan, MODELS["minkowski"], graph, alone=True) == plan
