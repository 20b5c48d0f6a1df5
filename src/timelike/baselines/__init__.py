"""What a spacetime is compared with: scores of the graph alone, and the models that came before.

`MODELS` is the one list of the latter: name → constructor from `dim`. Every one of them is a `Model`,
trained, saved and asked like any other.
"""

from collections.abc import Callable

from timelike.baselines.cheap import (
    BASELINES,
    UNTRAINED,
    DegreeProduct,
    Katz,
    common_neighbours,
    euclidean,
    evaluate_baselines,
)
from timelike.baselines.cones import EntailmentCone, entailment_cones
from timelike.baselines.disk import Disk, euclidean_disk, hyperbolic_disk, spherical_disk
from timelike.baselines.energy import Energy
from timelike.baselines.order import Order, order_embedding
from timelike.baselines.poincare import Poincare, directed, poincare_embedding, rescaled
from timelike.baselines.shadow import UmbralCone, shadow_cones
from timelike.baselines.static import Static
from timelike.model import Model

MODELS: dict[str, Callable[[int], Model]] = {
    "order-embedding": order_embedding,
    "euclidean-disk": euclidean_disk,
    "spherical-disk": spherical_disk,
    "hyperbolic-disk": hyperbolic_disk,
    "entailment-cones": entailment_cones,
    "poincare-embedding": poincare_embedding,
    "shadow-cones": shadow_cones,
}

__all__ = [
    "BASELINES",
    "MODELS",
    "UNTRAINED",
    "DegreeProduct",
    "Disk",
    "Energy",
    "EntailmentCone",
    "Katz",
    "Order",
    "Poincare",
    "Static",
    "UmbralCone",
    "common_neighbours",
    "directed",
    "entailment_cones",
    "euclidean",
    "euclidean_disk",
    "evaluate_baselines",
    "hyperbolic_disk",
    "order_embedding",
    "poincare_embedding",
    "rescaled",
    "shadow_cones",
    "spherical_disk",
]
