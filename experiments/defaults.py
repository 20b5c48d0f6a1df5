"""How much does tuning add to the defaults of `SpacetimeEmbedding`?

python -m experiments.defaults --data-dir FOLDER [--geometries minkowski …] [--data dream5:ecoli …]
                               [--splits 2] [--out FILE]

For every data set, protocol and geometry, on the same splits (10 % validation, 15 % test, 4 non-edges to an
edge, d = 10): the test AP of the estimator as it is, and that of the best of a grid by validation AP. Both
see the same training edges, validation pairs and kind of negatives, and neither sees the test.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import timelike as tl
from timelike.recipes import recipe
from timelike.splits import Split, split_edges

DREAM5 = ("in-silico", "ecoli", "yeast")
DATA = (*(f"dream5:{name}" for name in DREAM5), *(f"duplication-divergence:seed={s}" for s in (3, 5, 17)))
GEOMETRIES = ("minkowski", "cylindrical-minkowski", "anti-de-sitter")
#: Training negatives that look like those of the evaluation.
NEGATIVES = {"uniform": tl.Negatives(uniform=4), "listed": tl.Negatives(target=4)}


def grid(geometry: str) -> dict[str, list[float]]:
    """72 settings."""
    rates = [0.001, 0.003, 0.01, 0.03] if geometry == "anti-de-sitter" else [0.003, 0.01, 0.03, 0.1]
    return {"learning_rate": rates, "tau1": [0.1, 0.3, 1.0], "tau2": [0.04, 0.1, 0.25], "alpha": [0.03, 0.12]}


def splits(name: str, count: int, data_dir: str) -> Iterator[Split]:
    """Splits of a data set by every protocol that it has."""
    if name.startswith("dream5:"):
        data = tl.datasets.dream5(name.removeprefix("dream5:"), data_dir)
        for seed in range(count):
            yield split_edges(data.graph, 0.1, 0.15, seed)
            yield split_edges(data.graph, 0.1, 0.15, seed, protocol="listed", non_edges=data.non_edges)
    else:
        for seed in range(count):
            yield split_edges(tl.datasets.load(name), 0.1, 0.15, seed)


def compare(split: Split, geometry: str) -> dict[str, Any]:
    """Test AP of the defaults and of the tuned model, and the seconds each took."""
    negatives = NEGATIVES[split.protocol]
    start = time.perf_counter()
    estimator = tl.SpacetimeEmbedding(geometry, negatives=negatives, progress=False)
    default = estimator.fit(split.train, valid=split.valid).score(split)
    middle = time.perf_counter()
    model, config = recipe(geometry, 10)
    config = tl.Config(epochs=100, batch_size=config.batch_size, negatives=negatives)
    runs = tl.sweep(
        split.train, model, config, grid(geometry), valid=split.valid, test=split.test, progress=False
    )
    best = max(runs.rows, key=lambda row: row["valid_ap"])
    return {
        "default": default,
        "default_valid": estimator.embedding_.info["valid_ap"],
        "tuned": best["test_ap"],
        "tuned_valid": best["valid_ap"],
        "seconds": [middle - start, time.perf_counter() - middle],
        "chosen": {name: best[name] for name in grid(geometry)},
    }


def main() -> None:
    """Print a table; every comparison is also a line of the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir")
    parser.add_argument("--geometries", nargs="+", default=GEOMETRIES)
    parser.add_argument("--data", nargs="+", default=DATA)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--out", default="defaults.jsonl")
    options = parser.parse_args()
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for name in options.data:
        for split in splits(name, options.splits, options.data_dir):
            for geometry in options.geometries:
                row = compare(split, geometry)
                key = (name.partition(":seed")[0], split.protocol, geometry)
                found.setdefault(key, []).append(row)
                with open(options.out, "a", encoding="utf-8") as file:
                    file.write(json.dumps({"data": name, "split": split.seed, "key": key, **row}) + "\n")
    print("| data | non-edges | geometry | defaults | tuned | difference | splits |")
    print("|---" * 7 + "|")
    for key, rows in found.items():
        default, tuned = (100 * np.mean([row[name] for row in rows]) for name in ("default", "tuned"))
        print(f"| {' | '.join(key)} | {default:.1f} | {tuned:.1f} | {default - tuned:+.1f} | {len(rows)} |")


if __name__ == "__main__":
    main()
