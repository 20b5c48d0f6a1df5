"""What an estimator is to train: the recipe of a geometry, changed by its settings and by what was given."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from timelike._util.checks import whole_number
from timelike.core.likelihood import Likelihood
from timelike.core.model import Model
from timelike.core.struct import numbers_of
from timelike.embedding.trained_on import TrainedOn
from timelike.engine.config import Config
from timelike.engine.negatives import Negatives
from timelike.estimator import selection
from timelike.estimator.recipes import (
    SWEPT_OF_CONFIG,
    any_negatives,
    negatives_like,
    negatives_of,
    shortened,
    variations,
)
from timelike.estimator.settings import Settings, as_settings
from timelike.evaluation.negative_kinds import suited
from timelike.graphs.digraph import DiGraph

if TYPE_CHECKING:
    from timelike.estimator.spacetime_embedding import SpacetimeEmbedding


def protocol_of(settings: Settings, negatives: int | Negatives | None, graph: DiGraph) -> str:
    """What validation edges are told from, and so the kind of negatives, unless these are given."""
    if settings.protocol is not None:
        return settings.protocol
    return suited(graph) if negatives is None and not settings.negatives else "uniform"


def negatives_for(data: TrainedOn, protocol: str | None) -> Negatives | None:
    """Negatives like the non-edges that a protocol draws, or else like those of validation; None: any."""
    drawn = None if protocol is None else negatives_of(protocol)
    if drawn is not None or data.valid is None:
        return drawn
    return negatives_like(data.valid, data.graph)


def geometries_of(
    estimator: SpacetimeEmbedding, recipe: selection.Recipe, unvalidated: str
) -> tuple[list[str], str]:
    """The geometries to try, and why these; one only, where it is said why they cannot be validated."""
    if estimator.geometry != "auto":
        return [estimator.geometry], "as asked for"
    if (geometry := as_settings(estimator.settings).geometry) is not None:
        return [geometry], "as the settings say"
    graph = estimator.graph_
    description = graph.describe(estimator.seed)
    names, why = selection.storable_among(selection.candidates(description), recipe), description.reason
    unvalidated = "the graph is large" if graph.num_edges > selection.MOST_EDGES else unvalidated
    if unvalidated and len(names) > 1:
        return names[:1], f"{why}; not compared with others: {unvalidated}"
    return names, why


def recipe_of(
    estimator: SpacetimeEmbedding, geometry: str, graph: DiGraph, default: Negatives | None = None
) -> tuple[Model, Config]:
    """The recipe for a geometry, changed by the settings of an estimator and by what was given to it.

    `default` are the negatives to draw unless those say otherwise.
    """
    settings = as_settings(estimator.settings)
    model, config = settings.build(graph, geometry, estimator.dim, estimator.likelihood)
    epochs, kinds = estimator.epochs, estimator.negatives
    config = shortened(config, None if epochs is None else whole_number("epochs", epochs, 1))
    kinds = any_negatives(kinds) if isinstance(kinds, int) else kinds
    if kinds is None and not settings.negatives:
        kinds = default
    given: dict[str, Any] = {
        "batch_size": estimator.batch_size,
        "learning_rate": estimator.learning_rate,
        "negatives": kinds,
        "tables": estimator.tables,
        "seed": estimator.seed,
    }
    return model, dataclasses.replace(config, **{k: v for k, v in given.items() if v is not None})


def variations_of(
    estimator: SpacetimeEmbedding, geometry: str, model: Model, config: Config
) -> list[dict[str, float]]:
    """Those of the recipe that do not touch what was given."""
    settings = as_settings(estimator.settings)
    fixed = {*settings.numbers, *settings.training}
    fixed |= set() if estimator.learning_rate is None else {*SWEPT_OF_CONFIG}
    fixed |= {*numbers_of(model)} if isinstance(estimator.likelihood, Likelihood) else set()
    return variations(geometry, model, config, estimator.graph_, fixed)
