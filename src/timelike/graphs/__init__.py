"""Directed graphs in memory: edges, node names and their lookup, and descriptive statistics.

Importing these modules does not load JAX. May import: _util.
"""
