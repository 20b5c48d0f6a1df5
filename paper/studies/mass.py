"""Does link prediction improve if every node has a light cone of its own width?

python -m paper.studies.mass --out OUT [--only TEXT]    # one file for each graph; an accelerator is faster

Every node gets two more numbers, aₚ as a source and bₚ as a target, which move the border of its cone:
s² − w(aₚ + b_q) replaces s² in the triple Fermi-Dirac function. They train like coordinates; w = `weight`.
Three models are compared, each with equally many settings and fresh seeds for the best by validation:
d = 10, d = 12 (as many numbers for a node as with radii), and d = 10 with radii.
"""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path
from typing import Any, ClassVar

import jax
import numpy as np

import timelike as tl
from paper.studies.search_setup import search_config
from paper.training.link_prediction import load_split
from paper.training.refit_with_validation import portfolio
from timelike.core import (
    POSITIVE,
    REAL,
    UNIT,
    Likelihood,
    Manifold,
    Model,
    Separation,
    number,
    static,
    struct,
    with_numbers,
)
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import Cylinder, Flat, Minkowski

#: Data set, seed of the split or of the graph, geometry.
TASKS = [
    *(("duplication-divergence", seed, "cylindrical-minkowski") for seed in (25, 26, 27, 28)),
    ("dream5:ecoli", 14, "cylindrical-minkowski"),
    ("dream5:yeast", 13, "minkowski"),
    ("dream5:in-silico", 14, "minkowski"),
]
DIM, FINALS, FIRST = 10, 6, 100
#: The models compared: dimension, weights of the radii, seeds of the search. Each has 12 runs.
KINDS: dict[str, tuple[int, tuple[float, ...], tuple[int, ...]]] = {
    "plain": (DIM, (0.0,), (0, 1)),
    "wider": (DIM + 2, (0.0,), (0, 1)),
    "radii": (DIM, (0.3, 1.0), (0,)),
}


@struct
class WithRadii(Likelihood):
    """σ(logit F), where F is the wrapped triple Fermi-Dirac function of (s² − w(aₚ + b_q), Δt).

    The last two coordinates of a point in flat space are a and b. `rolled`: time is a circle.
    """

    decays_in_time: ClassVar[bool] = False

    rolled: int = static()
    tau1: Any = number(default=0.15, domain=POSITIVE)
    tau2: Any = number(default=0.05, domain=POSITIVE)
    alpha: Any = number(default=0.06, domain=UNIT)
    r: Any = number(default=0.0, domain=REAL)
    weight: Any = number(default=0.0, domain=REAL)
    circumference: Any = number(default=10.0, domain=POSITIVE)

    def separation(self, manifold: Manifold, p: jax.Array, q: jax.Array) -> Separation:
        """logit F in place of the interval; the time is 0."""
        d = manifold.dim - 2
        base = Flat(1, d - 1)
        space = Cylinder(base, self.circumference) if self.rolled else base
        found = space.separation(p[:d], q[:d])
        moved = found._replace(interval=found.interval - self.weight * (p[d] + q[d + 1]))
        numbers = {name: getattr(self, name) for name in ("tau1", "tau2", "alpha", "r")}
        log_prob, log_prob_not = Model(space, with_numbers(TripleFermiDirac(), numbers)).from_separation(
            moved
        )
        odds = (log_prob - log_prob_not)[None]
        return Separation(odds, 0 * odds)

    def log_probs(self, separation: Separation) -> tuple[jax.Array, jax.Array]:
        """log F and log(1 − F)."""
        return jax.nn.log_sigmoid(separation.interval), jax.nn.log_sigmoid(-separation.interval)


def compare(data: str, seed: int, geometry: str) -> dict[str, Any]:
    """Validation and test AP in percent over fresh seeds, for each model with its best settings."""
    split = load_split(data, seed, None)
    config = search_config(split.train, "uniform" if data == "duplication-divergence" else "listed")
    found = {}
    for kind, (dim, weights, seeds) in KINDS.items():
        model = Model(Minkowski(dim + 2), WithRadii(int(geometry != "minkowski")))
        grid = itertools.product(weights, portfolio(geometry), seeds)
        runs = [{**run, "weight": weight, "seed": one} for weight, run, one in grid]
        rows = tl.sweep(split.train, model, config, runs, valid=split.valid, progress=False).rows
        best = runs[int(np.argmax([row["valid_ap"] for row in rows]))]
        fresh = [
            {**best, "seed": FIRST + i % FINALS} for i in range(len(runs))
        ]  # equally many runs: the same program
        ends = tl.sweep(split.train, model, config, fresh, valid=split.valid, test=split.test, progress=False)
        scores = {name: [100 * row[f"{name}_ap"] for row in ends.rows[:FINALS]] for name in ("valid", "test")}
        found[kind] = {"weight": best["weight"]} | {
            name: [round(float(np.mean(x)), 2), round(float(np.std(x)), 2)] for name, x in scores.items()
        }
    return {"dataset": data, "split": seed, "geometry": geometry, **found}


def main() -> None:
    """Compare on the missing graphs, and print all results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for task in TASKS:
        file = arguments.out / ("-".join(map(str, task)).replace(":", "-") + ".json")
        if arguments.only not in file.name:
            continue
        if not file.exists():
            file.write_text(json.dumps(compare(*task)))
        print(file.read_text())


if __name__ == "__main__":
    main()
