"""Hierarchies: what a graph says of parents and children, and nested light cones that hold it exactly.

May import: _util, graphs, core, manifolds, likelihoods, evaluation,
embedding.
"""

from timelike.hierarchy.cone_embedding import embed_hierarchy
from timelike.hierarchy.cone_points import nested_cones
from timelike.hierarchy.described import Hierarchy, hierarchy_of

__all__ = ["Hierarchy", "embed_hierarchy", "hierarchy_of", "nested_cones"]
