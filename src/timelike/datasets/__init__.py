"""Graphs made on the spot: the paper's toys and the duplication-divergence model."""

from timelike.datasets.duplication_divergence import duplication_divergence
from timelike.datasets.toy import chain, cycle, transitive_chain, tripartite

__all__ = ["chain", "cycle", "duplication_divergence", "transitive_chain", "tripartite"]
