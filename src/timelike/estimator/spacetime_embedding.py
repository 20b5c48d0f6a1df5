"""The front door: an estimator with scikit-learn's conventions around reading, training and predicting."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Hashable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from timelike._util.checks import whole_number
from timelike.core.likelihood import Likelihood
from timelike.embedding import model_folder
from timelike.embedding.embedding import Embedding
from timelike.embedding.exact_ranking import aligned
from timelike.embedding.predictions import Neighbour, Predictions
from timelike.embedding.trained_on import TrainedOn
from timelike.engine.config import Config
from timelike.engine.negatives import Negatives
from timelike.estimator import selection
from timelike.estimator.asked import geometries_of, negatives_for, protocol_of, recipe_of, variations_of
from timelike.estimator.inputs import ends_of, hold_out, labels_of, read_graph, with_missing
from timelike.estimator.parameters import from_json, to_json
from timelike.estimator.recipes import check_geometry
from timelike.estimator.settings import Settings, as_settings
from timelike.evaluation import metrics
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.pair_evaluation import same_nodes, score_pairs
from timelike.evaluation.splits import Split
from timelike.graphs.digraph import DiGraph
from timelike.io import read
from timelike.training.checkpoint import Checkpointing
from timelike.training.training_loop import DivergedError

if TYPE_CHECKING:
    import polars


class SpacetimeEmbedding(BaseEstimator):  # type: ignore[misc]
    """Embed a directed graph in a spacetime, and ask which edges are missing.

    geometry        a name in `timelike.manifolds.MANIFOLDS`, or "auto": look at the graph, train a few
                    candidates, keep the one that tells held-out edges from non-edges best
    likelihood      a name in `timelike.likelihoods.LIKELIHOODS`, a `Likelihood`, or None: what suits the
                    geometry
    settings        `Settings`, a file of them (`timelike tune` writes one) or the name of a preset, for
                    what is not given here
    dim             dimensions, time included; None: 10
    epochs, batch_size, learning_rate
                    None: as `estimator.recipes` says for this geometry and graph. On a small graph
                    the settings of `estimator.portfolio` that do not touch what is given are tried too, in
                    one program: the best by validation is kept
    negatives       non-edges drawn with every edge, any two nodes; or a `Negatives(…)`; None: of the kind
                    that those of validation are, or would be
    tables          how points lie in memory while they are learned: "float32", or in half of it "bfloat16" or
                    "float16", see `timelike.engine.table_storage`; None: float32, or as the settings say
    seed, seeds     the first seed, and how many to train; the best by validation is kept
    members         how many runs the probabilities are the mean of: the one that was chosen, and others of
                    its settings with the seeds after its own. From 2 on predictions have a spread
    valid_fraction  share of the edges held out (the latest, if the graph has times) to choose the epoch,
                    the seed and the geometry and to calibrate the probabilities; none if that were fewer
                    than ten edges. They are told from non-edges of the kind that suits the graph
                    (`protocols.suited`), or that the settings say; from any pairs if `negatives` are given
    refit           whether to train again in the end, with the validation edges, for as many epochs as they
                    chose; None: if they were held out here, and the graph is not large
    calibrate       whether to calibrate
    checkpoint      a file to keep the run in and to resume from; with several runs, a file for each
    progress        a bar on stderr; None: if it is a terminal

    Learned: `embedding_` (an `Embedding`), `geometry_` and `reason_` (the choice, and why), `candidates_`
    (what was tried: geometry, valid_ap, status), `trained_on_` and its parts `graph_` (the edges that were
    learned), `valid_` (validation pairs or None) and `known_` (the edges of both: what `top_…` leaves out).
    """

    def __init__(
        self,
        geometry: str = "auto",
        *,
        likelihood: str | Likelihood | None = None,
        settings: Settings | str | os.PathLike | None = None,
        dim: int | None = None,
        epochs: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        negatives: int | Negatives | None = None,
        tables: str | None = None,
        seed: int = 0,
        seeds: int = 1,
        members: int = 1,
        valid_fraction: float = 0.1,
        refit: bool | None = None,
        calibrate: bool = True,
        checkpoint: Checkpointing | str | os.PathLike | None = None,
        progress: bool | None = None,
    ):
        self.geometry = geometry
        self.likelihood = likelihood
        self.settings = settings
        self.dim = dim
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.negatives = negatives
        self.tables = tables
        self.seed = seed
        self.seeds = seeds
        self.members = members
        self.valid_fraction = valid_fraction
        self.refit = refit
        self.calibrate = calibrate
        self.checkpoint = checkpoint
        self.progress = progress

    def fit(self, graph: Any, y: Any = None, *, valid: Any = None) -> SpacetimeEmbedding:
        """Learn a point for every node of `graph`: a `DiGraph`, or anything that `timelike.read` takes.

        A square matrix is an adjacency matrix, two columns are an edge list. `valid` are pairs to
        validate on instead of held-out edges: `LabelledPairs`, or edges, to which non-edges are drawn.
        `y` is not looked at.
        """
        return self.fit_by(selection.choose, graph, valid)

    def fit_by(self, choose: selection.Choose, graph: Any, valid: Any = None) -> SpacetimeEmbedding:
        """The same, where `choose` trains the candidates and picks the best, as `selection.choose` does."""
        check_geometry(self.geometry, ("auto",))
        for name in ("seeds", "members"):
            whole_number(name, getattr(self, name), 1)
        settings = as_settings(self.settings)
        self.trained_on_: TrainedOn | None
        known = read_graph(graph, self)
        protocol = protocol_of(settings, self.negatives, known)
        self.trained_on_, unvalidated = hold_out(known, valid, self.valid_fraction, self.seed, protocol)
        drawn = None if isinstance(valid, LabelledPairs) else protocol
        negatives = negatives_for(self.trained_on_, drawn)
        recipe = partial(recipe_of, self, graph=self.graph_, default=negatives)
        names, why = geometries_of(self, recipe, unvalidated)
        task = selection.Task(
            self.graph_, self.valid_, partial(variations_of, self), self.seeds, self.checkpoint, self.progress
        )
        self.geometry_, embedding, self.candidates_ = choose(names, recipe, task)
        self.reason_ = selection.explain(self.geometry_, why, self.candidates_)
        if self.members > 1:
            embedding = selection.with_members(embedding, self.members, task)
        if settings.score == "best" and self.valid_ is not None:
            embedding = embedding.rescored(self.valid_)
        if self.calibrate and self.valid_ is not None:
            embedding = embedding.calibrated(self.valid_)
        by_itself = valid is None and self.graph_.num_edges <= selection.MOST_EDGES
        if self.valid_ is not None and (by_itself if self.refit is None else self.refit):
            embedding = self._refitted(embedding, known, task)
        about = {"geometry": self.geometry_, "reason": self.reason_, "candidates": self.candidates_}
        if drawn is not None:
            about["protocol"] = drawn
        self.embedding_ = dataclasses.replace(embedding, info={**embedding.info, **about})
        return self

    def predict_proba(self, pairs: Any) -> np.ndarray:
        """Probabilities (no edge, edge), a row for each of the (source, target) pairs, by name.

        Nodes without names go by number. Calibrated if there were validation edges:
        `embedding_.info["calibration"]` says for which ratio of non-edges to edges. With several members:
        those of their mean.
        """
        edge = np.exp(self._fitted().log_prob(*ends_of(pairs)).astype(np.float64))
        return np.stack([1 - edge, edge], axis=1)

    def predict_spread(self, pairs: Any) -> np.ndarray:
        """How unsure each of the probabilities of the edges is: `Embedding.spread`, of several members."""
        return self._fitted().spread(*ends_of(pairs))

    def decision_function(self, pairs: Any) -> np.ndarray:
        """Log-odds of the edges, calibrated like the probabilities."""
        return self._fitted().log_odds(*ends_of(pairs))

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
            scores, labels = self.decision_function(pairs), labels_of(y, len(ends_of(pairs)[0]))
        return metrics.average_precision(scores, labels)

    def top_targets(self, node: Hashable, k: int = 10) -> Predictions:
        """The k likeliest edges out of a node that are not known, best first."""
        return self._fitted().top_targets(node, k, self.known_)

    def top_sources(self, node: Hashable, k: int = 10) -> Predictions:
        """The k likeliest edges into a node that are not known, best first."""
        return self._fitted().top_sources(node, k, self.known_)

    def top_edges(
        self,
        k: int = 10,
        sources: Iterable[Hashable] | None = None,
        targets: Iterable[Hashable] | None = None,
    ) -> Predictions:
        """The k most likely missing edges, best first: of the whole graph, or between the nodes given."""
        return self._fitted().top_edges(k, self.known_, sources, targets)

    def most_similar(self, node: Hashable, k: int = 10) -> list[Neighbour]:
        """The k nodes nearest to a node in spacetime, nearest first."""
        return self._fitted().most_similar(node, k)

    def add_nodes(self, edges: Iterable[tuple], config: Config | None = None) -> SpacetimeEmbedding:
        """Fold in the new nodes that `edges` names, see `Embedding.add_nodes`; the edges are known from now.

        All other points stay as they are.
        """
        rows = list(edges)
        self.embedding_ = self._fitted().add_nodes(rows, config)
        if self.trained_on_ is not None:
            embedding = self.embedding_
            self.trained_on_ = self.trained_on_.grown(rows, len(embedding.points), embedding.names)
        return self

    def to_frame(self) -> polars.DataFrame:
        """A polars table: node, its coordinates, and its time."""
        return self._fitted().to_frame()

    def save(self, path: str | os.PathLike) -> None:
        """Write `embedding_`, what it was trained on and the parameters to a folder, see `Embedding.save`.

        The parameter `checkpoint` is not kept: it names a file of this machine.
        """
        embedding = self._fitted()
        info = {**embedding.info, "estimator": to_json(self.get_params(deep=False))}
        dataclasses.replace(embedding, info=info).save(path, self.trained_on_)

    @classmethod
    def load(cls, path: str | os.PathLike, graph: Any = None) -> SpacetimeEmbedding:
        """Read what `save` or the command `timelike fit` wrote.

        `graph` are the known edges of a model that was saved without them.
        """
        embedding = Embedding.load(path)
        info, model = dict(embedding.info), embedding.model
        stored = info.pop("estimator", None)
        with model_folder.blaming(model_folder.head_of(path)):
            if stored is None:  # saved by `Embedding.save`
                made = {"geometry": info.get("geometry", "auto"), "dim": model.manifold.dim}
                self = cls(**made, likelihood=model.likelihood)
            else:
                self = cls(**from_json(stored))
        self.embedding_ = dataclasses.replace(embedding, info=info)
        self.geometry_, self.reason_ = info.get("geometry", ""), info.get("reason", "")
        self.candidates_ = info.get("candidates", [])
        self.trained_on_ = model_folder.load_trained_on(path, embedding)
        if graph is not None:
            known = aligned(read(graph), len(embedding.points), embedding.names, "graph")
            self.trained_on_ = TrainedOn(known)
        return self

    @property
    def graph_(self) -> DiGraph:
        """The training edges."""
        return self._data().graph

    @property
    def valid_(self) -> LabelledPairs | None:
        """The held-out pairs, if there are any."""
        return self._data().valid

    @property
    def known_(self) -> DiGraph:
        """The training and the held-out edges."""
        return self._data().known

    def _fitted(self) -> Embedding:
        check_is_fitted(self, "embedding_")
        return self.embedding_

    def _data(self) -> TrainedOn:
        check_is_fitted(self, "trained_on_")
        if self.trained_on_ is None:
            raise ValueError("the model was saved without its training edges; load(path, graph=…) names them")
        return self.trained_on_

    def _refitted(self, embedding: Embedding, known: DiGraph, task: selection.Task) -> Embedding:
        """Trained again with the validation edges, which are training edges from now."""
        assert task.valid is not None
        known = with_missing(known, task.valid.positives)
        try:
            embedding = selection.refit(embedding, known, task.valid, task.checkpoint, task.progress)
        except DivergedError as error:
            self.reason_ += f"; not trained again with the validation edges: {error}"
            return embedding
        self.trained_on_ = TrainedOn(known, task.valid)
        return embedding

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.sparse = True
        return tags
