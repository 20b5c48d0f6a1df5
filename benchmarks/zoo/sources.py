"""The graphs of the zoo by name and seed: generated on the spot, or read from prepared files."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from benchmarks.zoo.downloads import MissingSourceError, Sources
from benchmarks.zoo.families import FAMILIES, generate
from benchmarks.zoo.real import REAL, load
from timelike.graphs.digraph import DiGraph


def graph_of(name: str, seed: int, prepared: Path | None) -> DiGraph:
    """A generated graph, or a real one from the folder of prepared graphs (the same for each seed)."""
    if name in FAMILIES:
        return generate(name, seed)
    if name not in REAL:
        raise MissingSourceError(f"there is no graph {name}; choose from {', '.join([*FAMILIES, *REAL])}")
    file = None if prepared is None else prepared / f"{name}.npz"
    if file is None or not file.is_file():
        where = "pass --prepared FOLDER or set TIMELIKE_ZOO" if file is None else f"{file} is missing"
        raise MissingSourceError(f"{name} is not prepared: {where} (python -m benchmarks.zoo prepare)")
    with np.load(file) as stored:
        return DiGraph.from_arrays(stored["sources"], stored["targets"], int(stored["num_nodes"]))


def prepare(name: str, sources: Sources, folder: Path) -> DiGraph:
    """Load a real graph and write it, without names, to `folder`/name.npz."""
    graph = load(name, sources)
    folder.mkdir(parents=True, exist_ok=True)
    ends = {"sources": graph.sources, "targets": graph.targets, "num_nodes": np.int64(graph.num_nodes)}
    np.savez_compressed(folder / f"{name}.npz", **ends)
    return graph


def digest(graph: DiGraph) -> str:
    """A short hash of the edges: results of different graphs are never compared."""
    pairs = np.append(graph.pairs.astype(np.int64).ravel(), graph.num_nodes)
    return hashlib.sha256(pairs.tobytes()).hexdigest()[:12]


def facts(graph: DiGraph) -> dict[str, int | float | str]:
    """Nodes, edges, the share of edges whose reverse is an edge, and the digest."""
    returned = float(graph.has_edges(graph.targets, graph.sources).mean())
    sizes = {"nodes": graph.num_nodes, "edges": graph.num_edges}
    return {**sizes, "reciprocity": returned, "digest": digest(graph)}
