"""Settings to begin with: for a geometry, a likelihood and a graph, what to train and how."""

from __future__ import annotations

from timelike.checks import show
from timelike.config import Config
from timelike.graph import DiGraph
from timelike.likelihoods import LIKELIHOODS, Likelihood
from timelike.manifolds import MANIFOLDS
from timelike.model import Model
from timelike.sampling import Negatives

#: Geometries without a direction of time, for which the likelihood is undirected.
UNDIRECTED = ("euclidean", "hyperboloid", "sphere")


def recipe(
    geometry: str, dim: int = 10, likelihood: str | Likelihood | None = None, graph: DiGraph | None = None
) -> tuple[Model, Config]:
    """A model and a way to train it that need no tuning to be good."""
    check_geometry(geometry)
    model = Model(MANIFOLDS[geometry](dim), make_likelihood(geometry, likelihood))
    return model, Config(epochs=100, batch_size=16, negatives=Negatives(uniform=4))


def check_geometry(geometry: str, more: tuple[str, ...] = ()) -> None:
    """Raise a `ValueError` unless this is the name of a geometry, or one of `more`."""
    known = (*more, *MANIFOLDS)
    if geometry not in known:
        raise ValueError(f"geometry is {show(geometry)}; it must be one of {', '.join(known)}")


def make_likelihood(geometry: str, likelihood: str | Likelihood | None = None) -> Likelihood:
    """The likelihood of this name, or the one that goes with the geometry."""
    if isinstance(likelihood, Likelihood):
        return likelihood
    if likelihood is None:
        likelihood = "fermi-dirac" if geometry in UNDIRECTED else "triple-fermi-dirac"
    if likelihood not in LIKELIHOODS:
        raise ValueError(
            f"likelihood is {show(likelihood)}; it must be one of {', '.join(LIKELIHOODS)}, or a Likelihood"
        )
    return LIKELIHOODS[likelihood]()
