"""The part of a plan that says which geometries are tried, and how each is trained."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from timelike.core.likelihood import Likelihood
from timelike.core.manifold import Manifold
from timelike.core.model import Model
from timelike.core.struct import numbers_of, with_numbers
from timelike.engine.config import Config
from timelike.engine.negatives import Negatives
from timelike.engine.table_storage import storable
from timelike.estimator.candidates import Candidate, Trained
from timelike.estimator.cone_candidate import CONES, Found, named_cones
from timelike.estimator.inputs import MOST_EDGES
from timelike.estimator.path_candidate import TWISTED, named_paths, paths_in
from timelike.estimator.planned_validation import Validation
from timelike.estimator.recipes import (
    SWEPT_OF_CONFIG,
    candidate_geometries,
    negatives_like,
    negatives_of,
    recipe,
    shortened,
    variations,
)
from timelike.estimator.settings import FitOptions, Settings, dim_of, only
from timelike.graphs.digraph import DiGraph
from timelike.io.edge_shards import AnyGraph, EdgeShards

#: The geometry of a graph that cannot be looked at first: its edges are streamed.
STREAMED = "minkowski"


def plan_candidates(
    validation: Validation,
    negatives: Negatives | None,
    options: FitOptions,
    settings: Settings,
    cones: Found | None,
    spread: bool,
) -> tuple[tuple[Candidate, ...], str]:
    """The candidates, the most promising first, and why these; only one if nothing can compare several."""
    graph, missing = validation.train, validation.missing
    compared = validation.pairs is not None and isinstance(graph, DiGraph) and not spread
    names, reason = _geometries(graph, options, settings)
    candidates: list[Candidate]
    if names[0] == CONES:
        cone_candidate, why = named_cones(graph, options, settings, spread)
        candidates, reason = [cone_candidate], reason + why
    elif names[0] == TWISTED:
        candidates = [named_paths(graph, options, settings, spread)]
    else:
        candidates = [*_trained(graph, names, settings, options, negatives, compared)]
        if compared and (paths := paths_in(graph, options, settings)) is not None:
            candidates.insert(0, paths)
    alone = "the graph is large" if graph.num_edges > MOST_EDGES else missing
    alone = alone or "many processes train once" * spread
    if len(candidates) > 1 and alone:
        candidates = candidates[:1]
        reason += f"; not compared with others: {alone}"
    if cones is not None and (compared or cones.transitive):
        candidates = [cones.candidate, *(candidates if compared else [])]
        reason = f"{cones.reason}; {reason}"
    return tuple(candidates), reason


def assemble(
    graph: AnyGraph,
    geometry: str | Manifold,
    settings: Settings | None = None,
    options: FitOptions | None = None,
    negatives: Negatives | None = None,
) -> tuple[Model, Config]:
    """The model and how to train it: the recipe for a geometry, overridden by settings, then by options.

    `negatives` are used if neither settings nor options name any.
    """
    settings, options = settings or Settings(), options or FitOptions()
    model, config = recipe(
        geometry, dim_of(options, settings), options.likelihood or settings.likelihood, graph
    )
    only("numbers has", settings.numbers, numbers_of(model), "this model has")
    kinds = Negatives(**settings.negatives) if settings.negatives else negatives
    drawn: dict[str, Any] = {} if kinds is None else {"negatives": kinds}
    config = dataclasses.replace(config, **settings.training, **drawn)
    config = dataclasses.replace(shortened(config, options.epochs), **options.named)
    return with_numbers(model, settings.numbers), config


def plan_negatives(
    validation: Validation, options: FitOptions, settings: Settings, trains_once: bool
) -> tuple[Negatives | None, str]:
    """The negatives of training and the reason; None if settings or options name them."""
    if options.negatives is not None:
        return None, "as given"
    if settings.negatives:
        return None, "as the settings say"
    if trains_once:
        return Negatives(uniform=4), "the default for streamed edges and many processes"
    graph, valid = validation.train, validation.pairs
    drawn = None if validation.kind is None else negatives_of(validation.kind)
    if drawn is not None or valid is None or not isinstance(graph, DiGraph):
        return drawn, "the kind that suits the graph" if valid is None else "the kind that validation uses"
    return negatives_like(valid, graph), "like those of the validation pairs"


def _geometries(graph: AnyGraph, options: FitOptions, settings: Settings) -> tuple[list[str | Manifold], str]:
    """The geometries to try, the most promising first, and why these."""
    if options.geometry != "auto":
        return [options.geometry], "as given"
    if settings.geometry is not None:
        return [settings.geometry], "as the settings say"
    if isinstance(graph, EdgeShards):
        return [STREAMED], "the default for streamed edges"
    if not isinstance(graph, DiGraph):
        raise ValueError("geometry is auto, but no process sees the whole graph; name a geometry")
    description = graph.describe(options.seed)
    return [*candidate_geometries(description)], description.reason


def _trained(
    graph: AnyGraph,
    names: list[str | Manifold],
    settings: Settings,
    options: FitOptions,
    negatives: Negatives | None,
    validated: bool,
) -> Iterator[Trained]:
    """Geometries to train; of several, those whose points can be stored as the options say."""
    for name in names:
        model, config = assemble(graph, name, settings, options, negatives)
        if len(names) == 1 or storable(config.tables, model.manifold):
            runs = _variations(name, model, config, graph, settings, options) if validated else ()
            label = name if isinstance(name, str) else type(name).__name__
            yield Trained(label, model, config, runs)


def _variations(
    name: str | Manifold,
    model: Model,
    config: Config,
    graph: AnyGraph,
    settings: Settings,
    options: FitOptions,
) -> tuple[Mapping[str, float], ...]:
    """Variations of the recipe that keep what settings and options set."""
    if not isinstance(name, str):
        return ()
    fixed = {*settings.numbers, *settings.training}
    fixed |= set() if options.learning_rate is None else {*SWEPT_OF_CONFIG}
    fixed |= {*numbers_of(model)} if isinstance(options.likelihood, Likelihood) else set()
    return tuple(variations(name, model, config, graph, fixed))
