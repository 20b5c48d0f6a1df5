"""The noun hierarchy of WordNet 3.0, and its split by Ganea, Bécigneul and Hofmann (ICML 2018).

Edges point from hypernym to hyponym.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from timelike._util.checks import whole_number
from timelike.datasets.downloads import Published, locate
from timelike.datasets.families import transitive_closure
from timelike.graphs.digraph import DiGraph, checked_pairs

if TYPE_CHECKING:
    from timelike.evaluation.splits import Split

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

SPLIT_HOME = "https://github.com/dalab/hyperbolic_cones (data/maxn)"
RAW = (
    "https://raw.githubusercontent.com/dalab/hyperbolic_cones/"
    "a36f65ea2aa22d3340ec217618698fa83ae928f8/data/maxn/noun_closure.tsv."
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
SPLIT_FILES = {
    part: Published("wordnet", f"noun_closure.tsv.{part}", sha256, SPLIT_HOME, RAW + part)
    for part, sha256 in _SHA256.items()
}
#: The 50 % file is not in the repository: any draw of the same form is accepted.
SPLIT_FILES["train_50percent"] = Published(
    "wordnet",
    "noun_closure.tsv.train_50percent",
    None,
    "no public address; draw 288,382 pairs of the closure that are neither basic, valid nor test, "
    "and add train_0percent",
)


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
    numbered = dict(senses(index))
    number: dict[str, int] = {}
    names: list[str] = []
    links: list[tuple[str, int]] = []
    for line, (offset, words, pointers) in synsets(data):
        word = words[0].lower()
        if (word, offset) not in numbered:
            raise ValueError(f"{data}, line {line}: {index} has no sense of {word!r} at offset {offset}")
        links += [(up, len(names)) for kind, up in pointers if kind in ("@", "@i")]
        number[offset] = len(names)
        names.append(f"{word}.n.{numbered[word, offset]:02d}")
    for hypernym, child in links:
        if hypernym not in number:
            raise ValueError(f"{data}: the hypernym {hypernym} of {names[child]} is not in the file")
    parents = np.array([number[hypernym] for hypernym, _ in links], np.int32)
    return DiGraph.from_arrays(parents, np.array([child for _, child in links], np.int32), names=names)


class Synset(NamedTuple):
    """A synset: its offset in the file, its words, and (symbol, offset) of each of its pointers."""

    offset: str
    words: list[str]
    pointers: list[tuple[str, str]]


def synsets(data: Path) -> Iterator[tuple[int, Synset]]:
    """Yield line number and synset of a database file (format: wndb(5WN)).

    Pointers to words of another part of speech, and between single words, are left out.
    """
    for line, fields in _lines(data):
        try:
            at = 4 + 2 * int(fields[3], 16)
            ends = fields[at + 1 : at + 1 + 4 * int(fields[at])]
            links = zip(ends[::4], ends[1::4], ends[2::4], ends[3::4], strict=True)
            own = [(kind, up) for kind, up, part, words in links if part == fields[2] and words == "0000"]
            yield line, Synset(fields[0], fields[4:at:2], own)
        except (IndexError, ValueError):
            raise ValueError(f"{data}, line {line}: not a synset: {' '.join(fields)[:60]!r}") from None


def senses(index: Path) -> Iterator[tuple[tuple[str, str], int]]:
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


def wordnet_split(percent: int, data_dir: str | os.PathLike | None = None) -> Split:
    """Load the split that trains on the basic edges and on `percent` (0, 10, 25, 50) of the other pairs.

    Edges point from hypernym to hyponym, as in the files. The 82,114 nodes are all noun synsets except the
    root `entity.n.01`. There are ten non-edges per edge: five replace the hyponym, five the hypernym.
    """
    from timelike.evaluation.splits import Split  # imports JAX, which other data sets do not need

    percent = whole_number("percent", percent, choices=PERCENTS)
    vocabulary = locate(SPLIT_FILES["vocab"], data_dir).read_text(encoding="utf-8")
    names = [line.partition("\t")[2] for line in vocabulary.splitlines()]
    parents, children = _pairs(f"train_{percent}percent", len(names), data_dir).T
    graph = DiGraph.from_arrays(parents, children, names=names)
    valid, valid_non, test, test_non = (
        _pairs(part, len(names), data_dir) for part in ("valid", "valid_neg", "test", "test_neg")
    )
    return Split(graph, valid, valid_non, test, test_non, negatives="listed")


def _pairs(part: str, num_nodes: int, data_dir: str | os.PathLike | None) -> np.ndarray:
    path = locate(SPLIT_FILES[part], data_dir)
    try:
        pairs = np.loadtxt(path, np.int64, delimiter="\t", ndmin=2)
        return checked_pairs(pairs, num_nodes, "this file")
    except ValueError as error:
        raise ValueError(f"{path}: every line must be two node numbers separated by a tab; {error}") from None
