"""The plan of a fit: every choice with its reason, as data, before anything is trained.

Choices come in three layers: a recipe for the geometry and the graph, then a preset or a settings file, then
the explicit options. Each layer overrides those before it; `assemble` combines them. The estimator, the
command line, streamed fits, fits on many processes, sweeps and searches all carry out what `resolve` returns.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from timelike.estimator.baseline_names import baseline_names
from timelike.estimator.candidates import Candidate, Trained
from timelike.estimator.cone_candidate import cones_in
from timelike.estimator.inputs import MOST_EDGES, with_missing
from timelike.estimator.planned_candidates import plan_candidates, plan_negatives
from timelike.estimator.planned_validation import Validation, plan_validation
from timelike.estimator.settings import FitOptions, as_settings
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evidence.outside import Outside, described, split_evidence
from timelike.graphs.digraph import DiGraph
from timelike.io.edge_shards import AnyGraph

#: Streamed edges are read into memory to count paths if they are no more than this.
COUNTED = 20_000_000


@dataclasses.dataclass(frozen=True)
class FitPlan:
    """What a fit will do, as data; `timelike fit --plan` prints it, and the saved model keeps it.

    candidates       geometries to try, the most promising first; validation picks one
    valid_negatives  the kind of negatives that validation edges are compared with; None if the negatives
                     were given too
    asks_all         whether the candidates are compared by the mean AP of all four questions about validation
                     edges, instead of by the pairs that choose settings and epochs
    score            "likelihood", or "best": the score with the highest validation AP
    seeds, members   random starts, of which validation keeps one; runs whose mean predicts
    refit            whether to train once more with the validation edges
    calibrate        whether to calibrate probabilities on the validation pairs
    baselines        simple methods to compare with on the validation pairs
    evidence         "structure": paths, degrees and the like predict together with the geometry; or "none";
                     and the names of evidence from outside, which `outside` holds
    reasons          choice → why
    graph, valid     training edges and validation pairs; `known` has the edges of both
    """

    candidates: tuple[Candidate, ...]
    valid_negatives: str | None
    asks_all: bool
    score: str
    seeds: int
    members: int
    refit: bool
    calibrate: bool
    baselines: tuple[str, ...]
    evidence: str
    reasons: Mapping[str, str]
    graph: AnyGraph = dataclasses.field(repr=False, compare=False)
    valid: LabelledPairs | None = dataclasses.field(repr=False, compare=False)
    known: DiGraph | None = dataclasses.field(repr=False, compare=False)
    outside: tuple[Outside, ...] = dataclasses.field(default=(), repr=False, compare=False)

    @property
    def trained(self) -> tuple[Trained, ...]:
        """The candidates that are trained."""
        return tuple(one for one in self.candidates if isinstance(one, Trained))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        valid = 0 if self.valid is None else len(self.valid.positives)
        return {
            "nodes": self.graph.num_nodes,
            "train_edges": self.graph.num_edges,
            "valid_edges": valid,
            "valid_negatives": self.valid_negatives,
            "asks_all": self.asks_all,
            "candidates": [candidate.to_dict() for candidate in self.candidates],
            **{name: getattr(self, name) for name in ("seeds", "members", "score", "refit", "calibrate")},
            "baselines": list(self.baselines),
            "evidence": self.evidence,
            "reasons": dict(self.reasons),
        }

    def __str__(self) -> str:
        steps = {type(one): one.steps for one in reversed(self.candidates)}
        valid = 0 if self.valid is None else len(self.valid.positives)
        rows = {
            "training edges": f"{self.graph.num_edges:,} between {self.graph.num_nodes:,} nodes",
            "validation": f"{valid:,} edges; {self.reasons['validation']}",
            "geometry": f"{' | '.join(one.geometry for one in self.candidates)}; {self.reasons['geometry']}",
            "model": f"{self.candidates[0].model}",
            "runs": f"{sum(one.runs for one in self.candidates) * self.seeds}"
            + f", then {self.members - 1} more for an ensemble" * (self.members > 1),
            "training": " | ".join(reversed(steps.values())),
            "negatives": f"{_kinds(self.trained)}; {self.reasons['negatives']}",
            "score": self.score,
            "calibration": "on the validation pairs" if self.calibrate and valid else "none",
            "baselines": ", ".join(self.baselines) or "none",
            "evidence": f"{self.evidence}; {self.reasons['evidence']}",
            "refit": f"{'yes' if self.refit else 'no'}; {self.reasons['refit']}",
        }
        return "\n".join(f"{name:<15} {text}" for name, text in rows.items())


def resolve(
    graph: AnyGraph, options: FitOptions | None = None, *, valid: Any = None, spread: bool = False
) -> FitPlan:
    """Decide what a fit of `graph` will do, from the graph, a preset and the options; nothing is trained.

    `valid` are validation pairs (`LabelledPairs`), a `Split` that has them, or edges; None: a share of the
    edges is held out. The edges of `EdgeShards` are streamed, and validated on those that were held out when
    they were written. A fit that is `spread` over many processes trains one geometry once.
    """
    options = FitOptions() if options is None else options
    options.check()
    settings, reasons = as_settings(options.settings), {}
    trains_once = spread or not isinstance(graph, DiGraph)
    cones = None if spread else cones_in(graph, options, settings)
    validation = plan_validation(graph, valid, options, settings, cones, spread)
    reasons["validation"] = validation.reason
    negatives, reasons["negatives"] = plan_negatives(validation, options, settings, trains_once)
    candidates, reasons["geometry"] = plan_candidates(validation, negatives, options, settings, cones, spread)
    refit, reasons["refit"] = _refit(validation, options, valid, trains_once)
    evidence, reasons["evidence"], outside = _evidence(options, graph, spread, validation.implied)
    pairs, kind = validation.pairs, validation.kind
    named = settings.valid_negatives or options.negatives
    return FitPlan(
        candidates=candidates,
        valid_negatives=kind,
        asks_all=len(candidates) > 1 and kind is not None and not named,
        score=settings.score,
        seeds=options.seeds,
        members=options.members,
        refit=refit,
        calibrate=options.calibrate,
        baselines=() if pairs is None or trains_once else baseline_names(options.baselines),
        evidence=evidence,
        reasons=reasons,
        graph=validation.train,
        valid=pairs,
        known=with_missing(graph, pairs.positives) if refit and pairs is not None else None,  # type: ignore[arg-type]
        outside=outside,
    )


def _refit(validation: Validation, options: FitOptions, valid: Any, trains_once: bool) -> tuple[bool, str]:
    """Whether to train once more with the validation edges, and why."""
    if validation.pairs is None:
        return False, "there are no validation edges"
    if trains_once:
        return False, "streamed edges and many processes train once"
    if options.refit is not None:
        return options.refit, "as given"
    if validation.implied:
        return False, "the validation pairs follow from edges that are learned"
    if valid is not None:
        return False, "the validation edges were given"
    if validation.train.num_edges > MOST_EDGES:
        return False, "the graph is large"
    return True, "validation edges were held out of the graph"


def _kinds(trained: tuple[Trained, ...]) -> str:
    """The negatives of training in words."""
    if not trained:
        return "none"
    counts = trained[0].config.negatives.counts
    return f"{', '.join(f'{count} {kind}' for kind, count in counts.items())} per edge"


def _evidence(
    options: FitOptions, graph: AnyGraph, spread: bool, implied: bool
) -> tuple[str, str, tuple[Outside, ...]]:
    """The evidence beside the geometry, why, and what of it comes from outside."""
    word, outside = split_evidence(options.evidence)
    if outside and (spread or not isinstance(graph, DiGraph)):
        raise ValueError("evidence from outside needs the graph in memory, on one process")
    if not outside:
        if implied:
            return "none", "geometry alone: all that is asked follows from the edges", ()
        if word == "none":
            return word, "geometry alone, as given", ()
        if spread:
            return "none", "geometry alone: no process of many counts paths", ()
        if not isinstance(graph, DiGraph) and graph.num_edges > COUNTED:
            few = f"paths are counted in memory, for at most {COUNTED:,} streamed edges"
            return "none", f"geometry alone: {few}", ()
        return word, "paths, degrees and geometry in one probability", ()
    assert isinstance(graph, DiGraph)
    found = described(outside, graph)
    names = ", ".join([*[word] * (word != "none"), *found])
    return names, f"in one probability with the geometry; {'; '.join(found.values())}", outside
