"""Ways to combine geometry and evidence, compared on the held-out edges of the tuning half.

python -m benchmarks.zoo.combiners --prepared GRAPHS --out combiners.json

Every way learns from the same rows as a fit, without one part of them at a time, and is judged on that part.
No hidden edge of the zoo is looked at.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmarks.zoo.halves import graphs_of
from benchmarks.zoo.questions import hide
from benchmarks.zoo.sources import graph_of
from timelike._util.atomic_files import replacing
from timelike.estimator import SpacetimeEmbedding
from timelike.evaluation.metrics import average_precision
from timelike.evidence import learning, tree_tables
from timelike.evidence.combiner import Lesson
from timelike.evidence.tree_tables import TreeTables

#: Numbers of which more never speaks against an edge: these groups, except what is about the turned edge.
RISING = ("geometry", "shared neighbours", "patterns")
#: Knots of a spline for each number, and the inverse penalties of a regression.
KNOTS, PENALTY = 6, 0.1

#: Learns from rows, labels, weights and groups, and scores other rows.
Way = Callable[[np.ndarray, np.ndarray, np.ndarray, list[str]], Callable[[np.ndarray], np.ndarray]]


def trees(x: np.ndarray, labels: np.ndarray, weights: np.ndarray, _: list[str]) -> Callable:
    """The boosted trees of a fit, without a first guess."""
    return TreeTables.learn(x, labels, weights, 0).score


def monotone_trees(x: np.ndarray, labels: np.ndarray, weights: np.ndarray, groups: list[str]) -> Callable:
    """The same trees, which may not fall where a number of `RISING` grows."""
    rising = {"monotone_constraints": [int(group in RISING) for group in groups]}
    with patch.dict(tree_tables.PARAMETERS, rising):
        return TreeTables.learn(x, labels, weights, 0).score


def logistic(x: np.ndarray, labels: np.ndarray, weights: np.ndarray, _: list[str]) -> Callable:
    """A logistic regression of the standardised numbers."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(C=PENALTY, max_iter=500))
    return model.fit(x, labels, logisticregression__sample_weight=weights).decision_function


def splines(x: np.ndarray, labels: np.ndarray, weights: np.ndarray, _: list[str]) -> Callable:
    """A logistic regression of linear splines of each number, the knots at its quantiles."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    at = [np.unique(np.quantile(column, np.linspace(0, 1, KNOTS)))[:-1] for column in x.T]

    def bent(rows: np.ndarray) -> np.ndarray:
        parts = [np.maximum(column[:, None] - knots, 0) for column, knots in zip(rows.T, at, strict=True)]
        return np.hstack([rows, *parts])

    model = make_pipeline(StandardScaler(), LogisticRegression(C=PENALTY, max_iter=500))
    model.fit(bent(x), labels, logisticregression__sample_weight=weights)
    return lambda rows: model.decision_function(bent(rows))


WAYS: dict[str, Way] = {
    "trees": trees,
    "monotone trees": monotone_trees,
    "splines": splines,
    "logistic regression": logistic,
}


def judged(lesson: Lesson, groups: list[str], way: Way) -> dict[str, float]:
    """AP of each question, every part scored by what learned from the others."""
    edges, asked = lesson.sample.edges, lesson.negatives
    x, parts = (np.concatenate(column) for column in zip(edges, *asked.values(), strict=True))
    each = [learning.SHARES[kind] * len(edges.parts) / max(len(one.parts), 1) for kind, one in asked.items()]
    sizes = [len(one.parts) for one in (edges, *asked.values())]
    weights, kind = np.repeat([1.0, *each], sizes), np.repeat(np.arange(len(sizes)), sizes)
    scores = np.zeros(len(x))
    for part in np.unique(parts):
        own = parts == part
        scores[own] = way(x[~own], kind[~own] == 0, weights[~own], groups)(x[own])
    chosen = {name: (kind == 0) | (kind == number) for number, name in enumerate(asked, 1)}
    return {name: average_precision(scores[rows], kind[rows] == 0) for name, rows in chosen.items()}


def compared(name: str, prepared: Path) -> dict[str, dict[str, float]]:
    """Every way on one graph."""
    found: dict[str, dict[str, float]] = {}
    learn = learning.learn

    def spy(lesson: Lesson, names: list[str], groups: list[str], *rest: object, **more: object) -> object:
        found.update({title: judged(lesson, [*groups], way) for title, way in WAYS.items()})
        return learn(lesson, names, groups, *rest, **more)  # type: ignore[arg-type]

    with patch.object(learning, "learn", spy):
        SpacetimeEmbedding(baselines="none", progress=False).fit(hide(graph_of(name, 0, prepared), 0).train)
    return found


def table(results: dict[str, dict[str, dict[str, float]]]) -> str:
    """A row for each way: the mean AP of each question, and how often it is the best of a graph."""
    kinds = list(dict.fromkeys(kind for one in results.values() for kind in next(iter(one.values()))))
    means = {
        name: {w: statistics.fmean(aps.values()) for w, aps in one.items()} for name, one in results.items()
    }
    lines = [
        f"| | {' | '.join(kinds)} | all | best of {len(results)} graphs |",
        "|---|" + "--:|" * (len(kinds) + 2),
    ]
    for way in WAYS:
        each = [
            statistics.fmean(one[way][kind] for one in results.values() if kind in one[way]) for kind in kinds
        ]
        best = sum(max(one, key=lambda title: one[title]) == way for one in means.values())
        whole = statistics.fmean(one[way] for one in means.values())
        lines.append(f"| {way} | {' | '.join(f'{100 * ap:.1f}' for ap in (*each, whole))} | {best} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.zoo.combiners", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--prepared", type=Path, required=True, help="prepared graphs, see README.md")
    parser.add_argument("--graphs", nargs="*", default=graphs_of("tune"), help="default: the tuning half")
    parser.add_argument(
        "--out", type=Path, default=Path("combiners.json"), help="results; what is there is kept"
    )
    a = parser.parse_args()
    results = json.loads(a.out.read_text("utf-8")) if a.out.is_file() else {}
    for name in a.graphs:
        if name not in results:
            results[name] = compared(name, a.prepared)
            with replacing(a.out) as part:
                part.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(table(results))


if __name__ == "__main__":
    main()
