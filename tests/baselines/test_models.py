"""Published baseline models: formulas checked against their papers, derivatives, and training."""

import functools

import jax
import mpmath
import numpy as np
import pytest
from quick_compiling import QUICKLY

import timelike as tl
from timelike import Config, Embedding, Model, Negatives, baselines
from timelike.baselines import MODELS, Disk, EntailmentCone, Order, Poincare, Static, UmbralCone, directed
from timelike.baselines.margin_energy import half_space
from timelike.estimator.recipes import recipe
from timelike.evaluation import LabelledPairs
from timelike.manifolds import Euclidean, Hyperboloid, Minkowski, Sphere

DIM = 3


def events(model: Model, count: int = 24, scale: float = 1.5, seed: int = 0) -> np.ndarray:
    """Random points, computed once for all models of a manifold."""
    return np.asarray(_events(model.manifold, jax.random.key(seed), scale, count))


@functools.partial(jax.jit, static_argnums=3, compiler_options=QUICKLY)
def _events(manifold, key, scale, count):
    return jax.vmap(manifold.init, (0, None))(jax.random.split(key, count), scale)


@jax.jit
def _log_probs(model, p, q):
    return jax.vmap(model.log_probs)(p, q)


# Energies by the formulas of the papers, with 30 digits


def ball(x):
    """A point of the hyperboloid in the Poincaré ball."""
    return [mpmath.mpf(float(c)) / (1 + mpmath.mpf(float(x[0]))) for c in x[1:]]


def dot(x, y):
    return mpmath.fsum(a * b for a, b in zip(x, y, strict=True))


def norm(x):
    return mpmath.sqrt(dot(x, x))


def ball_distance(x, y):
    d = [a - b for a, b in zip(x, y, strict=True)]
    return mpmath.acosh(1 + 2 * dot(d, d) / ((1 - dot(x, x)) * (1 - dot(y, y))))


def order(p, q):
    return sum(max(0.0, float(a) - float(b)) ** 2 for a, b in zip(p, q, strict=True))


def disk(distance):
    def energy(p, q):  # radii are −t
        return distance(p[1:], q[1:]) - (float(q[0]) - float(p[0]))

    return energy


def on_sphere(x, y):
    x, y = ([mpmath.mpf(float(c)) for c in z] for z in (x, y))
    return mpmath.acos(dot(x, y) / norm(x) / norm(y))


def entailment_cone(p, q):
    aperture, x, y = mpmath.mpf("0.1"), ball(p), ball(q)
    xx, yy, xy = dot(x, x), dot(y, y), dot(x, y)
    gap = norm([a - b for a, b in zip(x, y, strict=True)])
    angle = (xy * (1 + xx) - xx * (1 + yy)) / (norm(x) * gap * mpmath.sqrt(1 + xx * yy - 2 * xy))
    return mpmath.acos(angle) - mpmath.asin(min(mpmath.mpf(1), aperture * (1 - xx) / norm(x)))


def umbral_cone(p, q):
    ball = mpmath.mpf("0.05")

    def upper(x):
        x = [mpmath.mpf(float(c)) for c in x]
        return 1 / (x[0] - x[1]), [c / (x[0] - x[1]) for c in x[2:]]

    (y_p, x_p), (y_q, x_q) = upper(p), upper(q)
    gap = [a - b for a, b in zip(x_p, x_q, strict=True)]
    wall = norm(gap) - y_p * mpmath.sinh(ball)
    if wall**2 + y_q**2 > (y_p * mpmath.cosh(ball)) ** 2:
        return mpmath.acosh(1 + (dot(gap, gap) + (y_p - y_q) ** 2) / (2 * y_p * y_q))
    return mpmath.asinh(wall / y_q) + ball


ENERGIES = {
    "order-embedding": order,
    "euclidean-disk": disk(lambda x, y: np.linalg.norm(x.astype(float) - y.astype(float))),
    "spherical-disk": disk(on_sphere),
    "hyperbolic-disk": disk(lambda x, y: ball_distance(ball(x), ball(y))),
    "entailment-cones": entailment_cone,
    "shadow-cones": umbral_cone,
}


def test_every_baseline_has_a_reference():
    assert ENERGIES.keys() | {"poincare-embedding", "dot-product", "twisted-time"} == MODELS.keys()


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("name", ENERGIES)
def test_losses_are_those_of_the_papers(name):
    model = MODELS[name](2)  # in two dimensions, some random pairs are in the order
    p, q = events(model, 200), events(model, 200, seed=1)
    log_prob, log_prob_not = (np.asarray(x) for x in _log_probs(model, p, q))
    with mpmath.workdps(30):
        energy = np.array([float(ENERGIES[name](a, b)) for a, b in zip(p, q, strict=True)])
    assert (energy > 0).any()
    assert (energy <= 0).any()
    margin = model.likelihood.margin
    np.testing.assert_allclose(-log_prob_not, np.maximum(margin - energy, 0), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(-log_prob, np.maximum(energy, 0), rtol=1e-7, atol=1.001e-3)
    by_energy = np.argsort(-energy[energy != 0], kind="stable")  # strict even where the loss is 0
    assert (np.argsort(log_prob[energy != 0], kind="stable") == by_energy).all()


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("alpha", [0.0, 3.0])
def test_poincare_is_the_formula_in_the_ball(alpha):
    model = Model(Hyperboloid(DIM), Poincare(r=1.5, tau=0.3, alpha=alpha))
    p, q = events(model), events(model, seed=1)
    found = np.exp(_log_probs(model, p, q)[0])
    for a, b, prob in zip(p, q, found, strict=True):
        with mpmath.workdps(30):
            x, y = ball(a), ball(b)
            score = (1 + alpha * (norm(x) - norm(y))) * ball_distance(x, y)
            expected = 1 / (mpmath.exp((score - 1.5) / 0.3) + 1)
        assert prob == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.usefixtures("x64")
def test_half_space_keeps_distances():
    model = MODELS["shadow-cones"](DIM)
    p, q = events(model, scale=4.0), events(model, scale=4.0, seed=1)
    (y, x), (v, u) = (jax.jit(jax.vmap(half_space))(z) for z in (p, q))
    cosh = 1 + (np.sum((x - u) ** 2, axis=1) + (y - v) ** 2) / (2 * y * v)
    expected = jax.jit(jax.vmap(model.manifold.distance))(p, q)
    np.testing.assert_allclose(np.arccosh(cosh), expected, rtol=1e-8)


# The product of a time axis and a space


METHODS = {
    "separation": "pq",
    "inner": "pvv",
    "gradient": "pv",
    "exp": "pv",
    "log": "pq",
    "project": "p",
    "to_tangent": "pv",
    "transport": "pqv",
    "residual": "p",
}


@pytest.mark.usefixtures("x64")
def test_time_and_flat_space_are_minkowski():
    made, known = Static(Euclidean(2)), Minkowski(3)
    p, q, v = np.random.default_rng(0).normal(size=(3, 8, 3))

    @jax.jit
    def everything(m):
        return [
            jax.vmap(getattr(m, method))(*({"p": p, "q": q, "v": v}[letter] for letter in letters))
            for method, letters in METHODS.items()
        ]

    jax.tree.map(
        functools.partial(np.testing.assert_allclose, atol=1e-12), everything(made), everything(known)
    )
    assert (made.dim, made.ambient_dim, made.signature) == (known.dim, known.ambient_dim, known.signature)


# Derivatives


@jax.jit
def _derivatives(model, p, q):
    def both(p, q):
        log_prob, log_prob_not = model.log_probs(p, q)
        return log_prob + log_prob_not, (log_prob, log_prob_not)

    return jax.vmap(jax.value_and_grad(both, (0, 1), has_aux=True))(p, q)


@pytest.mark.parametrize("name", MODELS)
def test_derivatives_are_finite_everywhere(name):
    model = MODELS[name](DIM)
    some, origin = events(model, 8), np.asarray(model.manifold.origin())[None].repeat(8, 0)
    close = some * np.float32(1 + 1e-6)
    far = events(model, 8, scale=6.0, seed=2)
    edge = events(model, 8, scale=0.2 / np.sqrt(3), seed=3)  # where cones are half-spaces
    tables = (some, origin, close, far, edge)
    p = np.concatenate([a for a in tables for _ in tables])
    q = np.concatenate([b for _ in tables for b in tables])
    assert all(np.isfinite(x).all() for x in jax.tree.leaves(_derivatives(model, p, q)))


# Used like any other model


@pytest.mark.parametrize("name", MODELS)
def test_saved_and_queried_like_any_other_model(name, tmp_path):
    model = MODELS[name](DIM)
    made = Embedding(model, events(model, 8).astype(np.float32), list("abcdefgh"), {}, {})
    made.save(tmp_path / "model")
    again = Embedding.load(tmp_path / "model")
    assert again.model == model
    if name not in ("spherical-disk", "entailment-cones"):  # one of each kind: the rest compiles slowly
        return
    best = again.top_targets("a", 7)
    expected, _ = _log_probs(model, made.points[:1].repeat(7, 0), made.points[1:])
    np.testing.assert_allclose(sorted(np.exp(expected))[::-1], [p.probability for p in best], rtol=2e-4)


def test_numbers_used_only_in_scores_do_not_break_training():
    """XLA kills the process if a kernel has an unused argument."""
    graph = tl.DiGraph.from_arrays([0, 0, 1, 2], [1, 2, 3, 4])
    run = tl.train(graph, MODELS["poincare-embedding"](DIM), Config(epochs=1, batch_size=2), progress=False)
    assert np.isfinite(run.points).all()


@pytest.mark.parametrize("likelihood", [Order(), EntailmentCone(), Poincare(), UmbralCone(), Disk()])
def test_each_likelihood_requires_its_space(likelihood):
    kind = type(likelihood).__name__
    with pytest.raises(TypeError, match=rf"{kind} .*Quadric\(negatives=0"):
        Model(Sphere(3), likelihood)


def test_recipes_know_the_baselines():
    model, config = recipe("spherical-disk", 5)
    assert model == MODELS["spherical-disk"](5)
    assert isinstance(config, Config)
    with pytest.raises(ValueError, match=r"likelihood is 'law-lucas'.*order-embedding"):
        recipe("order-embedding", 5, "law-lucas")


def test_is_a_score_is_chosen_by_validation():
    """Nodes on rays: distance alone does not distinguish parents from children."""
    rays, steps = np.linspace(0, 2 * np.pi, 6)[:-1], np.arange(1, 5) * 0.5
    place = np.array([[np.sinh(s) * np.cos(a), np.sinh(s) * np.sin(a)] for a in rays for s in steps])
    points = np.concatenate([np.sqrt(1 + np.sum(place**2, 1, keepdims=True)), place], 1).astype(np.float32)
    up = np.array([[4 * ray + i, 4 * ray + i + 1] for ray in range(5) for i in range(3)])
    valid = LabelledPairs.build(up, up[:, ::-1])
    plain = Embedding(MODELS["poincare-embedding"](2), points, None, {}, {})
    found = directed(plain, valid)
    assert found.model.likelihood.alpha > 0
    assert (found.log_prob(*up.T) > found.log_prob(*up[:, ::-1].T)).all()
    np.testing.assert_allclose(plain.log_prob(*up.T), plain.log_prob(*up[:, ::-1].T), rtol=1e-5)


def test_warm_starts_are_points():
    warm = events(MODELS["poincare-embedding"](DIM), scale=3.0).astype(np.float32)
    near = baselines.rescaled(warm, 0.7)
    MODELS["entailment-cones"](DIM).manifold.check_points(near)
    radius = np.linalg.norm(near[:, 1:], axis=1) / (1 + near[:, 0])
    np.testing.assert_allclose(
        radius, 0.7 * np.linalg.norm(warm[:, 1:], axis=1) / (1 + warm[:, 0]), rtol=1e-4
    )


@pytest.mark.slow
def test_training_can_start_from_points():
    graph = tl.datasets.chain(4)
    model, config = MODELS["order-embedding"](2), Config(epochs=1, learning_rate=1e-9, burn_in=0)
    start = np.arange(8, dtype=np.float32).reshape(4, 2)
    found = tl.train(graph, model, config, start=start, progress=False)
    np.testing.assert_allclose(found.points, start, atol=1e-5)


def test_invalid_starts_are_rejected():
    graph, model, start = tl.datasets.chain(4), MODELS["order-embedding"](2), np.zeros((4, 2), np.float32)
    with pytest.raises(ValueError, match=r"start has shape \(3, 2\).* 4 "):
        tl.train(graph, model, start=start[:3], progress=False)
    with pytest.raises(ValueError, match=r"start\[1\] is .*nan.*finite"):
        tl.train(graph, model, start=np.where(np.eye(4, 2, -1), np.nan, start), progress=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_training_separates_a_tree(name):
    graph = tl.datasets.transitive_closure(tl.datasets.tree(branching=3, depth=3))
    others = Negatives(same_source=2, same_target=2)
    config = Config(
        epochs=200, batch_size=32, learning_rate=0.05, optimizer="adam", init_scale=0.3, final_rate=0.01,
        burn_in=0, negatives=others,
    )  # fmt: skip
    found = tl.train(graph, MODELS[name](4), config, progress=False)
    edges = np.stack([graph.sources, graph.targets], axis=1)
    non_edges = tl.evaluation.draw_negatives("uniform", graph, edges, 4)
    pairs = LabelledPairs.build(edges, np.concatenate([non_edges, edges[:, ::-1]]))
    found = directed(found, pairs) if name == "poincare-embedding" else found
    score = tl.evaluate(found, pairs, known=graph)
    assert score.average_precision > (0.8 if name == "poincare-embedding" else 0.9)
