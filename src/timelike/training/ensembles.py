"""Several runs as one model: the mean of their log-odds, and how far they differ."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Sequence

import numpy as np

from timelike._util.checks import instance
from timelike.core.model import Model
from timelike.embedding.embedding import Embedding
from timelike.engine.config import Config
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.graphs.digraph import DiGraph
from timelike.training.checkpoint import Checkpointing
from timelike.training.sweeps import sweep


def ensemble(embeddings: Sequence[Embedding]) -> Embedding:
    """One embedding whose log-odds are the mean of those of several, in one space and of the same nodes.

    They may be the runs of `sweep(…, seeds=5, keep_all=True)`, alike but for their seeds, or have learned by
    different likelihoods, which err less alike. Model, history, score and names are those of the first;
    `info["members"]` lists seed, best epoch and validation AP of each. All are read by that model, so where
    theirs differ, let `rescored` find a score that suits them all. Calibrate afterwards: the mean is less
    sure of itself than its members.
    """
    instance("embeddings", embeddings, Sequence, "a list of what train(…) or sweep(…, keep_all=True) made")
    for i, one in enumerate(embeddings):
        instance(f"embeddings[{i}]", one, Embedding, "train(…), or of the runs of sweep(…, keep_all=True)")
        first = embeddings[0]
        if one.others is not None:
            raise ValueError(f"embeddings[{i}] has {one.members} members; those of an ensemble have one")
        same = one.points.shape == first.points.shape and one.names == first.names
        if not same or repr((one.model.manifold, one.score)) != repr((first.model.manifold, first.score)):
            what = "another space or score" if same else "other nodes"
            raise ValueError(f"embeddings[{i}] has {what} than the first; those of an ensemble agree")
    if len(embeddings) < 2:
        raise ValueError(f"embeddings has {len(embeddings)}; an ensemble needs two or more")
    about = [
        {
            "seed": one.info.get("config", {}).get("seed"),
            "best_epoch": one.info.get("best_epoch"),
            "valid_ap": one.info.get("valid_ap"),
        }
        for one in embeddings
    ]
    return dataclasses.replace(
        embeddings[0],
        others=np.stack([one.points for one in embeddings[1:]]),
        info={**embeddings[0].info, "members": about},
        calibration=None,
    )


def train_members(
    graph: DiGraph,
    model: Model,
    config: Config,
    seeds: Iterable[int],
    valid: LabelledPairs | None = None,
    checkpoint: Checkpointing | str | os.PathLike | None = None,
    progress: bool | None = None,
) -> list[Embedding]:
    """Runs that differ by their seeds, in one program; without those that diverged.

    Members share their model, so its numbers are not learned any more.
    """
    fixed = dataclasses.replace(config, learn=())
    found = sweep(
        graph, model, fixed, seeds=seeds, valid=valid, keep_all=True, checkpoint=checkpoint, progress=progress
    )
    rows = zip(found.rows, found.runs, strict=True)
    return [run for row, run in rows if not row["status"].startswith("diverged")]


__all__ = ["ensemble", "train_members"]
