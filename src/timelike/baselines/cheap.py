"""Cheap baselines: what a score is worth is what it adds to these.

They see the training graph only, and go through the same `evaluate` as a model.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.checks import positive_number, show, whole_number
from timelike.evaluation import Evaluation, LabelledPairs, evaluate
from timelike.graph import DiGraph, checked_nodes

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from timelike.config import Config
    from timelike.embedding import Embedding
    from timelike.splits import Split

#: Entries of sparse rows held at once.
ENTRIES = 1 << 23

#: Edges, counted once per epoch, that the Euclidean baseline is trained on at most.
VISITS = 5_000_000

Say = Callable[[str], None]


@dataclasses.dataclass(frozen=True, eq=False)
class DegreeProduct:
    """(out-degree(s) + 1) · (in-degree(t) + 1): hubs are linked to hubs.

    Without the 1 a node whose only edge is held out would count for nothing, whatever the other end:
    a baseline that is easy to beat.
    """

    graph: DiGraph

    @cached_property
    def _degrees(self) -> tuple[np.ndarray, np.ndarray]:
        leaving, entering = (
            np.bincount(ends, minlength=self.graph.num_nodes) + 1.0
            for ends in (self.graph.sources, self.graph.targets)
        )
        return leaving, entering

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The score of each pair."""
        leaving, entering = self._degrees
        s, t = _ends(self.graph, sources, targets)
        return leaving[s] * entering[t]


@dataclasses.dataclass(frozen=True, eq=False)
class Katz:
    """Σₗ βˡ (Aˡ)ₛₜ, the number of paths s → … → t of each length l, for l in `lengths`.

    Truncated, so that it is sparse and finite for any β. (Aˡ)ₛₜ is taken as row s of A^⌈l/2⌉ times
    column t of A^⌊l/2⌋, for the listed pairs only.
    """

    graph: DiGraph
    beta: float = 0.05
    lengths: tuple[int, ...] = (1, 2, 3, 4)

    def __post_init__(self) -> None:
        positive_number("Katz: beta", self.beta)
        for length in self.lengths:
            whole_number("Katz: lengths", length, 1)

    def score(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The score of each pair."""
        s, t = _ends(self.graph, sources, targets)
        out = self.graph.adjacency()
        back = out.T.tocsr()
        found = np.zeros(len(s))
        for pairs in self._blocks(out, back, s, t):
            forward, backward = _powers(out, s[pairs]), _powers(back, t[pairs])
            left, right = next(forward), next(backward)
            for length in range(1, max(self.lengths) + 1):
                left, right = (next(forward), right) if length % 2 else (left, next(backward))
                if length in self.lengths:
                    found[pairs] += self.beta**length * left.multiply(right).sum(axis=1)
        return found

    def _blocks(self, out: csr_array, back: csr_array, s: np.ndarray, t: np.ndarray) -> Iterator[slice]:
        """Slices of the pairs whose rows have at most about `ENTRIES` entries, one pair at least."""
        paths = np.ones((2, self.graph.num_nodes))
        for step in range(max(self.lengths)):
            matrix = (out, back)[step % 2]
            paths[step % 2] = np.minimum(matrix @ paths[step % 2], self.graph.num_nodes)
        used = np.cumsum(paths[0][s] + paths[1][t] + 1) // ENTRIES
        cuts = [0, *(np.flatnonzero(np.diff(used)) + 1), len(s)]
        return (slice(a, b) for a, b in itertools.pairwise(cuts) if a < b)


def _ends(graph: DiGraph, sources: Any, targets: Any) -> tuple[np.ndarray, np.ndarray]:
    n = graph.num_nodes
    return checked_nodes(sources, n, "sources"), checked_nodes(targets, n, "targets")


def _powers(matrix: csr_array, rows: np.ndarray) -> Iterator[csr_array]:
    """These rows of M⁰, M¹, M², …"""
    from scipy.sparse import csr_array

    ones, starts = np.ones(len(rows)), np.arange(len(rows) + 1)
    power = csr_array((ones, rows, starts), (len(rows), matrix.shape[0]))
    while True:
        yield power
        power = power @ matrix


def common_neighbours(graph: DiGraph) -> Katz:
    """The number of nodes z with s → z → t: common neighbours along the arrows."""
    return Katz(graph, beta=1.0, lengths=(2,))


def euclidean(
    graph: DiGraph,
    dim: int = 10,
    config: Config | None = None,
    valid: LabelledPairs | None = None,
    progress: bool | None = None,
    say: Say = lambda text: None,
) -> Embedding:
    """A Euclidean embedding with the Fermi–Dirac likelihood, which knows no direction, trained by `train`.

    Without a config by the recipe, with its seed 0; in a large graph for fewer epochs, then on fewer
    edges, so that it learns from `VISITS` edges in all. `say` is told how much is done.
    """
    from timelike.recipes import recipe
    from timelike.training import train

    model, full = recipe("euclidean", dim, graph=graph)
    if config is None:
        graph, config = _cut_short(graph, full, say)
    return train(graph, model, config, valid=valid, progress=progress)


def _cut_short(graph: DiGraph, config: Config, say: Say) -> tuple[DiGraph, Config]:
    """As many epochs and edges of a run as `VISITS` allows."""
    from timelike.recipes import shortened

    epochs = min(config.epochs, max(1, VISITS // graph.num_edges))
    part, edges = graph, f"{graph.num_edges:,} edges"
    if graph.num_edges > VISITS:
        chosen = np.random.default_rng(0).choice(graph.num_edges, VISITS, replace=False, shuffle=False)
        part, edges = graph.subgraph(chosen), f"{VISITS:,} of {edges}"
    cut = f" of {config.epochs}: the graph is large" if epochs < config.epochs or part is not graph else ""
    say(f"training the Euclidean baseline on {edges}, epochs: {epochs}{cut}")
    return part, shortened(config, epochs)


#: The one list of baselines: name → what makes one from the training graph and validation pairs, and
#: says what takes time.
BASELINES: dict[str, Callable[[DiGraph, LabelledPairs | None, Say], Any]] = {
    "degree product": lambda graph, *_: DegreeProduct(graph),
    "common neighbours": lambda graph, *_: common_neighbours(graph),
    "Katz": lambda graph, *_: Katz(graph),
    "Euclidean": lambda graph, valid, say: euclidean(graph, valid=valid, say=say),
}

#: Those that need no training: seconds, also for large graphs.
UNTRAINED = ("degree product", "common neighbours", "Katz")


def evaluate_baselines(
    graph: DiGraph,
    pairs: Split | LabelledPairs,
    *,
    valid: LabelledPairs | None = None,
    known: DiGraph | None = None,
    learned: DiGraph | None = None,
    names: Collection[str] = UNTRAINED,
    say: Say = lambda text: None,
) -> dict[str, Evaluation]:
    """Baselines made from the training graph, each evaluated like a model with the same arguments.

    `learned` is the graph with the validation edges, if the model was trained again with them: so are
    these then. `names` are some of `BASELINES`; `say` is told what takes time.
    """
    unknown = [name for name in names if name not in BASELINES]
    if unknown:
        raise ValueError(f"names has {show(unknown[0])}; baselines are {', '.join(BASELINES)}")
    watched = getattr(pairs, "valid", valid) if valid is None else valid
    found = {}
    for name in names:
        before = BASELINES[name](graph, watched, say)
        after = before if learned is None else _made_again(name, before, learned, watched, say)
        found[name] = evaluate(after, pairs, valid=valid, known=known, validated=before)
    return found


def _made_again(name: str, before: Any, learned: DiGraph, valid: LabelledPairs | None, say: Say) -> Any:
    """The same baseline from all edges; one that is trained, if that is as cheap as before."""
    from timelike.auto import refit

    if name in UNTRAINED:
        return BASELINES[name](learned, None, say)
    if valid is None or learned.num_edges * before.info["best_epoch"] > VISITS:
        return before
    return refit(before, learned, valid, progress=False)
