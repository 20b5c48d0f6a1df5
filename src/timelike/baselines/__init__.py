"""Models with a likelihood of their own: published ones to compare with (disks, cones, order and Poincaré
embeddings, the dot product of two vectors a node), and spacetimes with twisted time.

The registry `MODELS` maps names to constructors, which take `dim`. Each returns a `Model`, which is trained,
saved and queried like any other. May import: _util, core, manifolds, evaluation.
"""

from collections.abc import Callable

from timelike.baselines.dot_products import Dot, dot_product
from timelike.baselines.margin_energy import (
    Disk,
    Energy,
    EntailmentCone,
    Order,
    UmbralCone,
    entailment_cones,
    euclidean_disk,
    hyperbolic_disk,
    order_embedding,
    shadow_cones,
    spherical_disk,
)
from timelike.baselines.poincare_embeddings import Poincare, directed, poincare_embedding, rescaled
from timelike.baselines.static_spacetime import Static
from timelike.baselines.twisted_time import TwistedTime, twisted_time
from timelike.core.model import Model

MODELS: dict[str, Callable[[int], Model]] = {
    "order-embedding": order_embedding,
    "euclidean-disk": euclidean_disk,
    "spherical-disk": spherical_disk,
    "hyperbolic-disk": hyperbolic_disk,
    "entailment-cones": entailment_cones,
    "poincare-embedding": poincare_embedding,
    "shadow-cones": shadow_cones,
    "dot-product": dot_product,
    "twisted-time": twisted_time,
}

__all__ = [
    "MODELS",
    "Disk",
    "Dot",
    "Energy",
    "EntailmentCone",
    "Order",
    "Poincare",
    "Static",
    "TwistedTime",
    "UmbralCone",
    "directed",
    "dot_product",
    "entailment_cones",
    "euclidean_disk",
    "hyperbolic_disk",
    "order_embedding",
    "poincare_embedding",
    "rescaled",
    "shadow_cones",
    "spherical_disk",
    "twisted_time",
]
