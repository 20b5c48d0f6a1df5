"""An estimator that trains in no time, and edges by name."""

from timelike import SpacetimeEmbedding
from timelike.likelihoods import TripleFermiDirac

GENES = [
    ("lexA", "recA"),
    ("lexA", "umuD"),
    ("recA", "lexA"),
    ("fis", "crp"),
    ("crp", "fis"),
    ("crp", "lexA"),
]


#: A learning rate and a likelihood, so that nothing else is tried, and it is not trained again: one run,
#: quickly compiled.
PLAIN = {
    "dim": 3,
    "epochs": 20,
    "learning_rate": 0.03,
    "likelihood": TripleFermiDirac(),
    "refit": False,
    "evidence": "none",
    "progress": False,
}


def small(geometry="minkowski", **settings) -> SpacetimeEmbedding:
    """An estimator that trains in no time."""
    return SpacetimeEmbedding(geometry, **{**PLAIN, **settings})
