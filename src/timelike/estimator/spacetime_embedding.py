"""The front door: an estimator with scikit-learn's conventions around reading, training and predicting."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from timelike.core.likelihood import Likelihood
from timelike.core.manifold import Manifold
from timelike.embedding import model_folder
from timelike.embedding.cone_relatives import CommonAncestor, Relative
from timelike.embedding.embedding import Embedding
from timelike.embedding.exact_ranking import aligned
from timelike.embedding.top_k import Neighbour, Predictions
from timelike.embedding.trained_on import TrainedOn
from timelike.engine.config import Config
from timelike.engine.negatives import Negatives
from timelike.estimator.baseline_scores import compared
from timelike.estimator.carry_out import Train, carry_out
from timelike.estimator.fit_plan import FitPlan, resolve
from timelike.estimator.inputs import ends_of, labels_of, read_graph, with_feature_nodes
from timelike.estimator.settings import FitOptions, Settings, from_json, to_json
from timelike.estimator.updating import DRIFT, update
from timelike.evaluation import metrics
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.pair_evaluation import same_nodes, score_pairs
from timelike.evaluation.splits import Split
from timelike.evidence import joint_file, label_file
from timelike.evidence.edge_labels import EdgeLabels
from timelike.evidence.joint import Joint, Reason
from timelike.evidence.label_model import LabelModel
from timelike.evidence.outside import evidence_again
from timelike.graphs.digraph import DiGraph
from timelike.io import read
from timelike.training.checkpoint import Checkpointing

if TYPE_CHECKING:
    import polars


class SpacetimeEmbedding(BaseEstimator):  # type: ignore[misc]
    """Embed a directed graph in a spacetime, and predict missing edges.

    geometry        a name in `timelike.manifolds.MANIFOLDS`, a manifold object, or "auto": train the
                    geometries that suit the graph and keep the one with the best validation AP
    likelihood      a name in `timelike.likelihoods.LIKELIHOODS`, a `Likelihood`, or None: the one that suits
                    the geometry
    settings        `Settings`, a file of them (`timelike tune` writes one) or the name of a preset; explicit
                    parameters override them
    dim             dimensions, time included; default: 10
    epochs, batch_size, learning_rate
                    None: by the recipe for this geometry and graph. On a small graph a fit also tries a
                    portfolio of settings in one program, changing nothing that is given, and keeps the best
                    by validation
    negatives       negative samples of training: a number of uniform ones per edge, or `Negatives(…)`; None:
                    4 of the kind that validation uses
    tables          storage of the points while they are trained: "float32" (default), or half of it,
                    "bfloat16" or "float16"
    seed, seeds     the first seed, and how many random starts; the best by validation is kept
    members         ensemble size: the chosen run, and more runs of its settings with the following seeds.
                    From 2 members on, predictions have a spread
    valid_fraction  share of the edges to hold out (the latest, if the graph has times). They choose epoch,
                    seed, settings and geometry, and calibrate the probabilities. With fewer than ten such
                    edges, none are held out
    refit           whether to train once more at the end, with the validation edges, for as many epochs as
                    they chose; None: if they were held out here and the graph has at most a million edges
    calibrate       whether to calibrate the probabilities
    baselines       simple methods to score on the validation pairs too: "untrained", "all", "none", or names
                    of `BASELINES`, separated by commas
    evidence        "structure": join the geometry with paths, degrees and the like (`Joint`), the best answer
                    that the edges can give; or "none": the geometry alone, as in the paper. A list adds what
                    the graph does not know: `evidence.Expression`, `NodeFeatures` and `ScoredPairs`
    checkpoint      a file to keep the run in and to resume from; with several runs, one file each
    progress        a progress bar on stderr; None: if stderr is a terminal

    `plan(graph)` shows these choices without training. After `fit`: `embedding_` (an `Embedding`), `joint_`
    (a `Joint`, or None if the geometry is alone), `answers_` (the one of both that predicts), `plan_`
    (the `FitPlan`), `geometry_` and `reason_` (the choice, and why), `candidates_` (geometry, valid_ap and
    status of each trial), and `trained_on_` with `graph_` (the edges learned), `valid_` (validation pairs or
    None) and `known_` (all known edges, which predictions exclude).
    """

    def __init__(
        self,
        geometry: str | Manifold = "auto",
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
        baselines: str = "untrained",
        evidence: Any = "structure",
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
        self.baselines = baselines
        self.evidence = evidence
        self.checkpoint = checkpoint
        self.progress = progress

    def plan(self, graph: Any, *, valid: Any = None) -> FitPlan:
        """What `fit` would do with these arguments, and why; nothing is trained."""
        found = with_feature_nodes(read_graph(graph, self), self.evidence)
        return resolve(found, self.options, valid=valid)

    def fit(self, graph: Any, y: Any = None, *, valid: Any = None, labels: Any = ()) -> SpacetimeEmbedding:
        """Learn a point for every node of `graph`: a `DiGraph`, `EdgeShards`, or anything that
        `timelike.read` takes.

        A square matrix is an adjacency matrix, two columns are an edge list. The edges of `EdgeShards` are
        streamed. `valid` replaces the held-out edges: a `Split`, `LabelledPairs`, or edges, for which
        negatives are drawn. `labels` are signs or types of edges (`evidence.EdgeLabels`) to predict too, see
        `labels_`. `y` is ignored.
        """
        return self.carry_out(self.plan(graph, valid=valid)).learn_labels(labels)

    def carry_out(self, plan: FitPlan, train: Train | None = None) -> SpacetimeEmbedding:
        """Fit by a plan; `train` replaces the training of a candidate, as many processes do."""
        embedding, graph, joint = carry_out(plan, self.checkpoint, self.progress, train)
        self.plan_, embedding = plan, compared(embedding, plan)
        trained_on = TrainedOn(graph, plan.valid) if isinstance(graph, DiGraph) else None
        return self._keep(embedding, trained_on, joint)

    def learn_labels(self, labels: Any) -> SpacetimeEmbedding:
        """Learn to predict signs or types of edges: `labels_` has a `LabelModel` for each `EdgeLabels`."""
        joint, some = self.joint_, [labels] if isinstance(labels, EdgeLabels) else [*labels]
        outside = () if joint is None else joint.evidence
        self.labels_: tuple[LabelModel, ...] = tuple(
            LabelModel.learn(one, self.known_, outside, self.seed) for one in some
        )
        return self

    def _keep(
        self, embedding: Embedding, trained_on: TrainedOn | None, joint: Joint | None
    ) -> SpacetimeEmbedding:
        self.embedding_, self.trained_on_ = embedding, trained_on
        self.joint_ = None if joint is None else dataclasses.replace(joint, embedding=embedding)
        self.geometry_, self.reason_ = (embedding.info.get(name, "") for name in ("geometry", "reason"))
        self.candidates_ = embedding.info.get("candidates", [])
        self.labels_ = ()
        return self

    @property
    def options(self) -> FitOptions:
        """The parameters that a plan depends on."""
        return FitOptions(**{f.name: getattr(self, f.name) for f in dataclasses.fields(FitOptions)})

    def predict_proba(self, pairs: Any) -> np.ndarray:
        """Probabilities (no edge, edge), a row for each of the (source, target) pairs, by name.

        Nodes without names go by number. `calibration_` says for which ratio of non-edges to edges the
        probabilities hold.
        """
        edge = np.exp(self.answers_.log_prob(*ends_of(pairs)).astype(np.float64))
        return np.stack([1 - edge, edge], axis=1)

    def predict_spread(self, pairs: Any) -> np.ndarray:
        """How unsure each of the probabilities of the edges is: their standard deviation over members."""
        return self.answers_.spread(*ends_of(pairs))

    def decision_function(self, pairs: Any) -> np.ndarray:
        """Log-odds of the edges, calibrated like the probabilities."""
        return self.answers_.log_odds(*ends_of(pairs))

    def score(self, pairs: Any, y: Any = None) -> float:
        """Average precision on the test pairs of a `Split`, on `LabelledPairs`, or on pairs with labels `y`.

        The last are (source, target) by name, as in `predict_proba`, and 1 for an edge or 0.
        """
        embedding = self._fitted()
        if isinstance(pairs, Split):
            same_nodes(embedding, pairs.train)
            pairs = pairs.test
        if isinstance(pairs, LabelledPairs):
            scores, labels = (
                score_pairs(self.answers_, pairs.sources, pairs.targets),
                np.asarray(pairs.labels),
            )
        else:
            scores, labels = self.decision_function(pairs), labels_of(y, len(ends_of(pairs)[0]))
        return metrics.average_precision(scores, labels)

    def top_targets(self, node: Hashable, k: int = 10, *, exclude: DiGraph | None = None) -> Predictions:
        """The k most likely edges out of a node, best first, without `exclude` (default: known edges)."""
        return self.answers_.top_targets(node, k, exclude=self._excluded(exclude))

    def top_sources(self, node: Hashable, k: int = 10, *, exclude: DiGraph | None = None) -> Predictions:
        """The k most likely edges into a node, best first, without `exclude` (default: known edges)."""
        return self.answers_.top_sources(node, k, exclude=self._excluded(exclude))

    def top_edges(
        self,
        k: int = 10,
        *,
        sources: Iterable[Hashable] | None = None,
        targets: Iterable[Hashable] | None = None,
        exclude: DiGraph | None = None,
    ) -> Predictions:
        """The k most likely missing edges, best first: of the whole graph, or between the given nodes.

        `exclude`: edges to leave out, default the known ones.
        """
        excluded = self._excluded(exclude)
        return self.answers_.top_edges(k, sources=sources, targets=targets, exclude=excluded)

    def most_similar(self, node: Hashable, k: int = 10) -> list[Neighbour]:
        """The k nodes nearest to a node in spacetime, nearest first."""
        return self._fitted().most_similar(node, k)

    def ancestors(
        self, node: Hashable, k: int | None = None, *, threshold: float | None = None
    ) -> list[Relative]:
        """The nodes towards the root whose light cones hold a node, nearest first; at most k of them.

        With a `threshold`, those whose edge or path has at least this probability.
        """
        return self._fitted().ancestors(node, k, threshold=threshold, graph=self._known_if_kept())

    def descendants(
        self, node: Hashable, k: int | None = None, *, threshold: float | None = None
    ) -> list[Relative]:
        """The nodes away from the root in the light cone of a node, nearest first, as in `ancestors`."""
        return self._fitted().descendants(node, k, threshold=threshold, graph=self._known_if_kept())

    def common_ancestors(
        self, first: Hashable, second: Hashable, k: int | None = None, *, threshold: float | None = None
    ) -> list[CommonAncestor]:
        """The lowest common ancestors of two nodes, nearest first, as in `ancestors`."""
        graph = self._known_if_kept()
        return self._fitted().common_ancestors(first, second, k, threshold=threshold, graph=graph)

    def add_nodes(self, edges: Iterable[tuple], config: Config | None = None) -> SpacetimeEmbedding:
        """Fold in the new nodes that `edges` names, see `Embedding.add_nodes`; the edges are known from now.

        All other points stay as they are.
        """
        rows = list(edges)
        self.embedding_ = self._fitted().add_nodes(rows, config)
        if self.trained_on_ is not None:
            embedding = self.embedding_
            self.trained_on_ = self.trained_on_.grown(rows, len(embedding.points), embedding.names)
            if self.joint_ is not None:
                self.joint_ = self.joint_.grown(embedding, self.trained_on_.known)
            self.labels_ = tuple(one.grown(self.trained_on_.known) for one in self.labels_)
        return self

    def update(
        self, edges: Any = None, *, removed: Any = None, epochs: int | None = None, drift: float = DRIFT
    ) -> SpacetimeEmbedding:
        """Learn new edges and nodes, and forget `removed` edges, without training anew.

        Both are anything that `timelike.read` takes. Nodes that gained or lost edges move by at most their
        share of changed edges, times `drift`, times the spread of the points; all others stay. The joint
        model counts the new edges too. `embedding_.info["updates"]` records what changed and how far old
        nodes moved.
        """
        embedding, trained_on, joint = update(
            self._fitted(),
            self._data(),
            self.joint_,
            edges,
            removed,
            epochs=epochs,
            drift=drift,
            checkpoint=self.checkpoint,
            progress=self.progress,
        )
        return self._keep(embedding, trained_on, joint)

    def why(self, source: Hashable, target: Hashable) -> tuple[float, list[Reason]]:
        """Why an edge is likely or not: see `Joint.why`. Only a joint model can say."""
        if self._fitted() and self.joint_ is None:
            raise ValueError('why needs evidence="structure"; this model is geometry alone')
        return self.joint_.why(source, target)  # type: ignore[union-attr]

    def to_frame(self) -> polars.DataFrame:
        """A polars table: node, its coordinates, and its time."""
        return self._fitted().to_frame()

    def save(self, path: str | os.PathLike) -> None:
        """Write `embedding_`, what it was trained on and the parameters to a folder, see `Embedding.save`.

        The parameter `checkpoint` is not kept: it names a file of this machine.
        """
        embedding = self._fitted()
        info = {**embedding.info, "estimator": to_json(self.get_params(deep=False))}
        joint, more = self.joint_, {}
        if joint is not None:
            more[model_folder.EVIDENCE] = lambda file: joint_file.save(joint, file)
        if self.labels_:
            more[model_folder.LABELS] = lambda file: label_file.save(self.labels_, file)
        model_folder.save(dataclasses.replace(embedding, info=info), path, self.trained_on_, more)

    @classmethod
    def load(cls, path: str | os.PathLike, graph: Any = None) -> SpacetimeEmbedding:
        """Read what `save` or the command `timelike fit` wrote.

        `graph` are the known edges of a model that was saved without them.
        """
        embedding = Embedding.load(path)
        info, model = dict(embedding.info), embedding.model
        stored = info.pop("estimator", None)
        with model_folder.blaming(Path(path) / model_folder.MODEL):
            if stored is None:  # saved by `Embedding.save`
                made = {"geometry": info.get("geometry", "auto"), "dim": model.manifold.dim}
                self = cls(**made, likelihood=model.likelihood)
            else:
                self = cls(**from_json(stored))
        trained_on = model_folder.load_trained_on(path, embedding)
        if graph is not None:
            trained_on = TrainedOn(aligned(read(graph), len(embedding.points), embedding.names, "graph"))
        joint = None
        if trained_on is not None and (file := model_folder.evidence_file(path)) is not None:
            joint = joint_file.load(file, embedding, trained_on.known)
            self.evidence = evidence_again(self.evidence, joint.evidence)
        self._keep(dataclasses.replace(embedding, info=info), trained_on, joint)
        if trained_on is not None and (file := model_folder.evidence_file(path, model_folder.LABELS)):
            self.labels_ = label_file.load(file, trained_on.known, () if joint is None else joint.evidence)
        return self

    @property
    def answers_(self) -> Embedding | Joint:
        """What predicts: the joint model, or the embedding if the geometry is alone."""
        embedding = self._fitted()
        return embedding if self.joint_ is None else self.joint_

    @property
    def calibration_(self) -> str:
        """For which ratio of non-edges to edges the probabilities hold, and what they were learned from."""
        if self._fitted() and self.joint_ is not None:
            return self.joint_.calibration_text
        return str(self.embedding_.info.get("calibration", "the probabilities are not calibrated"))

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
            raise ValueError(
                "this model does not keep its training edges; pass exclude=graph, or load(path, graph=…)"
            )
        return self.trained_on_

    def _known_if_kept(self) -> DiGraph | None:
        return None if self._fitted() and self.trained_on_ is None else self.known_

    def _excluded(self, exclude: DiGraph | None) -> DiGraph:
        return self.known_ if exclude is None else exclude

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.sparse = True
        return tags
