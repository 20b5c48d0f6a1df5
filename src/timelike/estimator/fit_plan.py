"""The plan of a fit: every choice with its reason, as data, before anything is trained.

Choices come in three layers: a recipe for the geometry and the graph, then a preset or a settings file, then
the explicit options. Each layer overrides those before it; `assemble` combines them. The estimator, the
command line, streamed fits, fits on many processes, sweeps and searches all carry out what `resolve` returns.
"""

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
from timelike.estimator.baseline_names import baseline_names
from timelike.estimator.candidates import Candidate, Trained
from timelike.estimator.cone_candidate import CONES, IMPLIED, cones_in, implied_pairs, named_cones
from timelike.estimator.inputs import MOST_EDGES, hold_out, with_missing
from timelike.estimator.path_candidate import TWISTED, named_paths, paths_in
from timelike.estimator.recipes import (
    SWEPT_OF_CONFIG,
    candidate_geometries,
    negatives_like,
    negatives_of,
    recipe,
    shortened,
    variations,
)
from timelike.estimator.settings import FitOptions, Settings, as_settings, dim_of, only
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.negative_kinds import suitable_negatives
from timelike.evaluation.splits import Split
from timelike.evidence.outside import Outside, described, split_evidence
from timelike.graphs.digraph import DiGraph
from timelike.io.edge_shards import AnyGraph, EdgeShards
from timelike.training.stream import validation_pairs

#: Streamed edges are read into memory to count paths if they are no more than this.
COUNTED = 20_000_000

#: The geometry of a graph that cannot be looked at first: its edges are streamed.
STREAMED = "minkowski"


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
    edges is held out. The edges
    of `EdgeShards` are streamed, and validated on those that were held out when they were written. A fit that
    is `spread` over many processes trains one geometry once.
    """
    options = FitOptions() if options is None else options
    options.check()
    settings, reasons = as_settings(options.settings), {}
    streamed = not isinstance(graph, DiGraph)
    kind, reasons["validation"] = _valid_negatives(graph, settings, options, spread)
    drawn: str | None = kind
    if isinstance(valid, Split):
        if isinstance(graph, DiGraph):
            valid.check_nodes(graph, "valid")
        if not len(valid.valid_edges):
            raise ValueError(f"valid is {valid}, which has no validation edges; leave it out")
        drawn, valid = valid.negatives, valid.valid
        reasons["validation"] = f"with the {drawn} negatives of the split"
    elif isinstance(valid, LabelledPairs):
        drawn, reasons["validation"] = None, "with their negatives, as given"
    cones = None if spread else cones_in(graph, options, settings)
    implied = implied_pairs(graph, options, settings, cones, kind) if valid is None and not spread else None
    if implied is None:
        train, pairs, missing = _held_out(graph, valid, options, kind)
    else:
        train, pairs, missing = graph, implied, ""
        reasons["validation"] = f"{IMPLIED}, with {kind} negatives"
    if pairs is None:
        reasons["validation"] = missing or "no edges are held out"
    negatives, reasons["negatives"] = _negatives(train, pairs, drawn, settings, options, streamed or spread)
    validated = pairs is not None and not streamed and not spread
    alone = "the graph is large" if train.num_edges > MOST_EDGES else missing
    alone = alone or "many processes train once" * spread
    names, reasons["geometry"] = _geometries(train, options, settings)
    candidates: list[Candidate]
    if names[0] == CONES:
        cone_candidate, why = named_cones(train, options, settings, spread)
        candidates, reasons["geometry"] = [cone_candidate], reasons["geometry"] + why
    elif names[0] == TWISTED:
        candidates = [named_paths(train, options, settings, spread)]
    else:
        candidates = [*_trained(train, names, settings, options, negatives, validated)]
        if validated and (paths := paths_in(train, options, settings)) is not None:
            candidates.insert(0, paths)
    if len(candidates) > 1 and alone:
        candidates = candidates[:1]
        reasons["geometry"] += f"; not compared with others: {alone}"
    if cones is not None and (validated or cones.transitive):
        candidates = [cones.candidate, *(candidates if validated else [])]
        reasons["geometry"] = f"{cones.reason}; {reasons['geometry']}"
    asks_all = (
        len(candidates) > 1 and drawn is not None and not (settings.valid_negatives or options.negatives)
    )
    refit, reasons["refit"] = _refit(train, pairs, options, valid, streamed or spread)
    evidence, reasons["evidence"], outside = _evidence(options, graph, spread)
    if implied is not None and not outside:
        evidence, reasons["evidence"] = "none", "geometry alone: all that is asked follows from the edges"
    if implied is not None and options.refit is None:
        refit, reasons["refit"] = False, "the validation pairs follow from edges that are learned"
    return FitPlan(
        candidates=tuple(candidates),
        valid_negatives=drawn,
        asks_all=asks_all,
        score=settings.score,
        seeds=options.seeds,
        members=options.members,
        refit=refit,
        calibrate=options.calibrate,
        baselines=baseline_names(options.baselines) if validated else (),
        evidence=evidence,
        reasons=reasons,
        graph=train,
        valid=pairs,
        known=with_missing(graph, pairs.positives) if refit and pairs is not None else None,  # type: ignore[arg-type]
        outside=outside,
    )


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


def _negatives(
    graph: AnyGraph,
    valid: LabelledPairs | None,
    kind: str | None,
    settings: Settings,
    options: FitOptions,
    trains_once: bool,
) -> tuple[Negatives | None, str]:
    """The negatives of training and the reason; None if settings or options name them."""
    if options.negatives is not None:
        return None, "as given"
    if settings.negatives:
        return None, "as the settings say"
    if trains_once:
        return Negatives(uniform=4), "the default for streamed edges and many processes"
    drawn = None if kind is None else negatives_of(kind)
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


def _refit(
    graph: AnyGraph, pairs: LabelledPairs | None, options: FitOptions, valid: Any, trains_once: bool
) -> tuple[bool, str]:
    """Whether to train once more with the validation edges, and why."""
    if pairs is None:
        return False, "there are no validation edges"
    if trains_once:
        return False, "streamed edges and many processes train once"
    if options.refit is not None:
        return options.refit, "as given"
    if valid is not None:
        return False, "the validation edges were given"
    if graph.num_edges > MOST_EDGES:
        return False, "the graph is large"
    return True, "validation edges were held out of the graph"


def _kinds(trained: tuple[Trained, ...]) -> str:
    """The negatives of training in words."""
    if not trained:
        return "none"
    counts = trained[0].config.negatives.counts
    return f"{', '.join(f'{count} {kind}' for kind, count in counts.items())} per edge"


def _evidence(options: FitOptions, graph: AnyGraph, spread: bool) -> tuple[str, str, tuple[Outside, ...]]:
    """The evidence beside the geometry, why, and what of it comes from outside."""
    word, outside = split_evidence(options.evidence)
    if outside and (spread or not isinstance(graph, DiGraph)):
        raise ValueError("evidence from outside needs the graph in memory, on one process")
    if not outside:
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
