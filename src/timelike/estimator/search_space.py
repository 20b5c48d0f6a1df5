"""The space of a search: arms, one compiled program each, and random settings within an arm."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from timelike.core.model import Model
from timelike.core.struct import numbers_of
from timelike.engine.config import Config
from timelike.estimator.planned_candidates import assemble
from timelike.estimator.recipes import SWEPT_OF_CONFIG, TIMELESS, candidate_geometries, negatives_of
from timelike.estimator.settings import Settings
from timelike.graphs.digraph import DiGraph

#: Training negatives to choose from, besides those of the start and of validation. The last two suited DREAM5
#: and WordNet best.
NEGATIVES: tuple[dict[str, Any], ...] = (
    {"uniform": 4},
    {"same_source": 2, "same_target": 2},
    {"same_source": 4, "weights": {"same_source": 3.0}},
    {"active_source": 4, "weights": {"active_source": 3.0}},
    {"same_source": 2, "popular_same_target": 4, "weights": {"popular_same_target": 2.5}},
)
#: Settings are drawn between 1/factor and factor times their value at the start.
FACTORS = {
    **{"learning_rate": 4, "init_scale": 4, "tau": 4, "tau1": 4, "tau2": 4, "alpha": 4},
    **{"beta": 2, "circumference": 2},
}
#: Ranges of settings that may start at 0 or vary in one direction.
RANGES = {"r": (-0.05, 0.15), "anneal": (1.0, 4.0)}


class Arm(NamedTuple):
    """One combination of choices that need a program of their own."""

    geometry: str
    likelihood: str
    negatives: dict[str, Any]

    @property
    def label(self) -> str:
        """The arm in a few words."""
        weights = self.negatives.get("weights", {})
        kinds = (
            f"{name} {count}" + (f"×{weights[name]:g}" if name in weights else "")
            for name, count in self.negatives.items()
            if name != "weights"
        )
        return f"{self.geometry}, {self.likelihood}, {' + '.join(kinds)}"


def arms_around(start: Settings, graph: DiGraph) -> list[Arm]:
    """Every combination worth trying, those closest to the start first."""
    names = candidate_geometries(graph.describe())
    geometries = list(dict.fromkeys([start.geometry or names[0], *names]))
    negatives: list[dict[str, Any]] = []
    for kinds in (dict(start.negatives), _matching(start.valid_negatives or ""), *NEGATIVES):
        negatives += [kinds] * (bool(kinds) and kinds not in negatives)
    arms = []
    for i, geometry in enumerate(geometries):
        timeless = geometry in TIMELESS
        usual = ["fermi-dirac"] if timeless else ["triple-fermi-dirac"]
        usual += ["cone"] * geometry.endswith("minkowski")
        likely = [name for name in (start.likelihood,) if name and (i == 0 or name in usual)]
        for j, likelihood in enumerate(dict.fromkeys([*likely, *usual])):
            for k, kinds in enumerate(negatives):
                arms.append((max(i, j, k), Arm(geometry, likelihood, kinds)))
    first = arms[0][1]

    def order(pair: tuple[int, Arm]) -> tuple[int, int]:
        return sum(a != b for a, b in zip(pair[1], first, strict=True)), pair[0]

    return [arm for _, arm in sorted(arms, key=order)]


def _matching(kind: str) -> dict[str, Any]:
    """Training negatives of the same kind as those of validation, if there are any."""
    if (matching := negatives_of(kind)) is None:
        return {}
    return {**matching.counts, **({"weights": dict(matching.weights)} if matching.weights else {})}


def in_arm(base: Settings, arm: Arm) -> Settings:
    """The start in another arm, with those of its numbers that mean the same there."""
    same = arm.likelihood == base.likelihood
    numbers = {
        name: value
        for name, value in base.numbers.items()
        if same and (arm.geometry == base.geometry or (name in FACTORS and name != "circumference"))
    }
    return dataclasses.replace(base, **arm._asdict(), numbers=numbers)


def centre_of(model: Model, config: Config) -> dict[str, float]:
    """The numbers of a run that the search varies."""
    numbers = {**numbers_of(model), **{name: getattr(config, name) for name in SWEPT_OF_CONFIG}}
    return {name: float(x) for name, x in numbers.items() if name in FACTORS or name in RANGES}


def draw(rng: np.random.Generator, centre: dict[str, float]) -> dict[str, float]:
    """Random settings around the centre: factors log-uniform, ranges uniform; α and β stay ≤ 1."""
    drawn = {}
    for name, value in centre.items():
        if name in RANGES:
            drawn[name] = float(rng.uniform(*RANGES[name]))
        else:
            drawn[name] = float(value * FACTORS[name] ** rng.uniform(-1, 1))
    return {name: min(x, 1.0) if name in ("alpha", "beta") else x for name, x in drawn.items()}


def with_drawn(settings: Settings, graph: DiGraph, drawn: dict[str, float]) -> Settings:
    """The complete settings of a run on a graph with these drawn numbers."""
    assert settings.geometry is not None
    _, config = assemble(graph, settings.geometry, settings)
    ours = {name: drawn[name] for name in SWEPT_OF_CONFIG}
    numbers = {name: x for name, x in drawn.items() if name not in ours}
    kept = {name: getattr(config, name) for name in ("epochs", "batch_size", "optimizer", "burn_in")}
    return dataclasses.replace(
        settings, numbers={**settings.numbers, **numbers}, training={**settings.training, **kept, **ours}
    )
