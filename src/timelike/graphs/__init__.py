"""Directed graphs in memory: edges, node names and their look-up, and a description in numbers.

Importing a module of this room does not load JAX. May import: _util.
"""
