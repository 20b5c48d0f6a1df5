"""Link-prediction splits of the WordNet noun closure by Ganea, Bécigneul and Hofmann (ICML 2018)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from timelike._util.checks import whole_number
from timelike.datasets.downloads import Published, locate
from timelike.graphs.digraph import DiGraph, checked_pairs

if TYPE_CHECKING:
    from timelike.evaluation.splits import Split

HOME = "https://github.com/dalab/hyperbolic_cones (data/maxn)"
RAW = (
    "https://raw.githubusercontent.com/dalab/hyperbolic_cones/"
    "a36f65ea2aa22d3340ec217618698fa83ae928f8/data/maxn/"
)
PERCENTS = (0, 10, 25, 50)
_SHA256 = {
    "vocab": "5008b1fc4b08fa262d148772a211d09fa24f8449616e36d184d3e869fdef05d1",
    "train_0percent": "9426238754ca694fcfaefb1c9d76fe97c8d6697a89d7c9db935449507666654d",
    "train_10percent": "5a20339521fc3d15687bd730d3a6ba6b51acd25369a0a298206441e9e45b44bb",
    "train_25percent": "e5c3f3aed0f8a8886571cf1922bcc2ada5c568d035078518f9f318ede1ee8cbf",
    "valid": "dbafb34bd2ebd73b7f939d2bef0dc36344751d9de70a409c463f734be125f3a7",
    "valid_neg": "30e8a5d4ed5043155687cf7a89ba43c1a64896a2747ef065723b4f72cdd4ef4f",
    "test": "14d37602a2d3133afcd0a284d4cc937a4287085b84984e7137f8f09800916808",
    "test_neg": "223c828f8674987a1e14dae3f95a8915e6321dce6a4a7d3e15c523c85eae931d",
}

#: Part of the split → its file.
FILES = {
    part: Published("wordnet", f"noun_closure.tsv.{part}", sha256, HOME, f"{RAW}noun_closure.tsv.{part}")
    for part, sha256 in _SHA256.items()
}
#: The 50 % file is not in the repository: any draw of the same form is accepted.
FILES["train_50percent"] = Published(
    "wordnet",
    "noun_closure.tsv.train_50percent",
    None,
    "no public address; draw 288,382 pairs of the closure that are neither basic, valid nor test, "
    "and add train_0percent",
)


def wordnet_split(percent: int, data_dir: str | os.PathLike | None = None) -> Split:
    """Load the split that trains on the basic edges and on `percent` (0, 10, 25, 50) of the other pairs.

    Edges point from hypernym to hyponym, as in the files. The 82,114 nodes are all noun synsets except the
    root `entity.n.01`. There are ten non-edges per edge: five replace the hyponym, five the hypernym.
    """
    from timelike.evaluation.splits import Split  # imports JAX, which other data sets do not need

    percent = whole_number("percent", percent, choices=PERCENTS)
    vocabulary = locate(FILES["vocab"], data_dir).read_text(encoding="utf-8")
    names = [line.partition("\t")[2] for line in vocabulary.splitlines()]
    parents, children = _pairs(f"train_{percent}percent", len(names), data_dir).T
    graph = DiGraph.from_arrays(parents, children, names=names)
    valid, valid_non, test, test_non = (
        _pairs(part, len(names), data_dir) for part in ("valid", "valid_neg", "test", "test_neg")
    )
    return Split(graph, valid, valid_non, test, test_non, negatives="listed")


def _pairs(part: str, num_nodes: int, data_dir: str | os.PathLike | None) -> np.ndarray:
    path = locate(FILES[part], data_dir)
    try:
        pairs = np.loadtxt(path, np.int64, delimiter="\t", ndmin=2)
        return checked_pairs(pairs, num_nodes, "this file")
    except ValueError as error:
        raise ValueError(f"{path}: every line must be two node numbers separated by a tab; {error}") from None
