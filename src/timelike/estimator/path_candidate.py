"""Points from paths in the plan of a fit: beside the geometries that are trained, and by name."""

from __future__ import annotations

from timelike._util.checks import show
from timelike.baselines import twisted_time
from timelike.estimator.cone_candidate import OF_TRAINING, refuse_training
from timelike.estimator.read_off_candidates import FromPaths
from timelike.estimator.settings import FitOptions, Settings, dim_of
from timelike.graphs.digraph import DiGraph
from timelike.io.edge_shards import AnyGraph
from timelike.spectral.spectral_embedding import FEWEST, RANKS

#: The name of the geometry.
TWISTED = "twisted-time"
#: The fewest dimensions: two of time and two of space.
FEWEST_DIM = 4
#: Graphs with more edges, and graphs with more nodes per edge than this, are not embedded by their paths.
MOST_EDGES, ISOLATED = 10**6, 20
#: Those with fewer are not either: without one of five folds, `FEWEST` edges must be left.
FEWEST_EDGES = FEWEST * 5 // 4


def paths_in(graph: AnyGraph, options: FitOptions, settings: Settings) -> FromPaths | None:
    """Points from paths, unless the graph or the options rule them out; options of training want training."""
    given = [options.likelihood or settings.likelihood, *(getattr(options, name) for name in OF_TRAINING)]
    ruled_out = (
        options.geometry != "auto"
        or settings.geometry is not None
        or any(value is not None for value in given)
        or settings.training
        or settings.numbers
        or settings.negatives
        or dim_of(options, settings) < FEWEST_DIM
    )
    if ruled_out or not isinstance(graph, DiGraph) or why_not(graph):
        return None
    return _candidate(options, settings)


def named_paths(graph: AnyGraph, options: FitOptions, settings: Settings, spread: bool) -> FromPaths:
    """Points from the paths of any graph, because they were named."""
    if spread or not isinstance(graph, DiGraph):
        raise ValueError(f"geometry is {TWISTED!r}, which needs one process that has all edges in memory")
    refuse_training(TWISTED, options, settings)
    likelihood = options.likelihood or settings.likelihood
    if likelihood is not None:
        raise ValueError(f"likelihood is {show(likelihood)}; {TWISTED} has its own, leave it out")
    if settings.numbers:
        raise ValueError(f"numbers has {show(next(iter(settings.numbers)))}; {TWISTED} learns its own")
    if reason := why_not(graph):
        raise ValueError(f"geometry is {TWISTED!r}, but {reason}; name another geometry")
    return _candidate(options, settings)


def why_not(graph: DiGraph) -> str:
    """The reason why a graph cannot be embedded by its paths; empty if it can."""
    if graph.num_edges < FEWEST_EDGES:
        return f"{graph.num_edges} edges are too few to learn from paths"
    if graph.num_edges > MOST_EDGES:
        return f"paths of {graph.num_edges:,} edges take too long"
    if graph.num_nodes > ISOLATED * graph.num_edges:
        return "nearly all nodes have no edges, so there are no paths"
    if graph.num_edges == graph.num_nodes * (graph.num_nodes - 1):
        return "the graph has all possible edges, so there are no non-edges to learn from"
    return ""


def _candidate(options: FitOptions, settings: Settings) -> FromPaths:
    """The rank is half the dimensions, less one; without dimensions, held-out edges choose it."""
    dim = settings.dim if options.dim is None else options.dim
    if dim is not None and dim < FEWEST_DIM:
        raise ValueError(f"dim is {dim}; {TWISTED} needs at least {FEWEST_DIM}: two times and two of space")
    ranks = RANKS if dim is None else (dim // 2 - 1,)
    return FromPaths(TWISTED, twisted_time(2 * max(ranks) + 2), options.seed, ranks)
