"""The part of a plan that says what a fit trains on, and which pairs validate it."""

from __future__ import annotations

from typing import Any, NamedTuple

from timelike.estimator.cone_candidate import IMPLIED, Found, implied_pairs
from timelike.estimator.inputs import hold_out
from timelike.estimator.settings import FitOptions, Settings
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.negative_kinds import suitable_negatives
from timelike.evaluation.splits import Split
from timelike.graphs.digraph import DiGraph
from timelike.io.edge_shards import AnyGraph, EdgeShards
from timelike.training.stream import validation_pairs


class Validation(NamedTuple):
    """Training edges, and the pairs that validate.

    train    the graph without the edges that are held out
    pairs    validation pairs; None if there are none
    kind     the kind of negatives that are drawn for them; None if the negatives were given too
    implied  whether the pairs follow from the training edges
    reason   why these
    missing  why no edges can be held out of the graph, if so
    """

    train: AnyGraph
    pairs: LabelledPairs | None
    kind: str | None
    implied: bool
    reason: str
    missing: str


def plan_validation(
    graph: AnyGraph, valid: Any, options: FitOptions, settings: Settings, cones: Found | None, spread: bool
) -> Validation:
    """What to train on and to validate with; see `resolve` for `valid` and `spread`."""
    kind, reason = _valid_negatives(graph, settings, options, spread)
    drawn: str | None = kind
    if isinstance(valid, Split):
        if isinstance(graph, DiGraph):
            valid.check_nodes(graph, "valid")
        if not len(valid.valid_edges):
            raise ValueError(f"valid is {valid}, which has no validation edges; leave it out")
        drawn, valid = valid.negatives, valid.valid
        reason = f"with the {drawn} negatives of the split"
    elif isinstance(valid, LabelledPairs):
        drawn, reason = None, "with their negatives, as given"
    if valid is None and not spread:
        implied = implied_pairs(graph, options, settings, cones, kind)
        if implied is not None:
            return Validation(graph, implied, drawn, True, f"{IMPLIED}, with {kind} negatives", "")
    train, pairs, missing = _held_out(graph, valid, options, kind)
    if pairs is None:
        reason = missing or "no edges are held out"
    return Validation(train, pairs, drawn, False, reason, missing)


def _held_out(
    graph: AnyGraph, valid: Any, options: FitOptions, kind: str
) -> tuple[AnyGraph, LabelledPairs | None, str]:
    """Training edges, validation pairs, and if there are no such pairs, the reason."""
    if isinstance(graph, DiGraph):
        return hold_out(graph, valid, options.valid_fraction, options.seed, kind)
    if valid is not None:
        raise ValueError("valid cannot be combined with EdgeShards; hold edges out when you write the shards")
    if isinstance(graph, EdgeShards):
        return graph, validation_pairs(graph, options.seed), ""
    return graph, None, "no process sees all edges"


def _valid_negatives(
    graph: AnyGraph, settings: Settings, options: FitOptions, spread: bool
) -> tuple[str, str]:
    """The kind of negatives that validation edges are compared with, and why."""
    if not isinstance(graph, DiGraph):
        return "uniform", "uniform negatives, the only kind for streamed edges"
    if settings.valid_negatives is not None:
        return settings.valid_negatives, f"{settings.valid_negatives} negatives, as the settings say"
    if spread or options.negatives is not None or settings.negatives:
        return "uniform", "uniform negatives"
    kind = suitable_negatives(graph)
    return kind, "uniform negatives" if kind == "uniform" else f"{kind} negatives, which suit the graph"
