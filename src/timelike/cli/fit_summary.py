"""What `timelike fit` says of the model that it has made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from timelike.cli.printing import typed

if TYPE_CHECKING:
    from timelike.embedding.embedding import Embedding
    from timelike.evaluation.labelled_pairs import LabelledPairs
    from timelike.io.edge_shards import AnyGraph

#: Nodes beyond which nobody wants to wait for the likeliest of all pairs.
MANY = 30_000


def result(out: Path, embedding: Embedding, graph: AnyGraph, valid: LabelledPairs | None) -> dict[str, Any]:
    """What is worth knowing about the model in the folder `out`, as plain values."""
    import numpy as np

    info = embedding.info
    return {
        "model": str(out),
        "geometry": info["geometry"],
        "reason": info["reason"],
        "candidates": info.get("candidates", []),
        "likelihood": str(embedding.model.likelihood),
        "dim": embedding.model.manifold.dim,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "valid_edges": 0 if valid is None else len(valid.positives),
        "refit": "refit" in info,
        "epochs": len(embedding.history["loss"]),
        "best_epoch": info["best_epoch"],
        "selected_by": info["selected_by"],
        "members": embedding.members,
        "valid_ap": info.get("valid_ap"),
        "guessing_ap": None if valid is None else float(np.asarray(valid.labels).mean()),
        "member_valid_ap": [one["valid_ap"] for one in info.get("members", ())],
        "calibration": info.get("calibration"),
    }


def question(model: Path | str, nodes: int) -> str:
    """What to ask a model of so many nodes first."""
    asked = "--all" if nodes <= MANY else "--source NODE"
    return f"timelike predict {typed(model)} {asked} --top 20"


def show(found: dict[str, Any]) -> None:
    """Print a `result` for people."""
    model = found["model"]
    learned = f"{model}: {found['nodes']:,} nodes, {found['edges']:,} edges learned"
    held = "of them held out for validation before" if found["refit"] else "held out for validation"
    print(f"{learned}, {found['valid_edges']:,} {held}")
    print(f"geometry       {found['reason']}")
    print(f"epoch          {found['best_epoch']} of {found['epochs']} ({found['selected_by']})")
    if found["valid_ap"] is not None:
        alone = ", ".join(f"{ap:.3f}" for ap in found["member_valid_ap"])
        more = f"; of its members alone: {alone}" if alone else ""
        print(f"validation AP  {found['valid_ap']:.3f} (guessing has {found['guessing_ap']:.3f}{more})")
    print(f"probabilities  {found['calibration'] or 'not calibrated: there are no validation edges'}")
    print(f"next           {question(model, found['nodes'])}")
    print(f"               timelike plot {typed(model)} --out picture.png")
