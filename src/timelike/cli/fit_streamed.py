"""`timelike fit --stream`: the same for more edges than fit into memory."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from timelike.cli.fit_summary import result

if TYPE_CHECKING:
    from timelike.cli.fit_command import Fit

#: What a streamed graph is embedded in unless something else is asked for: it cannot be looked at first.
GEOMETRY = "minkowski"


def fit_streamed(fit: Fit, kept: Path) -> dict[str, Any]:
    """Divide the edges into files in the folder `kept`, train from there, save, and say what came of it."""
    from timelike.io.edge_shards import EdgeShards
    from timelike.training.checkpoint import Checkpointing
    from timelike.training.stream import validation_pairs
    from timelike.training.training_loop import InterruptedTraining, train

    _check(fit)
    fraction = 0.1 if fit.valid_fraction is None else fit.valid_fraction
    shards = kept / "edges" / "shards"  # `kept` itself is locked
    shards.parent.mkdir(exist_ok=True)
    if not shards.exists():
        given = {"seed": fit.training.seed, "skip_bad_rows": fit.reading.skip_bad_rows, **fit.reading.given}
        EdgeShards.write(fit.edges, shards, hold_out=fraction, **given)
    edges = EdgeShards(shards)
    valid = validation_pairs(edges, fit.training.seed)
    geometry = GEOMETRY if fit.geometry == "auto" else fit.geometry
    model, config = fit.training.recipe(geometry, edges)
    try:
        found = train(edges, model, config, valid=valid, checkpoint=Checkpointing(kept / "run.safetensors"))
    except InterruptedTraining as stop:
        raise KeyboardInterrupt(f"{stop} (with --resume)") from None
    why = "what streamed graphs get" if fit.geometry == "auto" else "as asked for"
    info = {**found.info, "geometry": geometry, "reason": f"{geometry}: {why}"}
    embedding = dataclasses.replace(found, info=info)
    embedding = embedding if valid is None else embedding.calibrated(valid)
    embedding.save(fit.out)
    return result(fit.out, embedding, edges, valid)


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
