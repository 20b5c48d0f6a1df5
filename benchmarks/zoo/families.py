"""Generated graphs of the zoo: families with random seeds, 200 to 1,000 nodes each.

Each function takes a seed and returns a `DiGraph` without names. `generate` also shuffles the node numbers,
so that they reveal neither age nor position.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.zoo import growing
from timelike import datasets
from timelike.graphs.digraph import DiGraph


def generate(name: str, seed: int) -> DiGraph:
    """The graph of a family and seed, its nodes in random order."""
    graph = FAMILIES[name](seed)
    order = np.random.default_rng([seed, 7]).permutation(graph.num_nodes)
    return DiGraph.from_arrays(order[graph.sources], order[graph.targets], graph.num_nodes)


def erdos_renyi(seed: int, nodes: int = 500, edges: int = 3000) -> DiGraph:
    """A uniformly random set of edges: there is nothing to learn but chance."""
    chosen = np.random.default_rng(seed).choice(nodes * (nodes - 1), edges, replace=False)
    sources, place = np.divmod(chosen, nodes - 1)
    return DiGraph.from_arrays(sources, place + (place >= sources), nodes)


def random_dag(seed: int) -> DiGraph:
    """A uniformly random set of 3,000 edges that follow an order of 500 nodes."""
    return datasets.random_dag(500, 3000, seed)


def tree_closure(seed: int) -> DiGraph:
    """All ancestor → descendant pairs of a random recursive tree of 400 nodes."""
    return datasets.transitive_closure(_random_tree(np.random.default_rng(seed), 400))


def planted_hierarchy(seed: int, kept: float = 0.6, noise: float = 0.1) -> DiGraph:
    """60 % of the pairs of a tree's closure, and random edges, a tenth as many."""
    rng = np.random.default_rng(seed)
    closure = datasets.transitive_closure(_random_tree(rng, 400))
    part = closure.subgraph(rng.random(closure.num_edges) < kept)
    return part.with_edges(rng.integers(0, part.num_nodes, (int(noise * part.num_edges), 2)))


def ring_lattice(seed: int, nodes: int = 400, near: int = 4) -> DiGraph:
    """Node i points to the next four nodes of a ring; only the numbering depends on the seed."""
    return _ring(nodes, near)


def small_world(seed: int, nodes: int = 500, near: int = 6, rewired: float = 0.1) -> DiGraph:
    """Watts and Strogatz, directed: a ring lattice of which each target is replaced with probability 0.1."""
    rng, ring = np.random.default_rng(seed), _ring(nodes, near)
    again = rng.random(ring.num_edges) < rewired
    targets = np.where(again, rng.integers(0, nodes, ring.num_edges), ring.targets)
    return DiGraph.from_arrays(ring.sources, targets, nodes)


def directed_blocks(seed: int, nodes: int = 400, blocks: int = 6) -> DiGraph:
    """Blocks that point to one or two other blocks: density 0.1 between these, 0.005 elsewhere."""
    rng = np.random.default_rng(seed)
    rates = np.full((blocks, blocks), 0.005)
    for source in range(blocks):
        rates[source, rng.choice(blocks, rng.integers(1, 3), replace=False)] = 0.1
    block = rng.integers(0, blocks, nodes)
    return _blocks(rng, rates, block, block)


def two_sided(seed: int, sources: int = 120, targets: int = 360, blocks: int = 6) -> DiGraph:
    """Edges from sources to targets only: density 0.2 where the blocks of both agree, 0.02 elsewhere."""
    rng = np.random.default_rng(seed)
    rates = np.full((blocks, blocks), 0.02) + 0.18 * np.eye(blocks)[rng.permutation(blocks)]
    chance = rates[np.ix_(rng.integers(0, blocks, sources), rng.integers(0, blocks, targets))]
    s, t = np.nonzero(rng.random(chance.shape) < chance)
    return DiGraph.from_arrays(s, sources + t, sources + targets)


def symmetric_geometric(seed: int, nodes: int = 400, degree: float = 10) -> DiGraph:
    """Points in a square, joined in both directions when they are near."""
    place = np.random.default_rng(seed).random((nodes, 2))
    apart = np.linalg.norm(place[:, None] - place[None], axis=2)
    near = (apart < np.sqrt(degree / nodes / np.pi)) & ~np.eye(nodes, dtype=bool)
    return DiGraph.from_arrays(*np.nonzero(near), nodes)


def social_circles(seed: int, nodes: int = 500, circles: int = 12, most: float = 0.5) -> DiGraph:
    """People in two circles each: a shared circle and an active source make edges, often returned."""
    rng = np.random.default_rng(seed)
    member = np.zeros((nodes, circles))
    for person in range(nodes):
        member[person, rng.choice(circles, 2, replace=False)] = 1
    active, liked = np.minimum(rng.lognormal(0, 0.8, (2, nodes)), 5)
    chance = np.minimum(0.025 * (member @ member.T) * active[:, None] * liked[None], most)
    first = rng.random(chance.shape) < chance
    chosen = first | (first.T & (rng.random(chance.shape) < 0.4))
    np.fill_diagonal(chosen, False)
    return DiGraph.from_arrays(*np.nonzero(chosen), nodes)


def tournament(seed: int, players: int = 200, met: float = 0.15) -> DiGraph:
    """Loser → winner among 15 % of the pairs of players; the stronger one usually wins."""
    rng = np.random.default_rng(seed)
    a, b = np.triu_indices(players, 1)
    kept = rng.random(len(a)) < met
    a, b = a[kept], b[kept]
    skill = rng.normal(size=players)
    wins = rng.random(len(a)) < 1 / (1 + np.exp(3 * (skill[b] - skill[a])))
    return DiGraph.from_arrays(np.where(wins, b, a), np.where(wins, a, b), players)


def food_web(seed: int, species: int = 250, connectance: float = 0.05) -> DiGraph:
    """Prey → predator in the niche model of Williams and Martinez (2000)."""
    rng = np.random.default_rng(seed)
    niche = rng.random(species)
    width = niche * rng.beta(1, 1 / (2 * connectance) - 1, species)
    middle = rng.uniform(width / 2, niche)
    eaten = np.abs(niche[:, None] - middle[None]) < width[None] / 2
    return DiGraph.from_arrays(*np.nonzero(eaten), species)


def bow_tie(seed: int, sizes: tuple[int, int, int, int] = (150, 120, 150, 80)) -> DiGraph:
    """Upstream → core → downstream, and loose ends that touch only the outer parts."""
    rng = np.random.default_rng(seed)
    upstream, core, downstream, loose = range(4)
    rates = np.zeros((4, 4))
    rates[core, core], rates[upstream, core], rates[core, downstream] = 0.06, 0.03, 0.03
    rates[upstream, upstream] = rates[downstream, downstream] = 0.005
    rates[upstream, loose] = rates[loose, downstream] = 0.02
    part = np.repeat(np.arange(4), sizes)
    active, liked = np.exp(rng.normal(0, 0.6, (2, len(part))))
    return _blocks(rng, rates, part, part, active[:, None] * liked[None])


def rmat(seed: int) -> DiGraph:
    """A Graph500 R-MAT graph of 512 nodes."""
    return datasets.rmat(9, 8, seed=seed)


def planted_spacetime(seed: int) -> DiGraph:
    """500 events in Minkowski space, d = 3; an edge is likely into the near future."""
    return datasets.planted(500, 10, 3, seed).graph


def _ring(nodes: int, near: int) -> DiGraph:
    sources = np.repeat(np.arange(nodes), near)
    return DiGraph.from_arrays(sources, (sources + np.tile(np.arange(1, near + 1), nodes)) % nodes, nodes)


def _random_tree(rng: np.random.Generator, nodes: int) -> DiGraph:
    """Each node's parent is any earlier node."""
    parents = [int(rng.integers(child)) for child in range(1, nodes)]
    return DiGraph.from_arrays(parents, np.arange(1, nodes), nodes)


def _blocks(
    rng: np.random.Generator,
    rates: np.ndarray,
    sources: np.ndarray,
    targets: np.ndarray,
    times: np.ndarray | float = 1.0,
) -> DiGraph:
    """Edges i → j with probability rates[block of i, block of j] · times, at most ½."""
    chosen = rng.random((len(sources), len(targets))) < np.minimum(
        rates[np.ix_(sources, targets)] * times, 0.5
    )
    np.fill_diagonal(chosen, False)
    return DiGraph.from_arrays(*np.nonzero(chosen), len(sources))


#: The one list of families: name → a function of the seed.
FAMILIES: dict[str, Callable[[int], DiGraph]] = {
    "bow-tie": bow_tie,
    "citation-growth": growing.citations,
    "directed-blocks": directed_blocks,
    "duplication-divergence-complete": lambda seed: datasets.duplication_divergence(
        seed, 200, start="complete"
    ),
    "duplication-divergence-cycle": lambda seed: datasets.duplication_divergence(seed, 200),
    "erdos-renyi": erdos_renyi,
    "food-web": food_web,
    "planted-hierarchy": planted_hierarchy,
    "planted-spacetime": planted_spacetime,
    "random-dag": random_dag,
    "ring-lattice": ring_lattice,
    "rmat": rmat,
    "scale-free": growing.scale_free,
    "small-world": small_world,
    "social-circles": social_circles,
    "symmetric-geometric": symmetric_geometric,
    "tournament": tournament,
    "tree-closure": tree_closure,
    "two-sided": two_sided,
}
