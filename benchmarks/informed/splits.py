"""Splits of a network: random edges, all edges into an operon, out of a regulator, or of a gene."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import timelike as tl
from benchmarks.informed.cases import HELD_OUT, PRECISE, Case
from timelike.evaluation.negative_kinds import draw_negatives

#: Non-edges per edge, and the share of the known edges for validation.
RATIO, VALID = 4, 0.1


def network_of(name: str, data: Path) -> tuple[tl.DiGraph, np.ndarray, list[str] | None]:
    """The graph, its listed non-edges, (n, 2), and its regulators by name; None: the sources.

    PRECISE lists no non-edges: regulators × genes, 40 for each edge, stand for them.
    """
    if name == PRECISE:
        graph = tl.datasets.load(name, data)
        pairs = draw_negatives("active_source", graph, graph.pairs, 10 * RATIO, 0)
        return graph, np.unique(pairs, axis=0), None
    gold = tl.datasets.dream5(name.removeprefix("dream5:"), data)
    return gold.graph, gold.non_edges, [str(gold.graph.name(i)) for i in gold.regulators]


def split_of(case: Case, graph: tl.DiGraph, listed: np.ndarray, data: Path) -> tl.Split:
    """Test edges of whole groups, unless random ones; validation edges are random among the rest."""
    rng, edges = np.random.default_rng([case.seed, 5]), graph.num_edges
    groups = groups_of(case.by, graph, data)
    if groups is None:
        test = np.zeros(edges, bool)
        test[rng.choice(edges, round(HELD_OUT[case.by] * edges), replace=False)] = True
        asked = np.ones(len(listed), bool)
    else:
        test, asked = _of_some(groups, case, graph, listed, rng)
    known = np.flatnonzero(~test)
    valid = np.zeros(edges, bool)
    valid[rng.choice(known, round(VALID * len(known)), replace=False)] = True
    order = rng.permutation(np.flatnonzero(asked))
    other = order[RATIO * test.sum() :] if groups is None else rng.permutation(np.flatnonzero(~asked))
    return tl.Split(
        graph.subgraph(~test & ~valid),
        graph.pairs[valid],
        listed[other[: RATIO * valid.sum()]],
        graph.pairs[test],
        listed[order[: RATIO * test.sum()]],
        "listed",
        case.seed,
        case.by,
    )


def _of_some(
    groups: np.ndarray, case: Case, graph: tl.DiGraph, listed: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Whether each edge, and each listed pair, belongs to a group of the test."""
    ends = {"regulator": [0], "gene": [0, 1]}.get(case.by, [1])
    order = rng.permutation(np.unique(groups))
    if case.by == "gene":
        chosen = order[: round(HELD_OUT[case.by] * len(order))]
    else:
        size = np.array([(groups[graph.pairs[:, ends[0]]] == one).sum() for one in order])
        chosen = order[: 1 + int(np.searchsorted(np.cumsum(size), HELD_OUT[case.by] * graph.num_edges))]
    test, asked = (np.isin(groups[pairs[:, ends]], chosen).any(axis=1) for pairs in (graph.pairs, listed))
    return test, asked


def groups_of(by: str, graph: tl.DiGraph, data: Path) -> np.ndarray | None:
    """The group of each node; a gene without an operon is alone. None: edges are drawn one by one."""
    if by in ("regulator", "gene"):
        return np.arange(graph.num_nodes)
    if by != "operon":
        return None
    table = tl.datasets.table(PRECISE, "genes", data)
    known = dict(zip(table["gene"].to_list(), table["operon"].to_list(), strict=True))
    names = [known.get(str(name)) or f"only {name}" for name in graph.names]
    return np.unique(names, return_inverse=True)[1]
