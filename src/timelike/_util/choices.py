"""The names of all choices, as types, so that `--help` and command-line errors do not load JAX.

The registries list the same names in the same order; a test compares them.
"""

from __future__ import annotations

from typing import Literal

Spacetime = Literal[
    "euclidean",
    "minkowski",
    "cylindrical-euclidean",
    "cylindrical-minkowski",
    "sphere",
    "hyperboloid",
    "de-sitter",
    "anti-de-sitter",
    "two-time-hyperboloid",
]
Geometry = Literal[
    Spacetime,
    "order-embedding",
    "euclidean-disk",
    "spherical-disk",
    "hyperbolic-disk",
    "entailment-cones",
    "poincare-embedding",
    "shadow-cones",
    "dot-product",
    "twisted-time",
    "nested-cones",
]
LikelihoodName = Literal["fermi-dirac", "triple-fermi-dirac", "law-lucas", "cone"]
Preset = Literal["cyclic", "general", "hierarchy", "regulatory"]
Storage = Literal["float32", "bfloat16", "float16"]
#: Kinds of negative samples that an evaluation draws; `listed` ones come from a file.
NegativeKind = Literal[
    "uniform", "active_source", "active_target", "same_source", "same_target", "reversed", "degree"
]
EdgeFormat = Literal[
    "parquet",
    "excel",
    "matrix-market",
    "graphml",
    "obo",
    "rdf-xml",
    "turtle",
    "n-triples",
    "wordnet",
    "sif",
    "edge-list",
]
Evidence = Literal["structure", "none"]
TableFormat = Literal["tsv", "csv", "parquet", "json"]
ExportFormat = Literal["npz", "npy", "tsv", "csv", "parquet", "lancedb", "word2vec", "tensorboard", "graphml"]
PictureKind = Literal[
    "auto", "diagram", "rolled", "polar", "disk", "landscape", "adjacency", "training", "balls"
]
