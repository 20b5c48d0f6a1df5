"""Gold standards of the DREAM5 network-inference challenge (Marbach et al., Nature Methods 2012)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from timelike._util.checks import one_of
from timelike.datasets.downloads import Published, locate
from timelike.graphs.digraph import DiGraph

HOME = (
    "https://doi.org/10.5281/zenodo.17854236 (1_Challenge_Data_Supplement.zip), "
    "Synapse syn2787209 and the supplement of doi:10.1038/nmeth.2016"
)
ARCHIVE = "doi:10.5281/zenodo.17854236/1_Challenge_Data_Supplement.zip"
MD5 = "md5:fabfb9cbba5761d29d681e752a45df75"


def _files(network: int, *sha256: str) -> tuple[Published, ...]:
    gold = f"DREAM5_NetworkInference_GoldStandard_Network{network}.tsv"
    names = (gold, f"net{network}_gene_ids.tsv", f"net{network}_transcription_factors.tsv")
    known = zip(names, sha256, strict=True)
    return tuple(Published("dream5", name, digest, HOME, ARCHIVE, MD5) for name, digest in known)


#: Network → its gold standard, gene names and transcription factors.
FILES = {
    "in-silico": _files(
        1,
        "2b5b808846e553e229723cb50f0be324f0250e722965665978aeda6c7fc12703",
        "f41956bef3bcf8a4c633eb59d6d7265bae0e6f9eae5f6bc645cf31870a9cc832",
        "ce9ab43c396fbdb0a02091127b895b71689295bff8bc167f25a1b55d92b77478",
    ),
    "ecoli": _files(
        3,
        "657c9d413e24279466df6ed3219c12c42b59068b0d4d92b28ed4f1e078ba78d3",
        "a3fa4f3690c26774492591a3fcd303b21678df333e908c10e27cd6a53a73dcd9",
        "69dff62d76c1cf5cb45ecfa4301734b8c4885bd8cdbc0d1d1a824fab7ab8cd5b",
    ),
    "yeast": _files(
        4,
        "8a2dfa1278c062e73b6b4511d0d84b055f3982e467e92a48467b05574ea9a0a0",
        "d1dc1164385c1d5c23d0292dd87348a4b820fe460304bcc6fe620daf586236b1",
        "5f5f488db34dee0e895b3eba31ee73d8aa7c0c37c297bcd2331270407196523d",
    ),
}


class Dream5(NamedTuple):
    """A network of regulator → target edges with the rest of its gold standard.

    `graph` holds the genes with an edge, by name. `non_edges` holds the (regulator, target) pairs that the
    gold standard lists as non-edges, (n, 2) node numbers. `regulators` holds the numbers of the nodes that
    the challenge lists as transcription factors.
    """

    graph: DiGraph
    non_edges: np.ndarray
    regulators: np.ndarray


def dream5(network: str, data_dir: str | os.PathLike | None = None) -> Dream5:
    """Load "in-silico", "ecoli" or "yeast".

    Nodes are the genes with edges, in the order of the challenge's anonymous ids (G1, G2, …) but under
    their real names (`lexA`, not `G120`). All listed non-edges lie between these genes, and names are
    unique. Transcription factors without edges are not in `regulators`.
    """
    one_of("network", network, FILES)
    gold, genes, factors = (locate(file, data_dir) for file in FILES[network])
    rows = np.array([[int(cell.removeprefix("G")) for cell in line] for line in _lines(gold)])
    names = [*gene_names(genes).values()]
    listed = np.array([int(line.removeprefix("G")) for line in factors.read_text().split()])
    linked = rows[:, 2] == 1
    ids = np.unique(rows[linked, :2])
    pairs = np.searchsorted(ids, rows[:, :2]).astype(np.int32)
    sources, targets = pairs[linked].T
    graph = DiGraph.from_arrays(sources, targets, names=[names[i - 1] for i in ids])
    return Dream5(graph, pairs[~linked], np.flatnonzero(np.isin(ids, listed)).astype(np.int32))


def gene_names(genes: Path) -> dict[str, str]:
    """The anonymous id of each gene → its name, in the order of the file."""
    return {anonymous: name for anonymous, name in _lines(genes)}


def _lines(path: Path) -> Iterator[list[str]]:
    """Yield the cells of each line that is not a comment, without a table reader."""
    with open(path, encoding="utf-8") as file:
        yield from (line.split() for line in file if not line.startswith("#"))
