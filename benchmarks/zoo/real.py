"""Real directed graphs of the zoo, from packages of PyPI, npm and Debian and from a folder of data sets.

Each loader yields (source, target) pairs of names. Nodes without an edge, self-loops and repeated pairs are
left out. A graph with more than `MOST_NODES` nodes or `MOST_EDGES` edges is cut to its core, see `cut`.
"""

from __future__ import annotations

import ast
import csv
import gzip
import io
import json
import re
import sqlite3
import sysconfig
import tarfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.zoo.downloads import MissingSourceError, Sources
from timelike.graphs.digraph import DiGraph

Pairs = Iterable[tuple[str, str]]

#: A larger graph is cut.
MOST_NODES, MOST_EDGES = 6_000, 60_000

GRASPOLOGIC, CECT = ("graspologic", "3.4.4"), ("cect", "0.3.5")
DEPENDENTS, VEGA = ("dependent-packages", "2.2.2"), ("vega-datasets", "2.11.0")

#: The letters of the numbers in a dictd index, in order.
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def load(name: str, sources: Sources) -> DiGraph:
    """A real graph without names, its nodes in the alphabetical order of their names."""
    pairs = sorted({(s, t) for s, t in REAL[name](sources) if s != t})
    if not pairs:
        raise MissingSourceError(f"the source of {name} has no edges; is it complete?")
    number = {node: i for i, node in enumerate(sorted({node for pair in pairs for node in pair}))}
    kept = cut(np.array([(number[s], number[t]) for s, t in pairs]))
    nodes, ends = np.unique(kept, return_inverse=True)
    return DiGraph.from_arrays(*ends.reshape(-1, 2).T, len(nodes))


def cut(pairs: np.ndarray, most_nodes: int = MOST_NODES, most_edges: int = MOST_EDGES) -> np.ndarray:
    """The (n, 2) pairs of the k-core, directions ignored, with the smallest k that keeps to both limits."""
    least = 1
    while len(np.unique(pairs)) > most_nodes or len(pairs) > most_edges:
        least += 1
        while (low := np.bincount(pairs.ravel())[pairs] < least).any():
            pairs = pairs[~low.any(axis=1)]
    return pairs


def celegans_monoamines(sources: Sources) -> Iterator[tuple[str, str]]:
    """Monoamine signals of C. elegans (Bentley et al. 2016): releasing → receiving neuron."""
    for row in _table(sources, "cect/data/edgelist_MA.csv", ","):
        yield row[0].strip(), row[1].strip()


def celegans_synapses(sources: Sources) -> Iterator[tuple[str, str]]:
    """Chemical synapses of C. elegans (White et al. 1986): presynaptic → postsynaptic neuron."""
    for before, after, kind, _ in _table(sources, "cect/data/aconnectome_white_1986_whole.csv", "\t"):
        if kind == "chemical":
            yield before, after


def debian_python(sources: Sources) -> Iterator[tuple[str, str]]:
    """Package → package that it depends on, in Debian's section "python", first alternatives only."""
    records = []
    for record in sources.available().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in record.splitlines() if ": " in line and line[0] != " ")
        if fields.get("Section") == "python":
            records.append(fields)
    known = {fields["Package"] for fields in records}
    for fields in records:
        for wanted in fields.get("Depends", "").split(","):
            name = re.split(r"[ (:|]", wanted.strip(), maxsplit=1)[0]
            if name in known:
                yield fields["Package"], name


def dream5(network: int) -> Callable[[Sources], Pairs]:
    """The loader of a gold standard."""

    def pairs(sources: Sources) -> Iterator[tuple[str, str]]:
        """Regulator → target in a gold standard of DREAM5 (Marbach et al. 2012)."""
        file = sources.data_file(f"dream5/DREAM5_NetworkInference_GoldStandard_Network{network}.tsv")
        for line in file.read_text().splitlines():
            source, target, edge = line.split("\t")
            if edge == "1":
                yield source, target

    return pairs


def drosophila(sources: Sources) -> Iterator[tuple[str, str]]:
    """Right mushroom body of the Drosophila larva (Eichler et al. 2017): pre- → postsynaptic neuron."""
    with sources.wheel(*GRASPOLOGIC) as archive:
        text = archive.read("graspologic/datasets/drosophila/right_adjacency.csv").decode()
    synapses = np.loadtxt(io.StringIO(text), dtype=int)
    return ((f"{s:03}", f"{t:03}") for s, t in zip(*np.nonzero(synapses), strict=True))


def ecoli_signed(sources: Sources) -> Iterator[tuple[str, str]]:
    """Regulator → gene of E. coli in PRECISE's network, signs dropped; effectors such as amino acids too."""
    genes = sources.data_file("expression/precise-ecoli-genes.csv")
    with open(genes, newline="") as file:
        numbers = {row["gene_name"].lower(): row[""] for row in csv.DictReader(file)}
    with open(sources.data_file("expression/precise-ecoli-trn.csv"), newline="") as file:
        for row in csv.DictReader(file):
            yield numbers.get(row["regulator"].lower(), row["regulator"]), row["gene_id"]


def flare_imports(sources: Sources) -> Iterator[tuple[str, str]]:
    """Class → class that it imports, in the Flare visualisation library."""
    with sources.tarball(*VEGA) as archive:
        for row in json.loads(_member(archive, "package/data/flare-dependencies.json")):
            yield f"{row['source']:03}", f"{row['target']:03}"


def foldoc_links(sources: Sources) -> Iterator[tuple[str, str]]:
    """Entry → entry that it links to, in the Free On-line Dictionary of Computing."""
    folder = sources.unpacked("dict-foldoc") / "usr" / "share" / "dictd"
    text = gzip.decompress((folder / "foldoc.dict.dz").read_bytes())
    entries = {}
    for line in (folder / "foldoc.index").read_text().splitlines():
        word, *place = line.split("\t")
        start, size = (sum(DIGITS.index(c) * 64**i for i, c in enumerate(reversed(x))) for x in place)
        entries[word.lower()] = text[start : start + size].decode()
    for word, entry in entries.items():
        if word.startswith("00-database"):
            continue
        for link in re.findall(r"\{([^{}]+)\}", entry):
            if (target := " ".join(link.split()).lower()) in entries:
                yield word, target


def go_components(sources: Sources) -> Iterator[tuple[str, str]]:
    """Term → more special term ("is a" reversed) among the cellular components of the Gene Ontology."""
    package = sources.unpacked("r-bioc-go.db")
    file = package / "usr/lib/R/site-library/GO.db/extdata/GO.sqlite"
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
        rows = database.execute("SELECT _parent_id, _id FROM go_cc_parents WHERE relationship_type = 'isa'")
        for parent, child in rows:
            yield f"{parent:06}", f"{child:06}"


def npm_dependencies(sources: Sources) -> Iterator[tuple[str, str]]:
    """Package → package that it depends on, in npm at the end of 2016."""
    with sources.tarball(*DEPENDENTS) as outer:
        inner = io.BytesIO(_member(outer, "package/dependents.tgz"))
    with tarfile.open(fileobj=inner) as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(".json"):
                name = member.name.removeprefix("dependents/").removesuffix(".json")
                for dependent in json.loads(_member(archive, member)):
                    yield dependent, name


def python_imports(sources: Sources) -> Iterator[tuple[str, str]]:
    """Module → module that it imports, in the standard library of this Python, tests left out."""
    root = Path(sysconfig.get_path("stdlib"))
    files = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if not {"site-packages", "dist-packages", "test", "tests", "idle_test", "lib2to3"} & set(parts):
            files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    for module, path in files.items():
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        for name in _imported(path, package):
            while name and name not in files:
                name = name.rpartition(".")[0]
            if name:
                yield module, name


def us_flights(sources: Sources) -> Iterator[tuple[str, str]]:
    """Airport → airport with a flight between them, in the USA in 2008."""
    with sources.tarball(*VEGA) as archive:
        rows = csv.DictReader(io.StringIO(_member(archive, "package/data/flights-airport.csv").decode()))
        yield from ((row["origin"], row["destination"]) for row in rows)


def wordnet(synset: str, closure: bool) -> Callable[[Sources], Pairs]:
    """The loader of the nouns below one synset: the basic edges, or their closure."""

    def pairs(sources: Sources) -> Iterator[tuple[str, str]]:
        """Synset → more special synset among some nouns of WordNet."""
        words, children = {}, {}
        for line in sources.data_file("wordnet/noun_closure.tsv.vocab").read_text().splitlines():
            number, word = line.split("\t")
            words[number] = word
        for line in sources.data_file("wordnet/noun_closure.tsv.train_0percent").read_text().splitlines():
            parent, child = line.split("\t")
            children.setdefault(words[parent], []).append(words[child])
        for parent in _below(synset, children):
            yield from ((parent, child) for child in (_below if closure else _next)(parent, children))

    return pairs


def _next(parent: str, children: dict[str, list[str]]) -> list[str]:
    return children.get(parent, [])


def _below(top: str, children: dict[str, list[str]]) -> list[str]:
    """A node and all its descendants, in the order in which a search meets them."""
    found, todo = {top: None}, [top]
    while todo:
        for child in children.get(todo.pop(), []):
            if child not in found:
                found[child] = None
                todo.append(child)
    return list(found)


def _imported(path: Path, package: str) -> Iterator[str]:
    """The full names of all modules, or names in them, that a file imports."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _table(sources: Sources, name: str, delimiter: str) -> Iterator[list[str]]:
    """The rows of a table in the package cect."""
    with sources.wheel(*CECT) as archive:
        yield from csv.reader(io.StringIO(archive.read(name).decode("utf-8-sig")), delimiter=delimiter)


def _member(archive: tarfile.TarFile, name: str | tarfile.TarInfo) -> bytes:
    file = archive.extractfile(name)
    if file is None:
        raise MissingSourceError(f"{archive.name} has no file {name}")
    return file.read()


#: The one list of real graphs: name → a loader.
REAL: dict[str, Callable[[Sources], Pairs]] = {
    "celegans-monoamines": celegans_monoamines,
    "celegans-synapses": celegans_synapses,
    "debian-python": debian_python,
    "dream5-ecoli": dream5(3),
    "dream5-in-silico": dream5(1),
    "dream5-yeast": dream5(4),
    "drosophila-mushroom-body": drosophila,
    "ecoli-signed": ecoli_signed,
    "flare-imports": flare_imports,
    "foldoc-links": foldoc_links,
    "go-components": go_components,
    "npm-dependencies": npm_dependencies,
    "python-imports": python_imports,
    "us-flights": us_flights,
    "wordnet-instruments": wordnet("instrumentality.n.03", closure=False),
    "wordnet-mammals": wordnet("mammal.n.01", closure=True),
}
