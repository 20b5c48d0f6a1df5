"""Small tools that know nothing of graphs: checks, atomic files, interrupts, hardware, progress bars.

Importing a module of this room is cheap; none loads JAX. May import: nothing.
"""
