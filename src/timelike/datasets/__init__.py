"""Data sets by name, verified by checksum, and functions that generate graphs.

May import: _util, core, likelihoods, manifolds, graphs, evaluation.
"""

from timelike.datasets.dream5 import Dream5, dream5
from timelike.datasets.edge_files import export, export_non_edges, export_table
from timelike.datasets.families import (
    chain,
    cycle,
    duplication_divergence,
    grid,
    random_dag,
    three_node_chain,
    transitive_chain,
    transitive_closure,
    tree,
    tripartite,
)
from timelike.datasets.measurements import table
from timelike.datasets.planted import Planted, planted
from timelike.datasets.registry import DATASETS, Dataset, load
from timelike.datasets.rmat import rmat, rmat_to_parquet
from timelike.datasets.wordnet import wordnet_split

__all__ = [
    "DATASETS",
    "Dataset",
    "Dream5",
    "Planted",
    "chain",
    "cycle",
    "dream5",
    "duplication_divergence",
    "export",
    "export_non_edges",
    "export_table",
    "grid",
    "load",
    "planted",
    "random_dag",
    "rmat",
    "rmat_to_parquet",
    "table",
    "three_node_chain",
    "transitive_chain",
    "transitive_closure",
    "tree",
    "tripartite",
    "wordnet_split",
]
