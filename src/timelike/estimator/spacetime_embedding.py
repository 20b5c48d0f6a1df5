"""The front door: an estimator with scikit-learn's conventions around reading, training and predicting."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from timelike._util.guesses import keywords
from timelike._util.progress import tell
from timelike._util.threads import one_core_each
from timelike._util.trackers import logged
from timelike.core.likelihood import Likelihood
from timelike.core.manifold import Manifold
from timelike.embedding import model_folder
from timelike.embedding.embedding import Embedding
from timelike.embedding.exact_ranking import aligned
from timelike.embedding.trained_on import TrainedOn
from timelike.engine.config import Config
from timelike.engine.negatives import Negatives
from timelike.estimator.ahead import small
from timelike.estimator.baseline_scores import compared
from timelike.estimator.carry_out import Train, carry_out
from timelike.estimator.fit_plan import FitPlan, resolve
from timelike.estimator.fitted_answers import FittedAnswers
from timelike.estimator.inputs import read_graph, with_feature_nodes
from timelike.estimator.settings import FitOptions, Settings, from_json, to_json
from timelike.estimator.updating import DRIFT, update
from timelike.evidence import joint_file, label_file
from timelike.evidence.edge_labels import EdgeLabels
from timelike.evidence.joint import Joint
from timelike.evidence.label_model import LabelModel
from timelike.evidence.outside import evidence_again
from timelike.graphs.digraph import DiGraph
from timelike.io import read
from timelike.training.checkpoint import Checkpointing

#: Parameters of other libraries that mean the same.
PARAMETERS = {
    **dict.fromkeys(("n_components", "embedding_dim", "dimensions", "vector_size", "n_dims"), "dim"),
    **dict.fromkeys(("max_iter", "n_epochs", "num_epochs", "n_iter"), "epochs"),
    **dict.fromkeys(("random_state", "random_seed"), "seed"),
    **dict.fromkeys(("manifold", "space", "metric"), "geometry"),
    **dict.fromkeys(("verbose",), "progress"),
    **dict.fromkeys(("negative", "num_negative_samples", "n_negatives"), "negatives"),
    "lr": "learning_rate",
    "n_init": "seeds",
    "validation_fraction": "valid_fraction",
}


class SpacetimeEmbedding(FittedAnswers):
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
    progress        a progress bar on stderr; None: if stderr is a terminal or a notebook
    log             where the metrics of each epoch go: a file of JSON lines, a function,
                    "tensorboard:FOLDER", "mlflow", "wandb", or a list of these, see `timelike.logged`

    `plan(graph)` shows these choices without training. After `fit`: `embedding_` (an `Embedding`), `joint_`
    (a `Joint`, or None if the geometry is alone), `answers_` (the one of both that predicts), `plan_`
    (the `FitPlan`), `geometry_` and `reason_` (the choice, and why), `candidates_` (geometry, valid_ap and
    status of each trial), and `trained_on_` with `graph_` (the edges learned), `valid_` (validation pairs or
    None) and `known_` (all known edges, which predictions exclude).
    """

    @keywords(**PARAMETERS)
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
        log: Any = None,
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
        self.log = log

    def plan(self, graph: Any, *, valid: Any = None) -> FitPlan:
        """What `fit` would do with these arguments, and why; nothing is trained."""
        found = with_feature_nodes(read_graph(graph, self), self.evidence)
        return resolve(found, self.options, valid=valid)

    @keywords(**{name: f"SpacetimeEmbedding({name}=…).fit(graph)" for name in PARAMETERS.values()})
    def fit(self, graph: Any, y: Any = None, *, valid: Any = None, labels: Any = ()) -> SpacetimeEmbedding:
        """Learn a point for every node of `graph`: a `DiGraph`, `EdgeShards`, or anything that
        `timelike.read` takes.

        A square matrix is an adjacency matrix, two columns are an edge list. The edges of `EdgeShards` are
        streamed. `valid` replaces the held-out edges: a `Split`, `LabelledPairs`, or edges, for which
        negatives are drawn. `labels` are signs or types of edges (`evidence.EdgeLabels`) to predict too, see
        `labels_`. `y` is ignored.
        """
        return self.carry_out(self.plan(graph, valid=valid)).learn_labels(labels)

    def fit_transform(self, graph: Any, y: Any = None, **options: Any) -> np.ndarray:
        """`fit`, and the points of all nodes, in the order of the graph."""
        return self.fit(graph, y, **options).embedding_.points

    def carry_out(self, plan: FitPlan, train: Train | None = None) -> SpacetimeEmbedding:
        """Fit by a plan; `train` replaces the training of a candidate, as many processes do."""
        with logged(self.log), one_core_each() if small(plan) else nullcontext():
            embedding, graph, joint = carry_out(plan, self.checkpoint, self.progress, train)
            self.plan_, embedding = plan, compared(embedding, plan)
            trained_on = TrainedOn(graph, plan.valid) if isinstance(graph, DiGraph) else None
            self._keep(embedding, trained_on, joint)
            tell({"stage": "result", "geometry": self.geometry_, **self._scores()})
        return self

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

    def _scores(self) -> dict[str, Any]:
        """The validation AP of what predicts and of the geometry alone, and the epoch of the points."""
        info, joint = self.embedding_.info, self.joint_
        scores = {name: info.get(name) for name in ("valid_ap", "best_epoch")}
        if joint is not None:
            reached = joint.combiner.record.get("valid_ap", info.get("valid_ap"))
            scores |= {"valid_ap": reached, "geometry_valid_ap": info.get("valid_ap")}
        return {name: value for name, value in scores.items() if value is not None}

    @property
    def options(self) -> FitOptions:
        """The parameters that a plan depends on."""
        return FitOptions(**{f.name: getattr(self, f.name) for f in dataclasses.fields(FitOptions)})

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
        model counts the new edges too; they have no sign or type. `embedding_.info["updates"]` records what
        changed and how far old nodes moved.
        """
        how: dict[str, Any] = {"epochs": epochs, "drift": drift, "checkpoint": self.checkpoint}
        with logged(self.log):
            embedding, trained_on, joint = update(
                self._fitted(), self._data(), self.joint_, edges, removed, progress=self.progress, **how
            )
        labels = self.labels_
        self._keep(embedding, trained_on, joint)
        self.labels_ = tuple(one.grown(self.known_) for one in labels)
        return self

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
