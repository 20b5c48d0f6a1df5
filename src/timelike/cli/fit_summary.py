"""The notes and the summary that `timelike fit` prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from timelike.cli.printing import note, shown, typed
from timelike.evaluation.questions import ASKED

if TYPE_CHECKING:
    from timelike.embedding.embedding import Embedding
    from timelike.estimator.fit_plan import FitPlan
    from timelike.evaluation.labelled_pairs import LabelledPairs
    from timelike.io.edge_shards import AnyGraph

#: Lengths of the lists of which the precision is reported.
TOP = (100, 1000)

#: With more nodes than this, scoring all pairs takes long.
MANY = 30_000


def result(out: Path, embedding: Embedding, graph: AnyGraph, valid: LabelledPairs | None) -> dict[str, Any]:
    """A summary of the model in the folder `out`, as plain values."""
    import numpy as np

    from timelike.estimator.cone_candidate import IMPLIED

    info = embedding.info
    return {
        "model": shown(out),
        "geometry": info["geometry"],
        "reason": info["reason"],
        "candidates": info.get("candidates", []),
        "likelihood": str(embedding.model.likelihood),
        "dim": embedding.model.manifold.dim,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "valid_edges": 0 if valid is None else len(valid.positives),
        "implied": info["plan"]["reasons"].get("validation", "").startswith(IMPLIED),
        "refit": "refit" in info,
        "epochs": len(embedding.history.get("loss", ())),
        "best_epoch": info.get("best_epoch", 0),
        "selected_by": info.get("selected_by"),
        "still_improving": info.get("still_improving", False),
        "method": info.get("method", "training"),
        "members": embedding.members,
        "valid_ap": info.get("valid_ap"),
        "guessing_ap": None if valid is None else float(np.asarray(valid.labels).mean()),
        "member_valid_ap": [member["valid_ap"] for member in info.get("members", ())],
        "baselines": info.get("baselines", {}),
        "calibration": info.get("calibration"),
    }


def joint_result(estimator: Any) -> dict[str, Any]:
    """What a joint model changes in the `result`: the validation AP is that of geometry and evidence."""
    joint = estimator.joint_
    if joint is None:
        return {"evidence": estimator.embedding_.info.get("evidence", "geometry alone")}
    from timelike.evidence.group_weights import group_weights

    record, info = joint.combiner.record, joint.embedding.info
    return {
        "evidence": estimator.plan_.evidence,
        "weights": {group: round(share, 4) for group, share in group_weights(joint).items()},
        "valid_ap": record.get("valid_ap", info.get("valid_ap")),
        "geometry_valid_ap": info.get("valid_ap"),
        "folds": record.get("folds", 1),
        "questions": record["questions"],
        "precision_at_k": {str(k): joint.precision_at(k) for k in TOP},
        "calibration": joint.calibration_text,
        "members": joint.members,
    }


def first_question(model: Path | str, nodes: int) -> str:
    """The `predict` command to try first on a model with this number of nodes."""
    pairs = "--all" if nodes <= MANY else "--source NODE"
    return f"timelike predict {typed(model)} {pairs} --top 20"


def show(summary: dict[str, Any]) -> None:
    """Print a `result` for people."""
    model = summary["model"]
    kind = "pairs that they imply" if summary["implied"] else "edges held out"
    held_out = f"{kind} for validation" + ", then learned too" * summary["refit"]
    print(f"{model}: {summary['nodes']:,} nodes, {summary['edges']:,} edges learned; ", end="")
    print(f"{summary['valid_edges']:,} {held_out}")
    print(f"geometry       {summary['reason']}")
    if summary["epochs"]:
        print(f"epoch          {summary['best_epoch']} of {summary['epochs']} ({summary['selected_by']})")
        if summary["still_improving"]:
            print(f"               still improving at the last one: try --epochs {2 * summary['epochs']}")
    else:
        print(f"points         {summary['method']}, read off the edges without training")
    if summary["valid_ap"] is not None:
        members = ", ".join(f"{ap:.3f}" for ap in summary["member_valid_ap"])
        alone = f"; its members alone score {members}" if members else ""
        random = f"a random ranking scores {summary['guessing_ap']:.3f}"
        print(f"validation AP  {summary['valid_ap']:.3f} ({random}{alone})")
    if summary.get("geometry_valid_ap") is not None:
        more = ", which learned from more edges than the folds above" * (summary["folds"] > 1)
        print(f"               {summary['geometry_valid_ap']:.3f} by the geometry alone{more}")
    if summary.get("weights"):
        shares = (
            f"{group} {100 * share:.0f} %" for group, share in summary["weights"].items() if share >= 0.005
        )
        print(f"evidence       {', '.join(shares)}")
    if "questions" in summary:
        asked = ", ".join(f"{ASKED[kind]} {ap:.3f}" for kind, ap in summary["questions"].items())
        print(f"questions      {asked}")
        first, k = summary["precision_at_k"][str(TOP[0])], TOP[0]
        print(f"top {k:<10} {100 * first:.0f} % are edges, if 15 % of all edges are missing from the file")
    if summary["baselines"]:
        scores = sorted(summary["baselines"].items(), key=lambda one: -one[1])
        print(f"baselines      {', '.join(f'{name} {ap:.3f}' for name, ap in scores)}")
    print(f"probabilities  {summary['calibration'] or 'not calibrated: there are no validation edges'}")
    cones = summary["geometry"] == "nested-cones"
    ancestors = f"timelike predict {typed(model)} --ancestors NODE"
    print(f"next           {ancestors if cones else first_question(model, summary['nodes'])}")
    print(f"               timelike plot {typed(model)}{' --kind balls' * cones} --out picture.png")


def note_few_ends(plan: FitPlan) -> None:
    """Print a note if few nodes have outgoing or incoming edges, so that uniform negatives do not suit."""
    import numpy as np

    graph: Any = plan.graph
    ends = {
        "active_source": ("outgoing", "targets each source has, not which nodes are sources"),
        "active_target": ("incoming", "sources each target has, not which nodes are targets"),
    }
    if plan.valid_negatives not in ends:
        return
    direction, learned = ends[plan.valid_negatives]
    count = len(np.unique(graph.sources if direction == "outgoing" else graph.targets))
    few = f"only {count:,} of {graph.num_nodes:,} nodes have {direction} edges"
    note(f"{few}: the model learns which {learned}; --preset general compares edges with any two nodes")
