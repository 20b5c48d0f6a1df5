"""Settings to begin with: for a geometry, a likelihood and a graph, what to train and how.

Where validation pairs can tell, the recipe and those of `portfolio` are tried, with negatives like theirs.
`timelike reproduce defaults` measures how much tuning adds to that.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Any

import numpy as np

from timelike._util.checks import one_of, show, whole_number
from timelike.baselines import MODELS
from timelike.core.likelihood import Likelihood
from timelike.core.model import Model
from timelike.core.struct import numbers_of
from timelike.engine.config import Config
from timelike.engine.negatives import Negatives
from timelike.estimator.portfolio import portfolio
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.graphs.digraph import DiGraph
from timelike.io.edge_shards import AnyGraph
from timelike.likelihoods import LIKELIHOODS, FermiDirac, TripleFermiDirac
from timelike.manifolds import MANIFOLDS

#: Geometries without time, whose likelihood is undirected.
TIMELESS = ("euclidean", "hyperboloid", "sphere")
#: Geometries whose time is a circle.
CIRCULAR = ("cylindrical-minkowski", "cylindrical-euclidean", "anti-de-sitter", "two-time-hyperboloid")
#: On a quadric a step of the same rate goes further.
CURVED = ("anti-de-sitter", "de-sitter", "hyperboloid", "sphere", "two-time-hyperboloid")

#: The α with which the far future fades: where time is a circle, likelihood that has not decayed after a turn
#: comes round from behind.
FADING = 0.1

#: Graphs with more edges are trained by Adam, with the recipe itself; smaller ones by the paper's SGD, and
#: a few variations of the recipe are tried.
SMALL = 20_000
#: An epoch has at most so many steps while batches are below `LARGEST_BATCH`.
STEPS = 256
#: What baselines need that others do not: cones have no opening near the centre, so begin outside.
BASELINE: dict[str, dict[str, Any]] = {"entailment-cones": {"init_scale": 0.5}}
SMALLEST_BATCH, LARGEST_BATCH = 32, 4096
#: What `variations` may change besides the numbers of the model.
SWEPT_OF_CONFIG = ("learning_rate", "init_scale", "anneal")
#: Protocols, and negatives that are drawn like their non-edges. Where one end of all edges is one of a few
#: nodes, which way an edge points is learned from edges backwards.
OF_PROTOCOL: dict[str, dict[str, int]] = {
    "uniform": {"uniform": 4},
    "inner": {"inner": 4, "reversed": 1},
    "outer": {"outer": 4, "reversed": 1},
    "corrupt-target": {"target": 4},
    "corrupt-source": {"source": 4},
    "degree": {"degree": 4},
}
#: How much a negative counts, where that is not 1: regulators are few, so a non-edge of one says more.
KIND_WEIGHTS = {"inner": 3.0, "outer": 3.0}


def recipe(
    geometry: str, dim: int = 10, likelihood: str | Likelihood | None = None, graph: AnyGraph | None = None
) -> tuple[Model, Config]:
    """A model and how to train it, for a geometry in `manifolds.MANIFOLDS` or a model in `baselines.MODELS`.

    A `likelihood` by name gets the numbers of the recipe; None: the one that suits the geometry.
    With m edges there are 20·(10⁶/m)^0.3 epochs, between 5 and 150. Without a graph: as for a small one.
    """
    check_geometry(geometry)
    edges = 1000 if graph is None else max(graph.num_edges, 1)
    large = edges > SMALL
    epochs = min(max(round(20 * (1e6 / edges) ** 0.3), 5), 150)
    rate = 0.02 if large else 0.01 if geometry in CURVED else 0.03
    config = Config(
        epochs=epochs,
        batch_size=min(max(edges // STEPS, SMALLEST_BATCH), LARGEST_BATCH),
        learning_rate=rate,
        optimizer="adam" if large else "sgd",
        burn_in=min(10, epochs // 10),
        negatives=Negatives(uniform=4),
    )
    if geometry in MODELS:
        return _baseline(geometry, dim, likelihood), dataclasses.replace(config, **BASELINE.get(geometry, {}))
    return Model(MANIFOLDS[geometry](dim), _likelihood(geometry, likelihood)), config


def shortened(config: Config, epochs: int | None) -> Config:
    """The recipe with another number of epochs: a tenth of them at most is burn-in."""
    if epochs is None:
        return config
    return dataclasses.replace(config, epochs=epochs, burn_in=min(config.burn_in, epochs // 10))


def variations(
    geometry: str, model: Model, config: Config, graph: DiGraph, fixed: Collection[str] = ()
) -> list[dict[str, float]]:
    """What to try where validation edges can tell, the recipe itself first: runs for `timelike.sweep`.

    Those of `portfolio`; where there are none, a third and thrice the learning rate. Numbers in `fixed` stay
    as they are. None for a large graph, or if nothing is left to vary.
    """
    if graph.num_edges > SMALL:
        return []
    own = {**numbers_of(model), **{name: getattr(config, name) for name in SWEPT_OF_CONFIG}}
    rates = [{"learning_rate": factor * config.learning_rate} for factor in (1 / 3, 3)]
    others = portfolio(geometry) or rates
    names = [name for name in others[0] if name in own and name not in fixed]
    runs = dict.fromkeys(tuple(float(run[name]) for name in names) for run in [own, *others])
    return [dict(zip(names, run, strict=True)) for run in runs] if len(runs) > 1 else []


def any_negatives(count: int) -> Negatives:
    """So many with every edge, of any two nodes."""
    why = ": without non-edges to tell them from, every pair becomes a likely edge"
    return Negatives(uniform=whole_number("negatives", count, 1, note=why))


def negatives_of(protocol: str) -> Negatives | None:
    """Negatives that are drawn as a protocol draws non-edges; None: there are none such.

    What a model is asked to tell apart it should have learned to tell apart: on DREAM5, listed non-edges are
    of regulators, and nothing else costs more.
    """
    counts = OF_PROTOCOL.get(protocol)
    return None if counts is None else _weighted(counts)


def _weighted(counts: dict[str, int]) -> Negatives:
    weights = {kind: KIND_WEIGHTS[kind] for kind in counts if kind in KIND_WEIGHTS}
    return Negatives(**counts, weights=weights)


def negatives_like(valid: LabelledPairs, graph: DiGraph) -> Negatives:
    """Those of the kind that validation's non-edges most likely are, where nobody says how they were drawn.

    Their sources may be any nodes, nodes that have edges to others, or these as often as they have edges;
    their targets the same, with edges from others.
    """
    sources, targets = valid.negatives.T
    if not len(sources):
        return Negatives(uniform=4)
    edges = np.concatenate([graph.pairs, valid.positives])
    leaving, entering = (np.bincount(end, minlength=graph.num_nodes) for end in edges.T)
    likely = {
        kind: _log_likelihood(sources, of_source) + _log_likelihood(targets, of_target)
        for kind, of_source, of_target in (
            ("uniform", leaving >= 0, entering >= 0),
            ("inner", leaving > 0, entering >= 0),
            ("outer", leaving >= 0, entering > 0),
            ("target", leaving, entering >= 0),
            ("source", leaving >= 0, entering),
            ("inner_source", leaving > 0, entering),
            ("degree", leaving, entering),
        )
    }
    kind = max(likely, key=lambda name: likely[name])
    return _weighted({kind: 4})


def _log_likelihood(nodes: np.ndarray, frequencies: np.ndarray) -> float:
    """That nodes were drawn so often; one in fifty may be any."""
    shares = 0.98 * frequencies / frequencies.sum() + 0.02 / len(frequencies)
    return float(np.log(shares[nodes]).sum())


def check_geometry(geometry: str, more: tuple[str, ...] = ()) -> None:
    """Raise a `ValueError` unless this is the name of a geometry, or one of `more`."""
    one_of("geometry", geometry, (*more, *MANIFOLDS, *MODELS))


def _baseline(geometry: str, dim: int, likelihood: str | Likelihood | None) -> Model:
    if likelihood is not None:
        raise ValueError(f"likelihood is {show(likelihood)}; {geometry} has its own, leave it out")
    return MODELS[geometry](dim)


def _likelihood(geometry: str, likelihood: str | Likelihood | None) -> Likelihood:
    if isinstance(likelihood, Likelihood):
        return likelihood
    name = likelihood or ("fermi-dirac" if geometry in TIMELESS else "triple-fermi-dirac")
    one_of("likelihood", name, LIKELIHOODS, ", or a Likelihood")
    alpha = FADING if geometry in CIRCULAR else 0.03
    tuned = {
        "fermi-dirac": FermiDirac(tau=0.2, r=0.5),
        "triple-fermi-dirac": TripleFermiDirac(tau1=0.1, tau2=0.05, alpha=alpha),
    }
    return tuned.get(name) or LIKELIHOODS[name]()
