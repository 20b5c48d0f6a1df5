"""Recipes, the first layer of a plan: the model for a geometry, a likelihood and a graph, and its training.

If there are validation pairs, a fit also tries the settings of `portfolio`, with negatives of the same kind.
`timelike reproduce defaults` measures how much tuning adds to a recipe.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Any

import numpy as np

from timelike._util.checks import one_of, show
from timelike.baselines import MODELS
from timelike.core.likelihood import Likelihood
from timelike.core.manifold import Manifold
from timelike.core.model import Model
from timelike.core.struct import numbers_of
from timelike.engine.config import Config
from timelike.engine.negatives import Negatives
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.graphs.description import SYMMETRIC, Description
from timelike.graphs.digraph import DiGraph
from timelike.io.edge_shards import AnyGraph
from timelike.likelihoods import LIKELIHOODS, FermiDirac, TripleFermiDirac
from timelike.manifolds import MANIFOLDS

#: Geometries whose points are not trained but read off the edges.
READ_OFF = ("nested-cones",)
#: Geometries without time, whose likelihood is undirected.
TIMELESS = ("euclidean", "hyperboloid", "sphere")
#: Geometries whose time is a circle.
CIRCULAR = ("cylindrical-minkowski", "cylindrical-euclidean", "anti-de-sitter", "two-time-hyperboloid")
#: On a quadric a step of the same rate goes further.
CURVED = ("anti-de-sitter", "de-sitter", "hyperboloid", "sphere", "two-time-hyperboloid")

#: α where time is a circle: likelihood that has not decayed after one turn would come round from the past.
FADING = 0.1

#: Graphs with more edges are trained with Adam, by the recipe alone; smaller ones with the paper's SGD, and
#: with a few variations of the recipe.
SMALL = 20_000
#: Most steps of an epoch, as long as batches stay below `LARGEST_BATCH`.
STEPS = 256
#: Settings of single baselines: entailment cones have no opening near the centre, so points start outside;
#: dot products have no gradient at 0.
BASELINE: dict[str, dict[str, Any]] = {
    "entailment-cones": {"init_scale": 0.5},
    "dot-product": {"init_scale": 0.1, "optimizer": "adam", "learning_rate": 0.005},
}
SMALLEST_BATCH, LARGEST_BATCH = 32, 4096
#: The fields of `Config` that `variations` may change, besides the numbers of the model.
SWEPT_OF_CONFIG = ("learning_rate", "init_scale", "anneal")
#: Kind of validation negatives → training negatives of the same kind. If few nodes are sources (or targets),
#: the model learns the direction of edges from reversed ones.
OF_VALIDATION: dict[str, dict[str, int]] = {
    "uniform": {"uniform": 4},
    "active_source": {"active_source": 4, "reversed": 1},
    "active_target": {"active_target": 4, "reversed": 1},
    "same_source": {"same_source": 4},
    "same_target": {"same_target": 4},
    "degree": {"degree": 4},
}
#: Weights in the loss, default 1: regulators are few, so a negative of one says more.
KIND_WEIGHTS = {"active_source": 3.0, "active_target": 3.0}

_TIMELESS = ("learning_rate", "tau", "r", "init_scale", "anneal")
_TRIPLE = ("learning_rate", "tau1", "tau2", "alpha", "r", "init_scale", "anneal")
_CYLINDER = (*_TRIPLE, "circumference")
#: Settings for each geometry, good for different graphs, from a search in two rounds (`python -m
#: paper.studies.portfolio`): 256 settings per geometry, drawn at random and then around the better ones, on
#: three splits of every DREAM5 network (listed and uniform negatives) and on six duplication-divergence
#: graphs, d = 10. Together these few have the highest validation AP, best first. No test edge was used.
_FOUND: dict[str, tuple[tuple[str, ...], tuple[tuple[float, ...], ...]]] = {
    "minkowski": (_TRIPLE, (
        (0.1, 0.28, 0.16, 0.22, 0.16, 0.01, 1.0),
        (0.31, 0.049, 0.13, 0.063, -0.14, 0.013, 1.0),
        (0.086, 0.36, 0.054, 0.12, 0.25, 0.11, 1.0),
        (0.064, 0.46, 0.2, 0.42, 0.22, 0.011, 1.0),
        (0.017, 0.053, 0.041, 0.086, -0.069, 0.01, 1.0),
        (0.064, 0.12, 0.091, 0.074, 0.064, 0.1, 3.0),
    )),
    "cylindrical-minkowski": (_CYLINDER, (
        (0.017, 0.053, 0.041, 0.086, -0.069, 0.01, 1.0, 8.8),
        (0.029, 0.34, 0.025, 0.064, 0.12, 0.11, 1.0, 13.0),
        (0.07, 0.27, 0.14, 0.23, 0.17, 0.1, 1.0, 16.0),
        (0.16, 0.044, 0.041, 0.13, -0.12, 0.0069, 1.0, 19.0),
        (0.036, 0.27, 0.028, 0.2, 0.092, 0.1, 1.0, 11.0),
        (0.02, 0.059, 0.083, 0.2, 0.2, 0.01, 3.0, 13.0),
    )),
    "anti-de-sitter": (_TRIPLE, (
        (0.0096, 0.048, 0.034, 0.16, 0.032, 0.01, 1.0),
        (0.075, 0.032, 0.035, 0.15, -0.11, 0.0065, 1.0),
        (0.012, 0.11, 0.018, 0.039, 0.09, 0.16, 1.0),
        (0.0088, 0.067, 0.057, 0.39, 0.078, 0.0064, 1.0),
        (0.0061, 0.032, 0.024, 0.11, -0.042, 0.06, 1.0),
        (0.015, 0.088, 0.023, 0.1, 0.0078, 0.0072, 1.0),
    )),
    "euclidean": (_TIMELESS, (
        (0.0079, 0.19, 0.28, 0.1, 1.0),
        (0.025, 0.15, 0.55, 0.01, 1.0),
        (0.018, 0.52, 0.014, 0.01, 1.0),
        (0.0091, 0.03, 0.63, 0.01, 1.0),
        (0.084, 0.89, 1.3, 0.01, 1.0),
        (0.0084, 0.87, 1.5, 0.01, 3.0),
    )),
    "hyperboloid": (_TIMELESS, (
        (0.074, 0.76, 1.4, 0.01, 1.0),
        (0.0071, 0.17, 0.33, 0.01, 1.0),
        (0.016, 1.3, 1.5, 0.1, 3.0),
        (0.0045, 0.03, 1.4, 0.01, 1.0),
        (0.006, 0.52, 0.014, 0.01, 1.0),
        (0.035, 0.14, 1.4, 0.01, 1.0),
    )),
}  # fmt: skip

#: Geometries that use the portfolio of a similar one.
_LIKE = {
    "cylindrical-euclidean": "cylindrical-minkowski",
    "sphere": "hyperboloid",
    "de-sitter": "anti-de-sitter",
    "two-time-hyperboloid": "anti-de-sitter",
}


def candidate_geometries(description: Description) -> list[str]:
    """Geometries worth a trial on such a graph, the most promising first."""
    if description.reciprocity >= SYMMETRIC:
        kinds = ["euclidean", "hyperboloid"]
    else:
        kinds = ["minkowski", "cylindrical-minkowski", "anti-de-sitter"]
    return [description.geometry, *(name for name in kinds if name != description.geometry)]


def recipe(
    geometry: str | Manifold,
    dim: int = 10,
    likelihood: str | Likelihood | None = None,
    graph: AnyGraph | None = None,
) -> tuple[Model, Config]:
    """A model and how to train it.

    `geometry` is a name in `manifolds.MANIFOLDS` or `baselines.MODELS`, or a manifold, which has its own
    dimensions. A `likelihood` by name gets the numbers of the recipe; None: the one that suits the geometry.
    With m edges there are 20·(10⁶/m)^0.3 epochs, between 5 and 150. Without a graph: as for a small one.
    """
    space = geometry if isinstance(geometry, Manifold) else None
    if isinstance(geometry, Manifold):
        geometry = next((name for name, make in MANIFOLDS.items() if make is type(space)), "")
    else:
        check_geometry(geometry)
        if geometry in READ_OFF:
            raise ValueError(f"geometry is {show(geometry)}, which has nothing to train; name another one")
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
        if likelihood is not None:
            raise ValueError(
                f"likelihood is {show(likelihood)}; {geometry} has its own likelihood, leave it out"
            )
        return MODELS[geometry](dim), dataclasses.replace(config, **BASELINE.get(geometry, {}))
    return Model(space or MANIFOLDS[geometry](dim), _likelihood(geometry, likelihood)), config


def shortened(config: Config, epochs: int | None) -> Config:
    """The recipe with another number of epochs, at most a tenth of them burn-in."""
    if epochs is None:
        return config
    return dataclasses.replace(config, epochs=epochs, burn_in=min(config.burn_in, epochs // 10))


def portfolio(geometry: str) -> list[dict[str, float]]:
    """The settings to try in a geometry, as runs for `timelike.sweep`; may be empty."""
    names, rows = _FOUND.get(_LIKE.get(geometry, geometry), ((), ()))
    return [dict(zip(names, row, strict=True)) for row in rows]


def variations(
    geometry: str, model: Model, config: Config, graph: AnyGraph, fixed: Collection[str] = ()
) -> list[dict[str, float]]:
    """Settings to try by validation, the recipe's own first, as runs for `timelike.sweep`.

    They come from `portfolio`; a geometry without any tries a third and three times the learning rate.
    Numbers in `fixed` keep their values. The list is empty for a large graph, or if nothing is left to vary.
    """
    if graph.num_edges > SMALL:
        return []
    own = {**numbers_of(model), **{name: getattr(config, name) for name in SWEPT_OF_CONFIG}}
    rates = [{"learning_rate": factor * config.learning_rate} for factor in (1 / 3, 3)]
    others = portfolio(geometry) or rates
    names = [name for name in others[0] if name in own and name not in fixed]
    runs = dict.fromkeys(tuple(float(run[name]) for name in names) for run in [own, *others])
    return [dict(zip(names, run, strict=True)) for run in runs] if len(runs) > 1 else []


def negatives_of(kind: str) -> Negatives | None:
    """Training negatives of the same kind as those of validation; None if training has no such kind.

    A model should train on the comparison it is evaluated by: on DREAM5, where listed negatives are pairs of
    a regulator and a gene, nothing else matters more.
    """
    counts = OF_VALIDATION.get(kind)
    return None if counts is None else _weighted(counts)


def _weighted(counts: dict[str, int]) -> Negatives:
    weights = {kind: KIND_WEIGHTS[kind] for kind in counts if kind in KIND_WEIGHTS}
    return Negatives(**counts, weights=weights)


def negatives_like(valid: LabelledPairs, graph: DiGraph) -> Negatives:
    """Training negatives of the kind that the validation negatives, drawn elsewhere, most likely are.

    Sources may be any nodes, nodes with outgoing edges, or the latter as often as they have edges; targets
    likewise.
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
            ("active_source", leaving > 0, entering >= 0),
            ("active_target", leaving >= 0, entering > 0),
            ("same_source", leaving, entering >= 0),
            ("same_target", leaving >= 0, entering),
            ("active_same_target", leaving > 0, entering),
            ("degree", leaving, entering),
        )
    }
    kind = max(likely, key=lambda name: likely[name])
    return _weighted({kind: 4})


def _log_likelihood(nodes: np.ndarray, frequencies: np.ndarray) -> float:
    """Log-likelihood of nodes drawn with these frequencies; one in fifty may be any node."""
    shares = 0.98 * frequencies / frequencies.sum() + 0.02 / len(frequencies)
    return float(np.log(shares[nodes]).sum())


def check_geometry(geometry: str, more: tuple[str, ...] = ()) -> None:
    """Raise a `ValueError` unless `geometry` is the name of a geometry or one of `more`."""
    note = ", or a manifold object such as timelike.manifolds.Minkowski(4)"
    one_of("geometry", geometry, (*more, *MANIFOLDS, *MODELS, *READ_OFF), note)


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
