"""A radius for every node: is the light cone of some nodes wider than that of others?

python -m experiments.mass --out OUT [--only TEXT]    # a file for each graph; an accelerator is faster

Two more numbers of a node, aₚ as a source and bₚ as a target, move the border of the cone: s² − w(aₚ + b_q)
stands in the place of s² in the Triple Fermi-Dirac function. They are learned like coordinates; w = `weight`.
With the same number of settings (`estimator.portfolio`), the best by validation is trained with fresh
seeds: without radii at d = 10, without radii at d = 12, which has as many numbers for a node, and with radii.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
from pathlib import Path
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

from timelike.core.likelihood import Likelihood, LogProb
from timelike.core.manifold import Manifold, Point, Separation
from timelike.core.model import Model
from timelike.core.numerics import log1mexp, log_sigmoid, log_sum_exp
from timelike.core.struct import POSITIVE, REAL, UNIT, Number, number, static, struct, with_numbers
from timelike.estimator.portfolio import portfolio
from timelike.estimator.recipes import negatives_like, recipe
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import Cylinder, Flat, Minkowski
from timelike.reproduce.link_prediction import load_split
from timelike.training.sweeps import sweep

#: Data, seed of the split or of the graph, geometry.
TASKS = [
    *(("duplication-divergence", seed, "cylindrical-minkowski") for seed in (25, 26, 27, 28)),
    ("dream5:ecoli", 14, "cylindrical-minkowski"),
    ("dream5:yeast", 13, "minkowski"),
    ("dream5:in-silico", 14, "minkowski"),
]
DIM, FINALS, FIRST = 10, 6, 100
#: What is compared: dimension, weights of the radii, seeds of the search. Each has 12 runs.
KINDS: dict[str, tuple[int, tuple[float, ...], tuple[int, ...]]] = {
    "plain": (DIM, (0.0,), (0, 1)),
    "wider": (DIM + 2, (0.0,), (0, 1)),
    "radii": (DIM, (0.3, 1.0), (0,)),
}


@struct
class WithRadii(Likelihood):
    """σ(logit F) where F is the Triple Fermi-Dirac function of (s² − w(aₚ + b_q), Δt), summed over images.

    The last two coordinates of a point in flat space are a and b. `rolled`: time is a circle.
    """

    decays_in_time: ClassVar[bool] = False

    rolled: int = static()
    tau1: Number = number(default=0.15, domain=POSITIVE)
    tau2: Number = number(default=0.05, domain=POSITIVE)
    alpha: Number = number(default=0.06, domain=UNIT)
    r: Number = number(default=0.0, domain=REAL)
    weight: Number = number(default=0.0, domain=REAL)
    circumference: Number = number(default=10.0, domain=POSITIVE)

    def separation(self, manifold: Manifold, p: Point, q: Point) -> Separation:
        """logit F in the place of the interval; there is no time."""
        d = manifold.dim - 2
        base = Flat(1, d - 1)
        space = Cylinder(base, self.circumference) if self.rolled else base
        found = space.separation(p[:d], q[:d])
        interval = found.interval - self.weight * (p[d] + q[d + 1])
        numbers = {name: getattr(self, name) for name in ("tau1", "tau2", "alpha", "r")}
        triple = with_numbers(TripleFermiDirac(), numbers)
        log_prob = log_sum_exp(triple.log_prob(Separation(interval, found.time)))
        odds = (log_prob - log1mexp(log_prob))[None]
        return Separation(odds, jnp.zeros_like(odds))

    def log_probs(self, separation: Separation) -> tuple[LogProb, LogProb]:
        """log F and log(1 − F)."""
        return log_sigmoid(separation.interval), log_sigmoid(-separation.interval)


def compare(data: str, seed: int, geometry: str) -> dict[str, Any]:
    """Validation and test AP in percent over fresh seeds, of each kind with its best settings."""
    split = load_split(data, seed, None)
    _, config = recipe(geometry, DIM, graph=split.train)
    config = dataclasses.replace(config, negatives=negatives_like(split.valid, split.train))
    found = {}
    for kind, (dim, weights, seeds) in KINDS.items():
        model = Model(Minkowski(dim + 2), WithRadii(int(geometry != "minkowski")))
        grid = itertools.product(weights, portfolio(geometry), seeds)
        runs = [{**run, "weight": weight, "seed": one} for weight, run, one in grid]
        rows = sweep(split.train, model, config, runs, valid=split.valid, progress=False).rows
        best = runs[int(np.argmax([row["valid_ap"] for row in rows]))]
        fresh = [{**best, "seed": FIRST + i % FINALS} for i in range(len(runs))]  # as many: the same program
        ends = sweep(split.train, model, config, fresh, valid=split.valid, test=split.test, progress=False)
        scores = {name: [100 * row[f"{name}_ap"] for row in ends.rows[:FINALS]] for name in ("valid", "test")}
        found[kind] = {"weight": best["weight"]} | {
            name: [round(float(np.mean(x)), 2), round(float(np.std(x)), 2)] for name, x in scores.items()
        }
    return {"dataset": data, "split": seed, "geometry": geometry, **found}


def main() -> None:
    """Compare what is left to compare, and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for task in TASKS:
        file = given.out / ("-".join(map(str, task)).replace(":", "-") + ".json")
        if given.only not in file.name:
            continue
        if not file.exists():
            file.write_text(json.dumps(compare(*task)))
        print(file.read_text())


if __name__ == "__main__":
    main()
