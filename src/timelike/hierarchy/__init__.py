"""Hierarchies: what a graph says of parents and children, and nested light cones that hold it exactly.

Importing these modules does not load JAX. May import: _util, graphs.
"""
