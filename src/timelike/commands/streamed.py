"""`timelike fit --stream`: the same for more edges than fit into memory."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from timelike.commands.fit import Fit
    from timelike.config import Config
    from timelike.model import Model
    from timelike.shards import EdgeShards

#: What a streamed graph is embedded in unless something else is asked for: it cannot be looked at first.
GEOMETRY = "minkowski"


def fit_streamed(fit: Fit, kept: Path) -> dict[str, Any]:
    """Divide the edges into files in the folder `kept`, train from there, save, and say what came of it."""
    import numpy as np

    from timelike.checkpoint import Checkpointing
    from timelike.shards import EdgeShards
    from timelike.streaming import validation_pairs
    from timelike.training import InterruptedTraining, train

    _check(fit)
    fraction = 0.1 if fit.valid_fraction is None else fit.valid_fraction
    shards = kept / "edges" / "shards"  # `kept` itself is locked
    shards.parent.mkdir(exist_ok=True)
    if not shards.exists():
        seed = fit.training.seed
        EdgeShards.write(fit.edges, shards, hold_out=fraction, seed=seed, **fit.reading.given)
    edges = EdgeShards(shards)
    valid = validation_pairs(edges, fit.training.seed)
    model, config = _recipe(fit, edges)
    try:
        found = train(edges, model, config, valid=valid, checkpoint=Checkpointing(kept / "run.safetensors"))
    except InterruptedTraining as stop:
        raise KeyboardInterrupt(f"{stop} (with --resume)") from None
    embedding = found if valid is None else found.calibrated(valid)
    embedding.save(fit.out)
    geometry = GEOMETRY if fit.geometry == "auto" else fit.geometry
    return {
        "model": str(fit.out),
        "geometry": geometry,
        "reason": f"{geometry}: {'what streamed graphs get' if fit.geometry == 'auto' else 'as asked for'}",
        "candidates": [],
        "likelihood": str(embedding.model.likelihood),
        "dim": embedding.model.manifold.dim,
        "nodes": edges.num_nodes,
        "edges": edges.num_edges,
        "valid_edges": len(edges.held_out),
        "refit": False,
        "epochs": len(embedding.history["loss"]),
        "best_epoch": embedding.info["best_epoch"],
        "selected_by": embedding.info["selected_by"],
        "members": 1,
        "valid_ap": embedding.info.get("valid_ap"),
        "guessing_ap": None if valid is None else float(np.mean(valid.labels)),
        "member_valid_ap": [],
        "calibration": embedding.info.get("calibration"),
    }


def _check(fit: Fit) -> None:
    others = {
        "--tune": fit.tune,
        "--preset": fit.preset is not None,
        "--settings": fit.settings is not None,
        "--valid": fit.valid is not None,
        "--snapshots": fit.snapshots is not None,
        "--time": fit.reading.time is not None,
        "--nodes": fit.reading.nodes is not None,
        "--seeds": fit.training.seeds > 1,
        "--members": fit.members > 1,
        "--refit yes": fit.refit == "yes",
    }
    for option, given in others.items():
        if given:
            raise ValueError(f"--stream and {option} exclude each other; leave one out")
    if not Path(fit.edges).is_file():
        raise FileNotFoundError(f"{fit.edges}: there is no such file; --stream reads a file")


def _recipe(fit: Fit, edges: EdgeShards) -> tuple[Model, Config]:
    """The recipe for so many edges, changed by what was given."""
    from timelike.recipes import any_negatives, recipe, shortened

    given = fit.training
    geometry = GEOMETRY if fit.geometry == "auto" else fit.geometry
    model, config = recipe(geometry, given.dim or 10, given.likelihood, edges)
    kinds = None if given.negatives is None else any_negatives(given.negatives)
    rest: dict[str, Any] = {
        "batch_size": given.batch_size,
        "learning_rate": given.learning_rate,
        "negatives": kinds,
        "tables": given.tables,
    }
    changes = {name: value for name, value in rest.items() if value is not None}
    return model, dataclasses.replace(shortened(config, given.epochs), seed=given.seed, **changes)
