"""Nested light cones as an ordinary embedding: probabilities, rankings, files and pictures all work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from timelike.graphs.digraph import DiGraph
from timelike.hierarchy.cone_points import nested_cones
from timelike.hierarchy.described import hierarchy_of

if TYPE_CHECKING:
    from timelike.core.model import Model
    from timelike.embedding.embedding import Embedding
    from timelike.evaluation.labelled_pairs import LabelledPairs

#: The name of this way to get points, in `info["method"]`.
METHOD = "nested cones"
#: The boundary of the cone: its width at the tip, in units of the smallest ball, and its growth outwards.
TIP, GROWTH = 0.01, 0.02


def embed_hierarchy(
    graph: DiGraph,
    dim: int = 5,
    *,
    valid: LabelledPairs | None = None,
    steps: int | None = None,
    seed: int = 0,
    dtype: str = "auto",
) -> Embedding:
    """An embedding in Minkowski(dim) with the `Cone` likelihood, whose points are `nested_cones`.

    Without `valid`, probability ½ is the light cone itself. With validation pairs, probabilities are
    calibrated on them; no point depends on them.
    """
    from timelike.embedding.embedding import Embedding

    hierarchy = hierarchy_of(graph)
    points = nested_cones(hierarchy, dim, steps=steps, seed=seed, dtype=dtype)
    info = {"method": METHOD, "hierarchy": str(hierarchy), "upward": hierarchy.upward, "seed": seed}
    info["boundary"] = 0.5
    embedding = Embedding(cone_model(dim), points, graph.names, {}, info)
    return embedding if valid is None else embedding.calibrated(valid)


def cone_model(dim: int) -> Model:
    """Minkowski(dim) with a `Cone` that has a sharp boundary and does not fade."""
    from timelike.core.model import Model
    from timelike.likelihoods import Cone
    from timelike.manifolds import Minkowski

    return Model(Minkowski(dim), Cone(tau1=TIP, beta=GROWTH, alpha=0.0))
