"""The noun hierarchy of WordNet 3.0 from its database files; edges point from hypernym to hyponym."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from timelike.datasets.closure import transitive_closure
from timelike.datasets.downloads import Published, locate
from timelike.graphs.digraph import DiGraph

#: The noun files of the database. Builds differ in their bytes, so the number of synsets is checked.
FILES = tuple(
    Published(
        "wordnet",
        name,
        None,
        "https://wordnet.princeton.edu (WordNet 3.0 database files) or Debian's package wordnet-base",
        "https://deb.debian.org/debian/pool/main/w/wordnet/wordnet-base_3.0-37_all.deb",
        "sha256:61060d960f9ada8fa120872312eccd3ecebfbab8c4579e4f5a74e1cf67620752",
        "/usr/share/wordnet",
    )
    for name in ("data.noun", "index.noun")
)
SYNSETS = 82_115
ROOT = "entity.n.01"


def noun_hypernyms(data_dir: str | os.PathLike | None = None) -> DiGraph:
    """Direct hypernyms, including instances (`@i`): `feline.n.01` → `cat.n.01`."""
    data, index = (locate(file, data_dir) for file in FILES)
    graph = read_nouns(data, index)
    if graph.num_nodes != SYNSETS:
        raise ValueError(
            f"{data} has {graph.num_nodes:,} noun synsets; WordNet 3.0 has {SYNSETS:,}: use that version"
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
    """Read the direct hypernyms from the files `data.noun` and `index.noun`.

    Synsets are named as in NLTK: the first word in lower case, `.n.`, and the two-digit number of its sense,
    which is the position of the synset's offset in the word's line of the index.
    """
    senses = dict(_senses(index))
    number: dict[str, int] = {}
    names: list[str] = []
    links: list[tuple[str, int]] = []
    for line, (offset, word, hypernyms) in _synsets(data):
        if (word, offset) not in senses:
            raise ValueError(f"{data}, line {line}: {index} has no sense of {word!r} at offset {offset}")
        links += [(hypernym, len(names)) for hypernym in hypernyms]
        number[offset] = len(names)
        names.append(f"{word}.n.{senses[word, offset]:02d}")
    for hypernym, child in links:
        if hypernym not in number:
            raise ValueError(f"{data}: the hypernym {hypernym} of {names[child]} is not in the file")
    parents = np.array([number[hypernym] for hypernym, _ in links], np.int32)
    return DiGraph.from_arrays(parents, np.array([child for _, child in links], np.int32), names=names)


def _synsets(data: Path) -> Iterator[tuple[int, tuple[str, str, list[str]]]]:
    """Yield line number, offset, first word and hypernyms' offsets of each synset (format: wndb(5WN))."""
    for line, fields in _lines(data):
        try:
            at = 4 + 2 * int(fields[3], 16)
            pointers = fields[at + 1 : at + 1 + 4 * int(fields[at])]
            links = zip(pointers[::4], pointers[1::4], strict=True)
            yield line, (fields[0], fields[4].lower(), [up for kind, up in links if kind in ("@", "@i")])
        except (IndexError, ValueError):
            raise ValueError(f"{data}, line {line}: not a synset: {' '.join(fields)[:60]!r}") from None


def _senses(index: Path) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield (word, offset) and sense number for all words of the index."""
    for line, fields in _lines(index):
        try:
            offsets = fields[-int(fields[2]) :]
        except (IndexError, ValueError):
            raise ValueError(f"{index}, line {line}: not an index entry: {' '.join(fields)[:60]!r}") from None
        for sense, offset in enumerate(offsets, 1):
            yield (fields[0], offset), sense


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield numbered lines as fields, without the indented licence at the top and without glosses."""
    with open(path, encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            if not line.startswith("  "):
                yield number, line.partition(" | ")[0].split()


def _induced(graph: DiGraph, keep: np.ndarray) -> DiGraph:
    """Return the subgraph of the selected nodes, renumbered."""
    new = np.cumsum(keep) - 1
    both = keep[graph.sources] & keep[graph.targets]
    names = None if graph.names is None else [graph.names[i] for i in np.flatnonzero(keep).tolist()]
    return DiGraph.from_arrays(new[graph.sources[both]], new[graph.targets[both]], names=names)
