"""An ensemble against one model with as many coordinates: five times ten, or fifty at once?

python -m paper.studies.one_model [--jobs 2] [--out OUT]    # fit what is missing, then print the table

On the splits of `members`, with its training: `SpacetimeEmbedding` chooses geometry, settings and epoch on
the validation pairs, trains again with the validation edges, and the test pairs are scored once.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np

import timelike as tl
from paper.groups.cyclic import DATA as NAMES
from paper.reports.simple_rows import BEST, simple_scores
from paper.reports.tables import markdown
from paper.studies import measuring
from paper.studies.members import DATA, DIM, MEMBERS, trained_again
from paper.tasks import Result, Task
from paper.training.link_prediction import load_split

#: What is compared: (coordinates of a member, members).
MODELS = {"one": (DIM, 1), "ensemble": (DIM, MEMBERS), "large": (DIM * MEMBERS, 1)}


def tasks(data_dir: str | None) -> Iterator[Task]:
    """A task for each split."""
    for data, seeds in DATA.items():
        for seed in seeds:
            about = {"dataset": data, "seed": seed, "models": {name: list(x) for name, x in MODELS.items()}}
            yield Task(
                f"{data.replace(':', '-')}/{seed}", about, functools.partial(run, data, seed, data_dir)
            )


def run(data: str, seed: int, data_dir: str | None) -> dict[str, Any]:
    """Test AP and NLL of each model on one split."""
    split = load_split(data, seed, data_dir)
    found = {name: _scores(split, *size) for name, size in MODELS.items()}
    jax.clear_caches()  # a process that keeps the programs of many graphs runs out of memory maps
    return found


def _scores(split: tl.Split, dim: int, members: int) -> dict[str, Any]:
    estimator = tl.SpacetimeEmbedding(
        dim=dim, members=members, refit=False, baselines="none", evidence="none", progress=False
    )
    before = estimator.fit(split.train, valid=split.valid).embedding_
    known = split.train.with_edges(split.valid_edges)
    after = trained_again(before, known) if members > 1 else _again(before, known)
    found = tl.evaluate(after, split, validated=before)
    return {
        "geometry": estimator.geometry_,
        "valid": round(100 * float(before.info["valid_ap"]), 2),
        "ap": round(100 * found.average_precision, 2),
        "nll": round(float(found.nll or 0), 4),
    }


def _again(before: tl.Embedding, graph: tl.DiGraph) -> tl.Embedding:
    """The model after training on `graph` until its best epoch; its calibration stays."""
    config = tl.Config.from_dict({**before.info["config"], "learn": ()}).ended_at(before.info["best_epoch"])
    again = tl.train(graph, before.model, config, progress=False)
    return dataclasses.replace(before, model=again.model, points=again.points)


def report(results: list[Result]) -> str:
    """AP and NLL of each model by data set, and how often the ensemble beats the large model."""
    dim, large = MODELS["ensemble"][0], MODELS["large"][0]
    size = f"{MEMBERS} × {dim} = {MEMBERS * dim}"
    body = []
    for data in DATA:
        some = [r for r in results if r.about["dataset"] == data]
        if not some:
            continue
        line = [NAMES[data].removesuffix(", one graph"), str(len(some))]
        for score, form in (("ap", ".1f"), ("nll", ".3f")):
            line += [format(np.mean([r.found[name][score] for r in some]), form) for name in MODELS]
        simple = simple_scores(data, DATA[data], "listed" if data.startswith("dream5") else "uniform")
        line.append(f"{np.mean(simple[BEST]):.1f}" if simple else "–")
        body.append(line)
    titles = (f"one model, {dim}", f"ensemble, {size}", f"one model, {large}")
    head = ["", "splits", *(f"{score}: {title}" for score in ("AP", "NLL") for title in titles)]
    head.append("AP: best simple method by validation")
    return f"Coordinates of a node, and means over splits:\n\n{markdown(head, body)}\n\n{_verdict(results)}"


def _verdict(results: Sequence[Result]) -> str:
    """The ensemble against the large model, split by split."""
    gaps = {
        score: [sign * (r.found["ensemble"][score] - r.found["large"][score]) for r in results]
        for score, sign in (("ap", 1), ("nll", -1))
    }
    wins = {score: sum(gap > 0 for gap in some) for score, some in gaps.items()}
    grown = sum(r.found["large"]["ap"] > r.found["one"]["ap"] for r in results)
    return (
        f"With equally many coordinates, the ensemble has the higher AP on {wins['ap']} of {len(results)} "
        f"splits ({np.mean(gaps['ap']):+.1f} points on average, {min(gaps['ap']):+.1f} to "
        f"{max(gaps['ap']):+.1f}) and the lower NLL on {wins['nll']}. One model gains from "
        f"{MODELS['large'][0]} coordinates instead of {DIM} on {grown}."
    )


if __name__ == "__main__":
    measuring.measure("one_model", __doc__, tasks, report)
