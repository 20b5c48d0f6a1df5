"""What manifolds and likelihoods are made of: frozen classes with numbers to sweep, learn and save."""

from timelike._struct import POSITIVE, REAL, UNIT, Domain, child, number, static, struct

__all__ = ["POSITIVE", "REAL", "UNIT", "Domain", "child", "number", "static", "struct"]
