"""The toy graphs: which of them each geometry can represent, as numbers and as figures 2, 3 and 4."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import timelike as tl
from paper.reports.tables import markdown
from paper.reports.toy_pictures import draw_toys
from paper.table_rows import Row, load_rows
from paper.tasks import Options, Report, Result, Task
from paper.training.link_prediction import model_of
from paper.training.toy_runs import Toy

ABOUT = "tripartite graph, chain and closure, five-node cycle: NLL, edge probabilities and pictures"


def tasks(options: Options) -> Iterator[Task]:
    """A task for every toy graph and model, in two dimensions."""
    for row in load_rows("toys"):
        seeds = options.seeds_of(row)
        about = {
            **row.about("title", "dataset", "geometry", "likelihood", "settings", "epochs", "published"),
            "seeds": seeds,
        }
        yield Task(row.name, about, functools.partial(run, row, seeds))


def run(row: Row, seeds: int) -> dict[str, Any]:
    """The median NLL over all ordered pairs of nodes, and points and probabilities of the median run."""
    toy = Toy.load(row.dataset)
    graph, sources, targets, edge = toy
    model = tl.core.with_numbers(model_of(row.geometry, row.likelihood, 2), row.settings)
    config = {
        "epochs": row.epochs,
        "batch_size": row.batch_size,
        "learning_rate": row.settings["learning_rate"],
        "negatives": toy.negatives,
    }
    runs = [
        tl.train(graph, model, tl.Config(**config, seed=s), listed=toy.non_edges, progress=False)
        for s in range(seeds)
    ]
    probs = [run.prob(sources, targets) for run in runs]
    nlls = [toy.nll(p) for p in probs]
    middle = int(np.argsort(nlls)[(seeds - 1) // 2])
    return {
        "nll": round(float(np.median(nlls)), 2),
        "nlls": [round(x, 2) for x in nlls],
        "points": np.round(runs[middle].points.astype(float), 5).tolist(),
        "sources": sources.tolist(),
        "targets": targets.tolist(),
        "edge": edge.tolist(),
        "prob": np.round(probs[middle].astype(float), 5).tolist(),
        **_pair(row, sources, targets, probs),
    }


def _pair(row: Row, sources: np.ndarray, targets: np.ndarray, probs: list[np.ndarray]) -> dict[str, float]:
    """In the tripartite graph, the higher of the two probabilities between the unlinked nodes."""
    if row.dataset != "tripartite":
        return {}
    middle = (sources < 2) & (targets < 2)
    return {"pair": round(float(np.median([p[middle].max() for p in probs])), 3)}


def report(results: list[Result], folder: Path) -> Report:
    """A table of all toy graphs, and one picture for each of the paper's figures."""
    rows, body = [], []
    order = [row.name for row in load_rows("toys")]
    results.sort(key=lambda r: order.index(r.about["row"]))
    for about, found, made in results:
        edge, prob = np.array(found["edge"]), np.array(found["prob"])
        flat = {
            "title": about["title"],
            "nll": found["nll"],
            "published_nll": about["published"].get("nll", [None])[0],
            "weakest_edge": float(prob[edge].min()),
            "strongest_non_edge": float(prob[~edge].max()) if not edge.all() else None,
            "pair": found.get("pair"),
            "published_pair": about["published"].get("pair", [None])[0],
            "seeds": about["seeds"],
            "seconds": made["seconds"],
        }
        rows.append(flat)
        names = ("nll", "published_nll", "weakest_edge", "strongest_non_edge", "pair", "published_pair")
        body.append([flat["title"], *("" if flat[n] is None else f"{flat[n]:.4g}" for n in names)])
    pictures = draw_toys(results, folder)
    head = ["graph and model", "NLL", "paper", "weakest edge", "strongest non-edge", "unlinked pair", "paper"]
    text = (
        "NLL over all ordered pairs of nodes, median over seeds; probabilities are those of the median run."
    )
    return Report("\n\n".join(["# Toy graphs", text, markdown(head, body), *pictures]), rows)
