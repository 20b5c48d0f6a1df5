"""The search for the settings that `SpacetimeEmbedding` compares, by validation alone.

python -m paper.studies.portfolio score --out OUT [--only TEXT]    # several processes may share OUT
python -m paper.studies.portfolio pick --out OUT                   # print the few settings of each geometry

Every geometry trains with the same 256 random settings on every task: a split of a DREAM5 network (listed or
uniform non-edges) or a duplication-divergence graph. A score is the best validation AP over the epochs.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import timelike as tl
from paper.studies.claims import unclaimed
from paper.studies.search_setup import search_config
from paper.training.link_prediction import load_split, model_of
from paper.training.parallel_runs import average_precisions

GEOMETRIES = ("minkowski", "cylindrical-minkowski", "anti-de-sitter", "euclidean", "hyperboloid")
DIM, LANES, KEPT = 10, 256, 6
#: Seeds of splits and of graphs; the groups `best` and `defaults` use others.
SPLITS, GRAPHS = (13, 14, 15), (24, 25, 26, 27, 28, 29)
#: The ranges of the log-uniform settings.
RANGES: dict[str, dict[str, tuple[float, float]]] = {
    "minkowski": {
        "learning_rate": (0.01, 0.3),
        "tau1": (0.03, 1.2),
        "tau2": (0.02, 0.3),
        "alpha": (0.02, 0.4),
    },
    "anti-de-sitter": {
        **{"learning_rate": (0.002, 0.08), "tau1": (0.03, 0.3)},
        **{"tau2": (0.014, 0.3), "alpha": (0.03, 0.4)},
    },
    "euclidean": {"learning_rate": (0.003, 0.3), "tau": (0.03, 2.0)},
    "hyperboloid": {"learning_rate": (0.001, 0.1), "tau": (0.03, 2.0)},
}
RANGES["cylindrical-minkowski"] = {**RANGES["minkowski"], "circumference": (6.0, 19.0)}


class Task(NamedTuple):
    """One geometry on one split."""

    data: str
    protocol: str
    seed: int
    geometry: str

    @property
    def name(self) -> str:
        """The name of its file."""
        return "_".join(map(str, self)).replace(":", "-") + ".json"

    def split(self) -> tl.Split:
        """The split of the graph; the search ignores the test part."""
        return load_split(self.data, self.seed, None, self.protocol)


def tasks() -> Iterator[Task]:
    """Every geometry on every split and graph."""
    for geometry in GEOMETRIES:
        for seed in SPLITS:
            for name in ("in-silico", "ecoli", "yeast"):
                for protocol in ("listed", "uniform"):
                    yield Task(f"dream5:{name}", protocol, seed, geometry)
        for seed in GRAPHS:
            yield Task("duplication-divergence", "uniform", seed, geometry)


def settings(geometry: str) -> list[dict[str, float]]:
    """The random settings of a geometry, the same in every task."""
    rng = np.random.default_rng(6)
    low, high = (0.0, 1.5) if "tau" in RANGES[geometry] else (-0.15, 0.25)
    found = []
    for _ in range(LANES):
        one = {name: float(np.exp(rng.uniform(*np.log(ends)))) for name, ends in RANGES[geometry].items()}
        more = {
            "r": rng.uniform(low, high),
            "init_scale": rng.choice([0.01, 0.1]),
            "anneal": rng.choice([1, 3]),
        }
        found.append({**one, **{name: float(x) for name, x in more.items()}})
    return found


def score(task: Task) -> list[float]:
    """The best validation AP of every setting, in percent."""
    split = task.split()
    timeless = task.geometry in ("euclidean", "hyperboloid")
    model = model_of(task.geometry, "fermi-dirac" if timeless else "triple-fermi-dirac", DIM)
    config = search_config(split.train, task.protocol)
    valid, _ = average_precisions(split, model, config, settings(task.geometry), test=False)
    return [round(100 * float(x), 2) for x in valid.max(axis=0)]


def pick(scores: dict[Task, list[float]], geometry: str) -> list[dict[str, float]]:
    """Settings picked greedily by the mean of the best: over tasks, and doubly over kinds of graphs."""
    by_task = {task: found for task, found in scores.items() if task.geometry == geometry}
    by_kind: dict[tuple[str, str], list[list[float]]] = {}
    for task, found in by_task.items():
        by_kind.setdefault(task[:2], []).append(found)
    tables = [
        np.array(list(by_task.values())),
        np.array([np.mean(some, axis=0) for some in by_kind.values()]),
    ]
    best: list[Any] = [np.zeros((len(table), 1)) for table in tables]
    chosen: list[int] = []
    for _ in range(KEPT):
        one, two = (np.maximum(table, now).mean(axis=0) for table, now in zip(tables, best, strict=True))
        chosen.append(int(np.argmax(one + 2 * two)))
        best = [np.maximum(now, table[:, chosen[-1:]]) for table, now in zip(tables, best, strict=True)]
    return [settings(geometry)[i] for i in chosen]


def main() -> None:
    """Score the missing tasks, or pick settings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=["score", "pick"])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    if arguments.what == "score":
        for file, task in unclaimed({arguments.out / task.name: task for task in tasks()}, arguments.only):
            file.write_text(json.dumps(score(task)))
        return
    scores = {
        t: json.loads((arguments.out / t.name).read_text())
        for t in tasks()
        if (arguments.out / t.name).exists()
    }
    for geometry in {task.geometry: None for task in scores}:
        print(geometry)
        for one in pick(scores, geometry):
            print("   ", {name: float(f"{value:.2g}") for name, value in one.items()})


if __name__ == "__main__":
    main()
