"""A few numbers that tell one training from another: `python fingerprints.py` writes them anew.

Run it only where the results are meant to change, and say so in the changelog.
"""

import json
from pathlib import Path

import jax
import numpy as np

import timelike as tl
from timelike.manifolds import MANIFOLDS

STORED = Path(__file__).with_name("fingerprints.json")
KINDS = ("double", "single")
GRAPH = tl.datasets.random_dag(12, 30, seed=0)
CONFIG = tl.Config(epochs=3, batch_size=8, burn_in=1, init_scale=1.0, learning_rate=0.05, seed=5)


def train(name: str) -> tl.Embedding:
    model = tl.Model(MANIFOLDS[name](3), tl.likelihoods.TripleFermiDirac())
    return tl.train(GRAPH, model, CONFIG, progress=False)


def fingerprint(name: str, double: bool = True) -> list[float]:
    """The losses of a short run, in double or single precision, and a weighted sum over its points."""
    with jax.enable_x64(double):
        found = train(name)
    weights = np.cos(np.arange(found.points.size)).reshape(found.points.shape)
    return [*found.history["loss"].tolist(), float(np.sum(weights * found.points))]


if __name__ == "__main__":
    both = {name: {kind: fingerprint(name, kind == "double") for kind in KINDS} for name in MANIFOLDS}
    rows = [f' "{name}": {json.dumps(numbers)}' for name, numbers in both.items()]
    STORED.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
