"""Measurements behind the package's settings and tables."""
