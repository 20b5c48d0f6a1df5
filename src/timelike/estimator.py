"""The front door: an estimator with scikit-learn's conventions around reading, training and predicting."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from timelike import auto, metrics
from timelike.calibration import FEWEST, log_odds
from timelike.checkpoint import Checkpointing
from timelike.checks import show, whole_number
from timelike.config import Config
from timelike.embedding import Embedding, Neighbour, Prediction
from timelike.evaluation import LabelledPairs, same_nodes, score_pairs
from timelike.graph import DiGraph, node_numbers
from timelike.io import read
from timelike.likelihoods import Likelihood
from timelike.model import Model
from timelike.protocols import draw_non_edges
from timelike.recipes import check_geometry, recipe, variations
from timelike.sampling import Negatives
from timelike.splits import Split, split_edges

if TYPE_CHECKING:
    import polars

#: Non-edges to a held-out edge.
RATIO = 4


class SpacetimeEmbedding(BaseEstimator):  # type: ignore[misc]
    """Embed a directed graph in a spacetime, and ask which edges are missing.

    geometry        a name in `timelike.manifolds.MANIFOLDS`, or "auto": look at the graph, train a few
                    candidates, keep the one that tells held-out edges from non-edges best
    likelihood      a name in `timelike.likelihoods.LIKELIHOODS`, a `Likelihood`, or None: what suits the
                    geometry
    dim             dimensions, time included
    epochs, batch_size, learning_rate
                    None: as `timelike.recipes.recipe` says for this geometry and graph. Without a learning
                    rate a small graph gets a few, with a few temperatures, in one program: the best by
                    validation is kept. (Not so with a checkpoint.)
    negatives       non-edges drawn with every edge, any two nodes; or a `Negatives(…)`
    seed, seeds     the first seed, and how many to train; the best by validation is kept
    valid_fraction  share of the edges held out (the latest, if the graph has times) to choose the epoch,
                    the seed and the geometry and to calibrate the probabilities; none if that were fewer
                    than ten edges
    calibrate       whether to calibrate
    checkpoint      a file to keep the run in and to resume from; with several runs, a file for each
    progress        a bar on stderr; None: if it is a terminal

    Learned: `embedding_` (an `Embedding`), `geometry_` and `reason_` (the choice, and why), `candidates_`
    (what was tried: geometry, valid_ap, status), `graph_` (the training edges), `known_` (those and the
    held-out ones: what `top_…` leaves out), `valid_` (held-out pairs or None).
    """

    def __init__(
        self,
        geometry: str = "auto",
        *,
        likelihood: str | Likelihood | None = None,
        dim: int = 10,
        epochs: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        negatives: int | Negatives = 4,
        seed: int = 0,
        seeds: int = 1,
        valid_fraction: float = 0.1,
        calibrate: bool = True,
        checkpoint: Checkpointing | str | os.PathLike | None = None,
        progress: bool | None = None,
    ):
        self.geometry = geometry
        self.likelihood = likelihood
        self.dim = dim
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.negatives = negatives
        self.seed = seed
        self.seeds = seeds
        self.valid_fraction = valid_fraction
        self.calibrate = calibrate
        self.checkpoint = checkpoint
        self.progress = progress

    def fit(self, graph: Any, y: Any = None, *, valid: Any = None) -> SpacetimeEmbedding:
        """Learn a point for every node of `graph`: a `DiGraph`, or anything that `timelike.read` takes.

        A square matrix is an adjacency matrix, two columns are an edge list. `valid` are pairs to
        validate on instead of held-out edges: `LabelledPairs`, or edges, to which non-edges are drawn.
        `y` is not looked at.
        """
        check_geometry(self.geometry, ("auto",))
        whole_number("seeds", self.seeds, 1)
        known = self._read(graph)
        self.graph_, self.valid_, self.known_, unvalidated = self._hold_out(known, valid)
        names, why = [self.geometry], "as asked for"
        if self.geometry == "auto":
            description = self.graph_.describe(self.seed)
            names, why = auto.candidates(description), description.reason
        if self.graph_.num_edges > auto.MOST_EDGES:
            unvalidated = "the graph is large"
        if unvalidated and len(names) > 1:
            names, why = names[:1], f"{why}; not compared with others: {unvalidated}"
        task = auto.Task(
            self.graph_, self.valid_, self._variations, self.seeds, self.checkpoint, self.progress
        )
        self.geometry_, embedding, self.candidates_ = auto.choose(names, self._recipe, task)
        self.reason_ = auto.explain(self.geometry_, why, self.candidates_)
        if self.calibrate and self.valid_ is not None:
            embedding = embedding.calibrated(self.valid_)
        about = {"geometry": self.geometry_, "reason": self.reason_, "candidates": self.candidates_}
        self.embedding_ = dataclasses.replace(embedding, info={**embedding.info, **about})
        return self

    def predict_proba(self, pairs: Any) -> np.ndarray:
        """Probabilities (no edge, edge), a row for each of the (source, target) pairs, by name.

        Nodes without names go by number. Calibrated if there were validation edges:
        `embedding_.info["calibration"]` says for which ratio of non-edges to edges.
        """
        edge = np.exp(self._fitted().log_prob(*_ends(pairs)).astype(np.float64))
        return np.stack([1 - edge, edge], axis=1)

    def decision_function(self, pairs: Any) -> np.ndarray:
        """Log-odds of the edges, calibrated like the probabilities."""
        embedding = self._fitted()
        raw = log_odds(dataclasses.replace(embedding, calibration=None).log_prob(*_ends(pairs)))
        found = embedding.calibration
        return raw if found is None else found.slope * raw + found.intercept

    def score(self, pairs: Any, y: Any = None) -> float:
        """Average precision on the test pairs of a `Split`, on `LabelledPairs`, or on pairs with labels `y`.

        The last are (source, target) by name, as in `predict_proba`, and 1 for an edge or 0.
        """
        embedding = self._fitted()
        if isinstance(pairs, Split):
            same_nodes(embedding, pairs.train)
            pairs = pairs.test
        if isinstance(pairs, LabelledPairs):
            scores, labels = score_pairs(embedding, pairs.sources, pairs.targets), np.asarray(pairs.labels)
        else:
            scores, labels = self.decision_function(pairs), _labels(y, len(_ends(pairs)[0]))
        return metrics.average_precision(scores, labels)

    def top_targets(self, node: Hashable, k: int = 10) -> list[Prediction]:
        """The k likeliest edges out of a node that are not known, best first."""
        return self._fitted().top_targets(node, k, self._known())

    def top_sources(self, node: Hashable, k: int = 10) -> list[Prediction]:
        """The k likeliest edges into a node that are not known, best first."""
        return self._fitted().top_sources(node, k, self._known())

    def top_edges(self, k: int = 10) -> list[Prediction]:
        """The k most likely missing edges of the whole graph, best first."""
        return self._fitted().top_edges(k, self._known())

    def most_similar(self, node: Hashable, k: int = 10) -> list[Neighbour]:
        """The k nodes nearest to a node in spacetime, nearest first."""
        return self._fitted().most_similar(node, k)

    def add_nodes(self, edges: Iterable[tuple], config: Config | None = None) -> SpacetimeEmbedding:
        """Fold in the new nodes that `edges` names, see `Embedding.add_nodes`; the edges are known from now.

        All other points stay as they are.
        """
        rows = [tuple(edge) for edge in edges]
        self.embedding_ = self._fitted().add_nodes(rows, config)
        names, count = self.embedding_.names, len(self.embedding_.points)
        new = np.stack([node_numbers(end, count, names, "edges") for end in _ends([r[:2] for r in rows])])
        for attribute in ("graph_", "known_"):
            old = getattr(self, attribute)
            if old is not None:
                both = np.concatenate([[old.sources, old.targets], new], axis=1)
                setattr(self, attribute, DiGraph.from_arrays(both[0], both[1], count, names))
        return self

    def to_frame(self) -> polars.DataFrame:
        """A polars table: node, its coordinates, and its time."""
        return self._fitted().to_frame()

    def save(self, path: str | os.PathLike) -> None:
        """Write `embedding_` to a folder; the graph is not part of it."""
        self._fitted().save(path)

    @classmethod
    def load(cls, path: str | os.PathLike, graph: Any = None) -> SpacetimeEmbedding:
        """Read what `save` wrote. `graph` are the known edges, which `top_…` leave out."""
        embedding = Embedding.load(path)
        manifold, info = embedding.model.manifold, embedding.info
        self = cls(info.get("geometry", "auto"), likelihood=embedding.model.likelihood, dim=manifold.dim)
        known = None if graph is None else read(graph)
        learned = {
            "embedding_": embedding,
            "geometry_": info.get("geometry"),
            "reason_": info.get("reason"),
            "candidates_": info.get("candidates", []),
            "graph_": known,
            "known_": known,
            "valid_": None,
        }
        for name, value in learned.items():
            setattr(self, name, value)
        return self

    def _fitted(self) -> Embedding:
        check_is_fitted(self, "embedding_")
        return self.embedding_

    def _known(self) -> DiGraph:
        if self.known_ is None:
            raise ValueError("a loaded model does not know which edges are known; load(path, graph=…) does")
        return self.known_

    def _read(self, graph: Any) -> DiGraph:
        """The graph, checked; matrices also in scikit-learn's way."""
        if _is_matrix(graph):
            graph = validate_data(self, graph, accept_sparse=("csr", "csc", "coo"), ensure_min_samples=2)
            if graph.shape[0] != graph.shape[1]:
                raise ValueError(f"graph has shape {graph.shape}; an adjacency matrix must be square")
            graph = graph if hasattr(graph, "tocoo") else csr_array(graph)
        found = read(graph)
        if found.num_nodes < 2 or not found.num_edges:
            raise ValueError(f"graph is {found}; an embedding needs two nodes and an edge")
        return found

    def _hold_out(self, known: DiGraph, valid: Any) -> tuple[DiGraph, LabelledPairs | None, DiGraph, str]:
        """Training edges, validation pairs, all known edges; and, without validation, why."""
        if isinstance(valid, LabelledPairs):
            return known, valid, known, ""
        if valid is not None:
            edges = _in_numbers_of(known, read(valid))
            both = np.concatenate([_pairs(known), edges])
            everything = DiGraph.from_arrays(both[:, 0], both[:, 1], known.num_nodes, known.names)
            non_edges = draw_non_edges("uniform", everything, edges, RATIO, self.seed)
            return known, LabelledPairs.build(edges, non_edges), everything, ""
        if not 0 <= self.valid_fraction < 1:
            raise ValueError(f"valid_fraction is {self.valid_fraction}; it must be a share in [0, 1)")
        if self.valid_fraction * known.num_edges < FEWEST:
            return known, None, known, "there are too few edges to validate on"
        if known.num_edges == known.num_nodes * (known.num_nodes - 1):
            return known, None, known, "there are no non-edges to validate on"
        by = "edges" if known.times is None else "time"
        split = split_edges(known, self.valid_fraction, 0, self.seed, ratio=RATIO, by=by)
        return split.train, split.valid, known, ""

    def _recipe(self, geometry: str) -> tuple[Model, Config]:
        """The recipe, changed by what was given."""
        model, config = recipe(geometry, self.dim, self.likelihood, self.graph_)
        epochs = config.epochs if self.epochs is None else whole_number("epochs", self.epochs, 1)
        kinds = self.negatives
        given: dict[str, Any] = {
            "epochs": epochs,
            "burn_in": min(config.burn_in, epochs // 10),
            "batch_size": self.batch_size,
            "learning_rate": self.learning_rate,
            "negatives": kinds if isinstance(kinds, Negatives) else Negatives(uniform=kinds),
            "seed": self.seed,
        }
        return model, dataclasses.replace(config, **{k: v for k, v in given.items() if v is not None})

    def _variations(self, model: Model, config: Config) -> dict[str, list[float]]:
        """Those of the recipe that do not touch what was given."""
        grid = variations(model, config, self.graph_)
        fixed = set() if self.learning_rate is None else {"learning_rate"}
        if isinstance(self.likelihood, Likelihood):
            fixed |= {"tau", "tau1", "tau2"}
        return {name: values for name, values in grid.items() if name not in fixed}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.sparse = True
        return tags


def _is_matrix(graph: Any) -> bool:
    """Whether this is an adjacency matrix, rather than edges in two or three columns or something else."""
    if isinstance(graph, list):
        return bool(graph) and isinstance(graph[0], list) and len(graph[0]) not in (2, 3)
    if not isinstance(graph, np.ndarray):
        return hasattr(graph, "tocoo")
    if graph.ndim != 2 or graph.shape[1] not in (2, 3):
        return True
    return graph.dtype.kind == "f" and bool(np.any(graph[:, :2] != np.floor(graph[:, :2])))


def _ends(pairs: Any) -> tuple[Any, Any]:
    """Sources and targets of (n, 2) pairs of names or numbers."""
    if hasattr(pairs, "tocoo"):
        raise TypeError("pairs is a sparse matrix; it must be a list of (source, target), not sparse")
    if isinstance(pairs, np.ndarray):
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ValueError(f"pairs has shape {pairs.shape}; it must be (pairs, 2). Reshape your data")
        return pairs[:, 0], pairs[:, 1]
    rows = [
        (pair,) if isinstance(pair, str) or not isinstance(pair, Iterable) else tuple(pair) for pair in pairs
    ]
    bad = next((i for i, row in enumerate(rows) if len(row) != 2), None)
    if bad is not None:
        raise ValueError(f"pairs[{bad}] is {show(rows[bad])}; it must be (source, target)")
    return [row[0] for row in rows], [row[1] for row in rows]


def _labels(y: Any, count: int) -> np.ndarray:
    labels = np.asarray(y)
    if labels.shape != (count,) or not np.isin(labels, (0, 1)).all():
        raise ValueError(f"y is {show(y)}; it must hold 1 (an edge) or 0 for each of the {count} pairs")
    return labels.astype(bool)


def _pairs(graph: DiGraph) -> np.ndarray:
    return np.stack([graph.sources, graph.targets], axis=1)


def _in_numbers_of(graph: DiGraph, other: DiGraph) -> np.ndarray:
    """The edges of another graph, as (n, 2) numbers of the nodes of this one that have their names."""
    used = np.unique(_pairs(other))
    numbers = graph.numbers([other.name(int(node)) for node in used], "valid")
    return numbers[np.searchsorted(used, _pairs(other))]
