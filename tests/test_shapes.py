"""Every annotated shape is correct: jaxtyping and beartype check each call of the package.

The checks run in a separate process because they replace our own error messages and accept only JAX arrays.
Tracing reveals all shapes, so nothing is compiled.
"""

import subprocess
import sys

SCRIPT = """
from jaxtyping import install_import_hook
install_import_hook("timelike", "beartype.beartype")

import jax, jax.numpy as jnp
from timelike import Model
from timelike.likelihoods import LIKELIHOODS, TripleFermiDirac
from timelike.manifolds import MANIFOLDS, AntiDeSitter, Minkowski

def everything(model, p, q, v):
    m = model.manifold
    return [
        m.inner(p, v, v), m.separation(p, q), m.distance(p, q), m.gradient(p, v), m.exp(p, v),
        m.log(p, q), m.geodesic(p, q, 0.5), m.transport(p, q, v), m.project(p), m.to_tangent(p, v),
        m.residual(p), m.init(jax.random.key(0)), model.saturated(p, q), model.prob(p, q),
        jax.grad(lambda model: sum(model.log_probs(p, q)))(model),
    ]

models = [Model(make(3), TripleFermiDirac()) for make in MANIFOLDS.values()]
models += [Model(AntiDeSitter(3), make()) for make in LIKELIHOODS.values()]
for model in models:
    x = jnp.ones((5, model.manifold.ambient_dim))
    jax.eval_shape(jax.jit(jax.vmap(everything, (None, 0, 0, 0))), model, x, x, x)

try:
    Minkowski(3).exp(jnp.ones(3), jnp.ones(4))
except Exception as error:
    assert type(error).__name__ == "TypeCheckError", error
else:
    raise AssertionError("shapes were not checked")
"""


def test_annotated_shapes_are_correct():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
