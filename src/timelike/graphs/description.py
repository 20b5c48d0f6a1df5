"""Descriptive statistics of a graph, and the geometry that they suggest."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike._util.checks import whole_number
from timelike._util.html_tables import html_table
from timelike.graphs.digraph import DiGraph

if TYPE_CHECKING:
    from scipy.sparse import csr_array

QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
#: Most paths of two edges that are examined; if there are more, this many are sampled.
PATHS = 10**6
#: Most nodes from which shortest cycles are searched, and most edges that all searches together follow.
STARTS, FOLLOWED = 256, 2 * 10**7
#: From this reciprocity on, direction hardly matters.
SYMMETRIC = 0.9
#: Below this fraction of nodes on cycles, linear time works better than a circle (2 % on E. coli).
FEW_ON_CYCLES = 0.1


@dataclasses.dataclass(frozen=True)
class Description:
    """Statistics of a graph.

    density                 edges divided by ordered pairs of different nodes
    reciprocity             fraction of edges whose reverse is also an edge
    components              weakly connected components, and the size of the largest
    strong_components       strongly connected components, and the size of the largest
    nodes_on_cycles         nodes that lie on a cycle
    longest_shortest_cycle  maximum over nodes of the shortest cycle through the node, 0 without cycles
    cycle_searches          nodes on cycles from which it was searched: all of them, or a sample
    in_degrees, out_degrees
                            quantiles over the nodes
    transitive_share        fraction of paths a → b → c with a ≠ c for which a → c is an edge
    transitive_paths        number of paths examined: all of them, or a sample
    geometry, reason        a manifold to start with, and why
    """

    nodes: int
    edges: int
    density: float
    reciprocity: float
    is_dag: bool
    components: int
    largest_component: int
    strong_components: int
    largest_strong_component: int
    nodes_on_cycles: int
    longest_shortest_cycle: int
    cycle_searches: int
    in_degrees: dict[str, float]
    out_degrees: dict[str, float]
    transitive_share: float | None
    transitive_paths: int
    geometry: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain numbers and strings, for JSON."""
        return dataclasses.asdict(self)

    @property
    def _lines(self) -> dict[str, str]:
        searched = f"searched from {self.cycle_searches:,} of {self.nodes_on_cycles:,} nodes on cycles"
        return {
            "nodes": f"{self.nodes:,}",
            "edges": f"{self.edges:,} (density {self.density:.3g})",
            "reciprocity": f"{self.reciprocity:.3f}",
            "components": f"{self.components:,}, the largest has {self.largest_component:,} nodes",
            "strong components": (
                f"{self.strong_components:,}, the largest has {self.largest_strong_component:,} nodes"
            ),
            "cycles": "none (a DAG)"
            if self.is_dag
            else f"the longest shortest cycle has {self.longest_shortest_cycle} edges ({searched})",
            "in-degrees": _quantiles(self.in_degrees),
            "out-degrees": _quantiles(self.out_degrees),
            "transitive": "no paths of two edges"
            if self.transitive_share is None
            else f"{self.transitive_share:.3f} of {self.transitive_paths:,} paths of two edges",
            "geometry": f"{self.geometry}: {self.reason}",
        }

    def __str__(self) -> str:
        return "\n".join(f"{name:<18} {value}" for name, value in self._lines.items())

    def _repr_html_(self) -> str:
        return html_table(self._lines.items())


def describe(graph: DiGraph, seed: int = 0) -> Description:
    """Describe a graph; `seed` determines the samples."""
    from scipy.sparse.csgraph import connected_components

    matrix = graph.adjacency()
    weak, parts = connected_components(matrix, connection="weak")
    strong, labels = connected_components(matrix, connection="strong")
    sizes = np.bincount(labels, minlength=1)
    cyclic = sizes[labels] > 1 if graph.num_nodes else np.zeros(0, bool)
    rng = np.random.default_rng(whole_number("seed", seed))
    cycle, searches = _longest_shortest_cycle(matrix, labels, np.flatnonzero(cyclic), rng)
    share, paths = _transitive(graph, rng)
    pairs = graph.num_nodes * (graph.num_nodes - 1)
    facts: dict[str, Any] = {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "density": graph.num_edges / pairs if pairs else 0.0,
        "reciprocity": _reciprocity(graph),
        "is_dag": not cyclic.any(),
        "components": int(weak),
        "largest_component": int(np.bincount(parts, minlength=1).max()),
        "strong_components": int(strong),
        "largest_strong_component": int(sizes.max()),
        "nodes_on_cycles": int(np.count_nonzero(cyclic)),
        "longest_shortest_cycle": cycle,
        "cycle_searches": searches,
        "in_degrees": _degrees(graph.targets, graph.num_nodes),
        "out_degrees": _degrees(graph.sources, graph.num_nodes),
        "transitive_share": share,
        "transitive_paths": paths,
    }
    geometry, reason = _suggest(facts)
    return Description(**facts, geometry=geometry, reason=reason)


def _reciprocity(graph: DiGraph) -> float:
    """Fraction of edges whose reverse is an edge (as in NetworkX), computed in pieces to save memory."""
    pieces = [slice(i, i + 2**22) for i in range(0, graph.num_edges, 2**22)]
    both = sum(np.count_nonzero(graph.has_edges(graph.targets[i], graph.sources[i])) for i in pieces)
    return both / max(graph.num_edges, 1)


def _degrees(ends: np.ndarray, nodes: int) -> dict[str, float]:
    degrees = np.bincount(ends, minlength=nodes)
    if not degrees.size:
        return {}
    values = np.quantile(degrees, QUANTILES)
    return {f"{q:g}": float(value) for q, value in zip(QUANTILES, values, strict=True)}


def _quantiles(degrees: dict[str, float]) -> str:
    return ", ".join(f"{value:g} at {float(q):.0%}" for q, value in degrees.items())


def _longest_shortest_cycle(
    matrix: csr_array, labels: np.ndarray, on_cycles: np.ndarray, rng: np.random.Generator
) -> tuple[int, int]:
    """The longest of the shortest cycles through some nodes, and the number of nodes searched."""
    starts = on_cycles if len(on_cycles) <= STARTS else rng.choice(on_cycles, STARTS, replace=False)
    longest, budget = 0, FOLLOWED
    for done, start in enumerate(starts):
        length, budget = _shortest_cycle(matrix, labels, int(start), budget)
        longest = max(longest, length)
        if budget <= 0:
            return longest, done + (length > 0)
    return longest, len(starts)


def _shortest_cycle(matrix: csr_array, labels: np.ndarray, start: int, budget: int) -> tuple[int, int]:
    """Edges in the shortest cycle through a node (0 if the budget runs out), and the remaining budget.

    A breadth-first search within the strong component of the node; each level costs a few NumPy calls.
    """
    seen = np.zeros(len(labels), bool)
    level, length = np.asarray([start]), 0
    while level.size and budget > 0:
        length += 1
        reached = matrix[level].indices
        budget -= reached.size + 100
        reached = reached[labels[reached] == labels[start]]
        if np.any(reached == start):
            return length, budget
        level = np.unique(reached[~seen[reached]])
        seen[level] = True
    return 0, budget


def _transitive(graph: DiGraph, rng: np.random.Generator) -> tuple[float | None, int]:
    """The fraction of paths a → b → c of three nodes that an edge a → c closes, and the number examined."""
    continuations = np.diff(graph.row_starts).astype(np.int64)[graph.targets]
    ends = np.cumsum(continuations)  # path i begins with the first edge whose entry exceeds i
    total = int(continuations.sum())
    path = np.arange(total) if total <= PATHS else rng.integers(0, total, PATHS)
    first = np.searchsorted(ends, path, side="right")
    second = graph.row_starts[graph.targets[first]] + path - (ends - continuations)[first]
    a, b, c = graph.sources[first], graph.targets[first], graph.targets[second]
    proper = (a != b) & (b != c) & (a != c)
    count = int(np.count_nonzero(proper))
    if not count:
        return None, 0
    return float(np.mean(graph.has_edges(a[proper], c[proper]))), count


def _suggest(facts: dict[str, Any]) -> tuple[str, str]:
    """The name of a manifold to start with, and why: a rule of thumb."""
    share, mutual = facts["transitive_share"] or 0.0, facts["reciprocity"]
    if mutual >= SYMMETRIC:
        nearly = f"{mutual:.0%} of the edges go both ways, so there is little direction to learn"
        if share < 0.1:
            return "hyperboloid", f"{nearly}; few triangles ({share:.0%}), as in a tree: negative curvature"
        return "euclidean", f"{nearly}; many triangles ({share:.0%}) fit a flat space"
    if facts["is_dag"]:
        more = f", and {share:.0%} of two-step paths are closed, as in an order" if share >= 0.5 else ""
        return "minkowski", f"no cycles, so time can run one way for all nodes{more}"
    on_cycles = facts["nodes_on_cycles"] / facts["nodes"]
    if on_cycles < FEW_ON_CYCLES:
        return "minkowski", f"only {on_cycles:.1%} of the nodes lie on cycles: nearly an order"
    cycles = f"{on_cycles:.0%} of the nodes lie on cycles, which need a circle of time"
    if facts["longest_shortest_cycle"] <= 2 or share >= 0.2:
        return "anti-de-sitter", f"{cycles}; its curvature suits tight cycles and triangles"
    return "cylindrical-minkowski", f"{cycles}; anti-de-sitter may suit too"
