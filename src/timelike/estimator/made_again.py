"""How an embedding came about, to embed other edges in the same way."""

from __future__ import annotations

import numpy as np

from timelike.embedding.embedding import Embedding
from timelike.engine.config import Config
from timelike.estimator.candidates import Candidate, Trained
from timelike.estimator.read_off_candidates import FromPaths, NestedCones
from timelike.spectral.spectral_embedding import learned_weights


def made(embedding: Embedding, last: int | None = None) -> Candidate:
    """The candidate whose only run made this embedding, to embed other edges in the same way.

    `last` is the epoch to stop at; None: as many epochs as planned.
    """
    info = embedding.info
    name = info.get("geometry", "")
    if info.get("method") == NestedCones.method:
        return NestedCones(name, embedding.model, int(info["seed"]))
    if info.get("method") == FromPaths.method:
        weights = learned_weights(embedding)
        return FromPaths(name, embedding.model, int(info["seed"]), (int(info["rank"]),), weights)
    config = Config.from_dict(info["config"])
    return Trained(name, embedding.model, config if last is None else config.ended_at(last))


def kept_epoch(embedding: Embedding) -> int:
    """The epoch of the points; the median over members. It is 0 for points that were not trained."""
    members = embedding.info.get("members") or [embedding.info]
    return int(np.median([one.get("best_epoch") or 0 for one in members]))
