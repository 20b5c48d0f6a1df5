"""Nested light cones for WordNet nouns: F1 on test pairs, and the whole closure rebuilt.

python -m paper.studies.wordnet_cones [--out OUT]    # measure what is missing, then print the table

The points come from the training edges alone. Validation chooses a threshold; the other one is the light cone
itself, probability ½ before calibration. Reachability over the same edges is the ceiling: it makes no error.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import timelike as tl
from paper.groups.wordnet import load_split
from paper.reports.tables import markdown
from paper.studies import measuring
from paper.tasks import Result, Task
from timelike.datasets import transitive_closure
from timelike.evaluation import metrics
from timelike.hierarchy import embed_hierarchy, hierarchy_of

PERCENTS = (0, 10, 25, 50)
DIMS = (3, 5, 10)
SEEDS = 3
#: Sources whose cones are compared with all nodes at a time.
ROWS = 512


def tasks(data_dir: str | None) -> Iterator[Task]:
    """One task for each dimension and share of the closure."""
    for dim in DIMS:
        for percent in PERCENTS:
            about = {"dim": dim, "percent": percent, "seeds": SEEDS}
            yield Task(f"d{dim}-{percent}", about, functools.partial(measured, dim, percent, data_dir))


def measured(dim: int, percent: int, data_dir: str | None) -> dict[str, Any]:
    """F1 of every seed in percent; for the edges alone and the first seed also all pairs."""
    split = load_split(percent, data_dir)
    closure = transitive_closure(split.train)
    found: dict[str, Any] = {"valid": [], "test": [], "cone": [], "seconds": []}
    for seed in range(SEEDS):
        embedding, seconds = placed(Same.of(split.train), dim, seed)
        found["seconds"].append(seconds)
        scores = [
            embedding.log_prob_by_number(np.asarray(pairs.sources), np.asarray(pairs.targets))
            for pairs in (split.valid, split.test)
        ]
        labels = [np.asarray(pairs.labels) for pairs in (split.valid, split.test)]
        threshold = metrics.best_f1_threshold(scores[0], labels[0])
        cone = float(np.log(0.5))
        for name, which, at in (("valid", 0, threshold), ("test", 1, threshold), ("cone", 1, cone)):
            found[name].append(round(100 * metrics.f1(scores[which], labels[which], at), 2))
        if percent == 0 and seed == 0:
            found["all_pairs"] = rebuilt(embedding.points, closure)
    reached = closure.has_edges(np.asarray(split.test.sources), np.asarray(split.test.targets))
    found["reachability"] = round(100 * metrics.f1(reached.astype(float), labels[1], 0.5), 2)
    return found


@dataclasses.dataclass(frozen=True)
class Same:
    """Training edges, equal to others in which `hierarchy_of` finds the same hierarchy."""

    digest: str
    train: tl.DiGraph = dataclasses.field(compare=False)

    @classmethod
    def of(cls, train: tl.DiGraph) -> Same:
        """Training edges with a digest of the parents of all nodes."""
        found = hierarchy_of(train)
        order = found.order
        arrays = order.parents, order.children, order.component, np.array([found.upward])
        return cls(hashlib.sha256(b"".join(x.tobytes() for x in arrays)).hexdigest(), train)


@functools.cache
def placed(same: Same, dim: int, seed: int) -> tuple[tl.Embedding, float]:
    """The embedding and its processor time; points depend on the hierarchy in the edges alone."""
    begun = time.process_time()
    return embed_hierarchy(same.train, dim, seed=seed), round(time.process_time() - begun, 1)


def rebuilt(points: np.ndarray, closure: tl.DiGraph) -> dict[str, float]:
    """Recall and precision in percent of "lies in the light cone" over all pairs of nodes."""
    order = np.argsort(points[:, 0], kind="stable")
    sorted_points = points[order].astype(np.float64)
    time_, space = sorted_points[:, 0], sorted_points[:, 1:]
    square, inside, right = np.sum(space**2, axis=1), 0, 0
    for start in range(0, len(points), ROWS):
        rows = slice(start, start + ROWS)
        near = square[rows, None] + square[None, start:] - 2 * space[rows] @ space[start:].T
        wait = time_[None, start:] - time_[rows, None]
        s, t = np.nonzero((wait > 0) & (near <= wait**2 * (1 + 1e-6) + 1e-3))
        delta = sorted_points[start + t] - sorted_points[start + s]
        held = delta[:, 0] >= np.linalg.norm(delta[:, 1:], axis=1)
        s, t = order[start + s[held]], order[start + t[held]]
        inside += s.size
        right += int(closure.has_edges(s, t).sum())
    return {"recall": round(100 * right / closure.num_edges, 2), "precision": round(100 * right / inside, 2)}


def report(results: list[Result]) -> str:
    """Dimensions as rows, shares of the closure as columns, then the rebuilt closure."""
    results = sorted(results, key=lambda r: (r.about["dim"], r.about["percent"]))
    body, pairs = [], []
    for dim in dict.fromkeys(r.about["dim"] for r in results):
        found = {r.about["percent"]: r.found for r in results if r.about["dim"] == dim}
        for name, title in (("test", "threshold from validation"), ("cone", "the cone itself")):
            cells = (f"{np.median(found[p][name]):.2f}" if p in found else "–" for p in PERCENTS)
            body.append([f"d = {dim}, {title}", *cells])
        body[-1].append(f"{max(max(one['seconds']) for one in found.values()):.0f}")
        body[-2].append("")
        for one in found.values():
            if "all_pairs" in one:
                pairs.append([f"d = {dim}", *(f"{value:.2f}" for value in one["all_pairs"].values())])
    ceiling = {r.about["percent"]: f"{r.found['reachability']:.2f}" for r in results}
    body.insert(0, ["reachability", *(ceiling[percent] for percent in sorted(ceiling)), ""])
    head = ["", *(f"{percent} %" for percent in PERCENTS), "slowest, CPU s"]
    return (
        f"Test F1 in percent of nested light cones, median of {results[0].about['seeds']} seeds. Shares of "
        "the closure in which the same hierarchy is found have the same points, made once.\n\n"
        f"{markdown(head, body)}\n\nAll pairs of nodes against the whole closure, from the basic edges:\n\n"
        f"{markdown(['', 'recall', 'precision'], pairs)}"
    )


if __name__ == "__main__":
    measuring.measure("wordnet_cones", __doc__, tasks, report)
