"""The one list of data sets, and the names they are loaded by."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import os
from collections.abc import Callable
from functools import partial
from typing import Any

from timelike._util.checks import instance, show
from timelike.datasets import wordnet
from timelike.datasets.downloads import Published
from timelike.datasets.dream5 import FILES as DREAM5_FILES
from timelike.datasets.dream5 import dream5
from timelike.datasets.duplication_divergence import duplication_divergence
from timelike.datasets.families import grid, random_dag, tree
from timelike.datasets.rmat import rmat
from timelike.datasets.toy import chain, cycle, three_node_chain, transitive_chain, tripartite
from timelike.graphs.digraph import DiGraph

PAPER = "Sim et al., ICML 2021"
DREAM5 = "Marbach et al., Nature Methods 9 (2012) 796, doi:10.1038/nmeth.2016"
WORDNET = "Princeton University, WordNet 3.0 (2006), https://wordnet.princeton.edu"


@dataclasses.dataclass(frozen=True)
class Dataset:
    """A data set: how to make it, and what is to be known about it.

    One with `files` is made by `make(data_dir)` and has fixed counts; the others are made on the
    spot by `make(**parameters)`.
    """

    make: Callable[..., DiGraph]
    about: str
    source: str
    licence: str = "none needed: made on the spot"
    nodes: int | None = None
    edges: int | None = None
    files: tuple[Published, ...] = ()

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that may follow the name, with their defaults."""
        if self.files:
            return {}
        return {name: p.default for name, p in inspect.signature(self.make).parameters.items()}


def _dream5_graph(network: str, data_dir: str | os.PathLike | None = None) -> DiGraph:
    return dream5(network, data_dir).graph


def _dream5(network: str, organism: str, nodes: int, edges: int) -> Dataset:
    about = f"gene regulation, {organism}: regulator → target"
    make, files = partial(_dream5_graph, network), DREAM5_FILES[network]
    return Dataset(make, about, DREAM5, "CC BY-ND 4.0", nodes, edges, files)


def _wordnet(make: Callable[..., DiGraph], about: str, nodes: int, edges: int) -> Dataset:
    return Dataset(make, about, WORDNET, "WordNet 3.0 licence", nodes, edges, wordnet.FILES)


#: The one list of data sets: name → what it is.
DATASETS: dict[str, Dataset] = {
    "dream5:in-silico": _dream5("in-silico", "simulated", 1_565, 4_012),
    "dream5:ecoli": _dream5("ecoli", "E. coli", 1_081, 2_066),
    "dream5:yeast": _dream5("yeast", "S. cerevisiae", 1_994, 3_940),
    "wordnet:nouns": _wordnet(
        wordnet.nouns, "hypernym → hyponym, transitive closure with the root", 82_115, 743_241
    ),
    "wordnet:nouns-without-root": _wordnet(
        wordnet.nouns_without_root, "the closure without entity.n.01", 82_114, 661_127
    ),
    "wordnet:noun-hypernyms": _wordnet(
        wordnet.noun_hypernyms, "direct hypernyms and instances only", 82_115, 84_427
    ),
    "wordnet:mammals": _wordnet(wordnet.mammals, "the closure at and below mammal.n.01", 1_182, 6_542),
    "duplication-divergence": Dataset(
        duplication_divergence, "grown by copying nodes; start: cycle, complete, dag", "Ispolatov et al. 2005"
    ),
    "cycle": Dataset(cycle, "a directed cycle", PAPER),
    "chain": Dataset(chain, "a path without transitive edges", PAPER),
    "transitive-chain": Dataset(transitive_chain, "the closure of a path", PAPER),
    "three-node-chain": Dataset(three_node_chain, "0 → 1 → 2 without 0 → 2", PAPER),
    "tripartite": Dataset(tripartite, "unlinked nodes with all neighbours in common", PAPER),
    "tree": Dataset(tree, "a balanced tree, parent → child", "timelike"),
    "grid": Dataset(grid, "a lattice, edges right and down", "timelike"),
    "random-dag": Dataset(random_dag, "uniform random acyclic graph", "timelike"),
    "rmat": Dataset(rmat, "R-MAT/Kronecker, 2^scale nodes", "Chakrabarti et al. 2004"),
}


def load(name: str, data_dir: str | os.PathLike | None = None) -> DiGraph:
    """The graph of a name: "dream5:ecoli", "cycle:5", "tree:branching=2,depth=6", ….

    What follows a colon are parameters, `key=value` or in order, separated by commas; all have
    defaults. Files are looked for in `data_dir`, then in the folder `$TIMELIKE_DATA`, then in the
    user's cache, and downloaded into that if they are nowhere.
    """
    dataset, parameters = resolve(name)
    if dataset.files:
        return dataset.make(data_dir)
    try:
        return dataset.make(**parameters)
    except ValueError as error:
        raise ValueError(f"data set {show(name)}: {error}") from None
    except MemoryError:
        raise ValueError(f"data set {show(name)} does not fit into memory") from None


def resolve(name: str) -> tuple[Dataset, dict[str, Any]]:
    """The data set of a name, and the parameters in the name."""
    instance("name", name, str, "`timelike datasets list` shows all")
    if name in DATASETS:
        return DATASETS[name], {}
    family, _, text = name.partition(":")
    if family not in DATASETS:
        near = difflib.get_close_matches(name, DATASETS, 3, 0)
        raise ValueError(
            f"there is no data set {show(name)}; the nearest names are {', '.join(near)} "
            "(`timelike datasets list` shows all)"
        )
    dataset = DATASETS[family]
    try:
        return dataset, _parameters(dataset.parameters, text)
    except ValueError as error:
        known = ", ".join(f"{key}={value}" for key, value in dataset.parameters.items())
        allowed = f"allowed, with defaults: {known}" if known else "it has none"
        raise ValueError(f"data set {show(name)}: {error}; {allowed}") from None


def _parameters(defaults: dict[str, Any], text: str) -> dict[str, Any]:
    """Read "5,key=value": by key, or else the parameter at that position; of the type of its default."""
    found: dict[str, Any] = {}
    for position, part in enumerate(text.split(",") if text else []):
        key, equals, value = (x.strip() for x in part.partition("="))
        if not equals:
            key, value = dict(enumerate(defaults)).get(position, ""), key
        if key not in defaults or key in found:
            wrong = f"gives {key} twice" if key in found else "is no parameter"
            raise ValueError(f"{show(part.strip())} {wrong}")
        kind = type(defaults[key])
        try:
            found[key] = kind(value)
        except ValueError:
            what = "a whole number" if kind is int else "a number"
            raise ValueError(f"{key} is {show(value)}; it must be {what}") from None
    return found
