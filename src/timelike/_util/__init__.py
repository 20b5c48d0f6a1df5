"""Helpers that know nothing about graphs: checks, atomic files, interrupts, hardware, progress bars.

Importing these modules is cheap; none of them loads JAX. May import: nothing.
"""
