"""The noun hierarchy of WordNet 3.0, from its database files. Edges point from hypernym to hyponym."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from timelike.datasets.closure import transitive_closure
from timelike.datasets.downloads import Published, locate
from timelike.graphs.digraph import DiGraph

#: The noun files of the database. Builds differ in their bytes, so the number of synsets is checked instead.
FILES = tuple(
    Published(
        "wordnet",
        name,
        None,
        "https://wordnet.princeton.edu (WordNet 3.0 database files) and in Debian's package wordnet-base",
        "https://deb.debian.org/debian/pool/main/w/wordnet/wordnet-base_3.0-37_all.deb",
        "sha256:61060d960f9ada8fa120872312eccd3ecebfbab8c4579e4f5a74e1cf67620752",
        "/usr/share/wordnet",
    )
    for name in ("data.noun", "index.noun")
)
SYNSETS = 82_115
ROOT = "entity.n.01"


def noun_hypernyms(data_dir: str | os.PathLike | None = None) -> DiGraph:
    """The direct hypernyms: `feline.n.01` → `cat.n.01`, instances (`@i`) included."""
    data, index = (locate(file, data_dir) for file in FILES)
    graph = read_nouns(data, index)
    if graph.num_nodes != SYNSETS:
        raise ValueError(
            f"{data} has {graph.num_nodes:,} noun synsets; WordNet 3.0 has {SYNSETS:,}: take that version"
        )
    return graph


def nouns(data_dir: str | os.PathLike | None = None) -> DiGraph:
    """The transitive closure of the direct hypernyms, with the root `entity.n.01`."""
    return transitive_closure(noun_hypernyms(data_dir))


def nouns_without_root(data_dir: str | os.PathLike | None = None) -> DiGraph:
    """The closure without the root, as in the splits of Ganea et al. 2018."""
    graph = nouns(data_dir)
    return _induced(graph, np.arange(graph.num_nodes) != graph.numbers(ROOT)[0])


def mammals(data_dir: str | os.PathLike | None = None) -> DiGraph:
    """The closure among `mammal.n.01` and all its hyponyms."""
    graph = nouns(data_dir)
    top = graph.numbers("mammal.n.01")[0]
    inside = np.zeros(graph.num_nodes, bool)
    inside[graph.targets[graph.sources == top]] = True
    inside[top] = True
    return _induced(graph, inside)


def read_nouns(data: Path, index: Path) -> DiGraph:
    """The graph of direct hypernyms in the files `data.noun` and `index.noun`.

    A synset is called as NLTK calls it: its first word in lower case, `.n.`, and the two-digit
    number of that word's sense, from the index. A word's senses are numbered by the order of the
    offsets in its line of the index.
    """
    senses = dict(_senses(index))
    number: dict[str, int] = {}
    names: list[str] = []
    links: list[tuple[str, int]] = []
    for line, (offset, word, hypernyms) in _synsets(data):
        if (word, offset) not in senses:
            raise ValueError(f"{data}, line {line}: {index} has no sense of {word!r} at {offset}")
        links += [(hypernym, len(names)) for hypernym in hypernyms]
        number[offset] = len(names)
        names.append(f"{word}.n.{senses[word, offset]:02d}")
    for hypernym, child in links:
        if hypernym not in number:
            raise ValueError(f"{data}: the hypernym {hypernym} of {names[child]} is not in the file")
    parents = np.array([number[hypernym] for hypernym, _ in links], np.int32)
    return DiGraph.from_arrays(parents, np.array([child for _, child in links], np.int32), names=names)


def _synsets(data: Path) -> Iterator[tuple[int, tuple[str, str, list[str]]]]:
    """Line number, offset, first word and hypernyms' offsets of every synset (format: wndb(5WN))."""
    for line, fields in _lines(data):
        try:
            at = 4 + 2 * int(fields[3], 16)
            pointers = fields[at + 1 : at + 1 + 4 * int(fields[at])]
            up = [
                offset
                for kind, offset in zip(pointers[::4], pointers[1::4], strict=True)
                if kind in ("@", "@i")
            ]
            yield line, (fields[0], fields[4].lower(), up)
        except (IndexError, ValueError):
            raise ValueError(f"{data}, line {line}: this is no synset: {' '.join(fields)[:60]!r}") from None


def _senses(index: Path) -> Iterator[tuple[tuple[str, str], int]]:
    """(word, offset) → sense number, for all words of the index."""
    for line, fields in _lines(index):
        try:
            offsets = fields[-int(fields[2]) :]
        except (IndexError, ValueError):
            raise ValueError(
                f"{index}, line {line}: this is no line of an index: {' '.join(fields)[:60]!r}"
            ) from None
        for sense, offset in enumerate(offsets, 1):
            yield (fields[0], offset), sense


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The numbered lines as fields, without the licence at the top (indented) and the glosses."""
    with open(path, encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            if not line.startswith("  "):
                yield number, line.partition(" | ")[0].split()


def _induced(graph: DiGraph, keep: np.ndarray) -> DiGraph:
    """The chosen nodes, renumbered, and the edges among them."""
    new = np.cumsum(keep) - 1
    both = keep[graph.sources] & keep[graph.targets]
    names = None if graph.names is None else [graph.names[i] for i in np.flatnonzero(keep).tolist()]
    return DiGraph.from_arrays(new[graph.sources[both]], new[graph.targets[both]], names=names)
