"""Families of graphs that grow node by node."""

from __future__ import annotations

import numpy as np

from timelike.graphs.digraph import DiGraph


def citations(seed: int, nodes: int = 800, references: float = 5.0, copied: float = 0.5) -> DiGraph:
    """Papers arrive in time and cite older ones.

    A new paper reads one older paper, mostly a recent one, and cites it. Each further reference is one of
    that paper's own references with probability ½, or else an older paper drawn by 1 + its citations.
    """
    rng = np.random.default_rng(seed)
    cited: list[set[int]] = [set()]
    counts = np.ones(nodes)
    for paper in range(1, nodes):
        read = paper - 1 - int(min(rng.exponential(paper / 4), paper - 1))
        chosen = {read}
        for _ in range(rng.poisson(references - 1)):
            if cited[read] and rng.random() < copied:
                chosen.add(int(rng.choice(sorted(cited[read]))))
            else:
                chosen.add(int(rng.choice(paper, p=counts[:paper] / counts[:paper].sum())))
        counts[sorted(chosen)] += 1
        cited.append(chosen)
    pairs = [(paper, one) for paper, chosen in enumerate(cited) for one in chosen]
    return DiGraph.from_arrays(*np.array(pairs).T, nodes)


def scale_free(
    seed: int, edges: int = 4000, new_source: float = 0.2, old: float = 0.7, loose: float = 0.5
) -> DiGraph:
    """Bollobás, Borgs, Chayes and Riordan (2003): ends are drawn by degree + ½.

    With probability `new_source` a new node points to an old one, with probability `old` an old one to an old
    one, else an old one to a new one. Repeated edges and self-loops are left out.
    """
    rng = np.random.default_rng(seed)
    sources, targets, nodes = [0, 1, 2], [1, 2, 0], 3

    def drawn(ends: list[int]) -> int:
        place = rng.random() * (len(ends) + loose * nodes)
        return ends[int(place)] if place < len(ends) else int(rng.integers(nodes))

    while len(sources) < edges:
        kind = rng.random()
        source = nodes if kind < new_source else drawn(sources)
        target = nodes if kind >= new_source + old else drawn(targets)
        nodes += nodes in (source, target)
        sources.append(source)
        targets.append(target)
    return DiGraph.from_arrays(sources, targets, nodes)
