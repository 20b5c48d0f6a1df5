"""Hierarchies: what a graph says of parents and children, and nested light cones that hold it exactly.

Only `embed_hierarchy` loads JAX. May import: _util, graphs, core, manifolds, likelihoods, evaluation,
embedding.
"""
