"""Ensembles: several runs as one model, with the mean of their log-odds."""

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
    """An embedding whose log-odds are the mean over several embeddings of the same nodes in the same space.

    The members may be the runs of `sweep(…, seeds=5, keep_all=True)`, which differ by their seeds, or have
    different likelihoods, whose errors are less correlated. Model, history, score and names are those of the
    first member, and its model scores all members: if their models differ, let `rescored` find a score that
    suits all. `info["members"]` lists seed, best epoch and validation AP of each. Calibrate afterwards: the
    mean is less confident than its members.
    """
    instance(
        "embeddings", embeddings, Sequence, "a list of embeddings from train(…) or sweep(…, keep_all=True)"
    )
    for i, one in enumerate(embeddings):
        instance(
            f"embeddings[{i}]", one, Embedding, "train(…), or one of the runs of sweep(…, keep_all=True)"
        )
        first = embeddings[0]
        if one.others is not None:
            raise ValueError(
                f"embeddings[{i}] is an ensemble of {one.members}; members must be single embeddings"
            )
        same = one.points.shape == first.points.shape and one.names == first.names
        if not same or repr((one.model.manifold, one.score)) != repr((first.model.manifold, first.score)):
            what = "another space or score" if same else "other nodes"
            raise ValueError(f"embeddings[{i}] has {what} than embeddings[0]; all members must have the same")
    if len(embeddings) < 2:
        raise ValueError(f"embeddings has length {len(embeddings)}; an ensemble needs two or more")
    about = [
        {"seed": one.info.get("config", one.info).get("seed")}
        | {name: one.info.get(name) for name in ("best_epoch", "valid_ap")}
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
    """Train members that differ by their seeds, in one program, and drop those that diverge.

    Members share one model, so `config.learn` is ignored.
    """
    fixed = dataclasses.replace(config, learn=())
    result = sweep(
        graph, model, fixed, seeds=seeds, valid=valid, keep_all=True, checkpoint=checkpoint, progress=progress
    )
    rows = zip(result.rows, result.runs, strict=True)
    return [run for row, run in rows if not row["status"].startswith("diverged")]
