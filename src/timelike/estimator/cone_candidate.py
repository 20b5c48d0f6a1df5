"""Nested cones in the plan of a fit: where they are worth a try, and by name."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from timelike._util.checks import show
from timelike.core.model import Model
from timelike.core.struct import numbers_of, with_numbers
from timelike.embedding.calibration import FEWEST as FEWEST_EDGES
from timelike.estimator.inputs import RATIO
from timelike.estimator.read_off_candidates import NestedCones
from timelike.estimator.recipes import READ_OFF
from timelike.estimator.settings import FitOptions, Settings, dim_of, only
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.negative_kinds import draw_negatives
from timelike.graphs.digraph import DiGraph
from timelike.hierarchy import Hierarchy, hierarchy_of
from timelike.hierarchy.condensation import closed
from timelike.hierarchy.cone_embedding import cone_model
from timelike.hierarchy.first_look import may_be_hierarchy
from timelike.io.edge_shards import AnyGraph
from timelike.likelihoods import Cone

#: The name of the geometry.
CONES = READ_OFF[0]
#: With more parents beyond the first, all nodes together, cones have more dimensions unless `dim` is given.
ROOM = ((200, 20), (2000, 40))
#: The most validation pairs that are drawn from those that edges imply.
MOST_IMPLIED = 20_000
#: The fewest dimensions of nested cones: time and two of space.
FEWEST = 3
#: Options of training; points that are read off the edges do not obey them.
OF_TRAINING = ("epochs", "batch_size", "learning_rate", "negatives", "tables")


class Found(NamedTuple):
    """Nested cones as a candidate, and what of the graph speaks for them.

    The relations of an ontology are `transitive`: then who is an ancestor of whom is what is asked.
    """

    candidate: NestedCones
    reason: str
    transitive: bool


def cones_in(graph: AnyGraph, options: FitOptions, settings: Settings) -> Found | None:
    """Nested cones if the graph looks like a hierarchy, and nothing that is given rules them out."""
    likelihood = options.likelihood or settings.likelihood
    ruled_out = (
        options.geometry != "auto"
        or settings.geometry is not None
        or likelihood not in (None, "cone")
        or options.tables not in (None, "float32")
        or dim_of(options, settings) < FEWEST
    )
    if ruled_out or not isinstance(graph, DiGraph) or not may_be_hierarchy(graph, options.seed):
        return None
    hierarchy = hierarchy_of(graph)
    if not hierarchy.looks_like_one:
        return None
    dim, why = room_for(hierarchy, options, settings)
    transitive = graph.notes is not None and graph.notes.transitive
    return Found(NestedCones(CONES, cone_model(dim), options.seed), _reason(hierarchy) + why, transitive)


def room_for(graph: DiGraph | Hierarchy, options: FitOptions, settings: Settings) -> tuple[int, str]:
    """The dimensions of nested cones: what is given, else as many as several parents need; and why, if more.

    The steps of `ROOM` were chosen on random hierarchies of 10² to 10⁴ nodes.
    """
    usual = dim_of(options, settings)
    if (options.dim, settings.dim) != (None, None):
        return usual, ""
    more = (graph if isinstance(graph, Hierarchy) else hierarchy_of(graph)).more_parents
    dim = max([usual, *(dim for fewest, dim in ROOM if more > fewest)])
    return dim, f"; in {dim} dimensions, for {more:,} parents beyond the first" * (dim > usual)


#: What validates such a fit.
IMPLIED = "pairs that the edges imply"


def implied_pairs(
    graph: AnyGraph, options: FitOptions, settings: Settings, found: Found | None, kind: str
) -> LabelledPairs | None:
    """Validation pairs that follow from the edges, to learn all of these; None if that is not what is asked.

    Nested cones answer who is an ancestor of whom. That is the question if they are named, or if they suit
    the relations of an ontology, which are transitive.
    """
    named = CONES in (options.geometry, settings.geometry)
    if not isinstance(graph, DiGraph) or not options.valid_fraction:
        return None
    if not named and (found is None or not found.transitive):
        return None
    known = closed(graph)
    implied = known.pairs[~graph.has_edges(*known.pairs.T)]
    wanted = min(max(int(options.valid_fraction * len(implied)), FEWEST_EDGES), MOST_IMPLIED)
    if len(implied) < wanted:
        return None
    chosen = np.random.default_rng([options.seed, 12]).choice(len(implied), wanted, replace=False)
    positives = implied[np.sort(chosen)]
    try:
        negatives = draw_negatives(kind, known, positives, RATIO, options.seed)
    except ValueError:  # a chain has no other pairs
        return None
    return LabelledPairs.build(positives, negatives)


def named_cones(
    graph: AnyGraph, options: FitOptions, settings: Settings, spread: bool
) -> tuple[NestedCones, str]:
    """Nested cones of any graph, because they were named, and why in more dimensions, if so."""
    if spread or not isinstance(graph, DiGraph):
        raise ValueError(f"geometry is {CONES!r}, which needs one process that has all edges in memory")
    refuse_training(CONES, options, settings)
    likelihood = options.likelihood or settings.likelihood
    dim, why = room_for(graph, options, settings)
    model = cone_model(dim)
    if isinstance(likelihood, Cone):
        model = Model(model.manifold, likelihood)
    elif likelihood not in (None, "cone"):
        raise ValueError(f"likelihood is {show(likelihood)}; nested cones have their own, leave it out")
    only("numbers has", settings.numbers, numbers_of(model), "this model has")
    return NestedCones(CONES, with_numbers(model, settings.numbers), options.seed), why


def refuse_training(geometry: str, options: FitOptions, settings: Settings) -> None:
    """Raise a `ValueError` if an option of training is given for points that are read off the edges."""
    given = {name: getattr(options, name) for name in OF_TRAINING} | dict(settings.training)
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} is {show(value)}; {geometry} is not trained, leave it out")


def _reason(hierarchy: Hierarchy) -> str:
    """Why nested cones are tried, in a few words."""
    facts = [
        f"depth {hierarchy.depth.max()}",
        f"{hierarchy.parents_per_node:.2f} parents per node",
        f"edges point from {'child to parent' if hierarchy.upward else 'parent to child'}",
        f"{hierarchy.implied:,} edges follow from others" * bool(hierarchy.implied),
        f"{hierarchy.in_cycles:,} nodes lie on cycles" * bool(hierarchy.in_cycles),
        f"{hierarchy.doubted:,} edges look wrong" * bool(hierarchy.doubted),
    ]
    return f"a hierarchy ({', '.join(filter(None, facts))}), which nested cones can hold"
