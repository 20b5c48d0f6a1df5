"""What a fitted estimator answers, with the names that users of scikit-learn and networkx expect."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from timelike._util.checks import whole_number
from timelike._util.guesses import SaysTheRightCall, how_many, of_node
from timelike.embedding.cone_relatives import CommonAncestor, Relative
from timelike.embedding.embedding import Embedding
from timelike.embedding.exports import coordinate_names
from timelike.embedding.top_k import Neighbour, Predictions
from timelike.embedding.trained_on import TrainedOn
from timelike.estimator.inputs import edges_and_negatives, ends_of, labels_of, nodes_of
from timelike.estimator.network_table import edge_table
from timelike.evaluation import metrics
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.pair_evaluation import same_nodes, score_pairs
from timelike.evaluation.splits import Split
from timelike.evidence.joint import Joint, Reason
from timelike.evidence.label_model import LabelModel
from timelike.graphs.digraph import DiGraph

if TYPE_CHECKING:
    import networkx
    import pandas
    import polars


class FittedAnswers(SaysTheRightCall, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Predictions, scores and conversions of an estimator with `embedding_`, `joint_` and `trained_on_`."""

    embedding_: Embedding
    joint_: Joint | None
    trained_on_: TrainedOn | None
    labels_: tuple[LabelModel, ...]

    RIGHT_CALLS: ClassVar = {
        "wv": "embedding_: embedding_[node], node in embedding_, embedding_.most_similar(node)",
        "vectors": "np.asarray(model.embedding_)",
        "similarity": "predict_proba([(source, target)]), or most_similar(node)",
        "embeddings_": "embedding_, or np.asarray(model.embedding_)",
        "n_iter_": 'len(history_["loss"])',
        "plot": "timelike.plot.draw(model)",
        "draw": "timelike.plot.draw(model)",
        "decode": "predict_proba([(source, target)])",
        "get_vector": "embedding_[node]",
        "distance": "embedding_.metric, a function of two points",
        "similar_by_word": "most_similar(node)",
        "predict_edges": "top_edges(k)",
        "kneighbors": "most_similar(node, k)",
        "encode": "transform(nodes)",
        "get_embedding": "transform(nodes)",
        "embed": "fit_transform(graph)",
        "train": "fit(graph)",
        "partial_fit": "update(edges)",
        "loss_curve_": 'history_["loss"]',
        "predict_log_proba": "answers_.log_prob(sources, targets)",
        "link_prediction": "top_edges(k)",
        "state_dict": "save(folder)",
        "save_word2vec_format": 'embedding_.export(path, "word2vec")',
    }

    def transform(self, graph: Any) -> np.ndarray:
        """The points of a graph's nodes, in the order of the graph, or of a list of nodes by name.

        New nodes have no points before `update` or `add_nodes`.
        """
        return self._fitted()[nodes_of(graph, self)]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the coordinates: t0 … timelike, x0 … spacelike."""
        return np.asarray(coordinate_names(self._fitted().model.manifold), dtype=object)

    def predict(self, pairs: Any) -> np.ndarray:
        """1 for each of the (source, target) pairs whose probability is more than ½, else 0.

        Few pairs of a sparse graph are likely by themselves: to list the best ones, see `top_edges`.
        """
        return (self.decision_function(pairs) > 0).astype(np.int64)

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
        """Average precision on the test pairs of a `Split`, on `LabelledPairs`, on pairs with labels, or on
        edges.

        Pairs are (source, target) by name, as in `predict_proba`, and `y` is 1 for an edge or 0. Without `y`,
        they are held-out edges, or a graph that `timelike.read` takes, and 4 negatives are drawn for each;
        edges of unknown nodes are left out with a warning, and known edges are warned of.
        """
        embedding = self._fitted()
        if isinstance(pairs, Split):
            same_nodes(embedding, pairs.train)
            pairs = pairs.test
        if not isinstance(pairs, LabelledPairs) and y is None:
            pairs = edges_and_negatives(pairs, self.known_, self.seed)
        if isinstance(pairs, LabelledPairs):
            scores, labels = (
                score_pairs(self.answers_, pairs.sources, pairs.targets),
                np.asarray(pairs.labels),
            )
        else:
            scores, labels = self.decision_function(pairs), labels_of(y, len(ends_of(pairs)[0]))
        return metrics.average_precision(scores, labels)

    @of_node
    def top_targets(self, node: Hashable, k: int = 10, *, exclude: DiGraph | None = None) -> Predictions:
        """The k most likely edges out of a node, best first, without `exclude` (default: known edges)."""
        return self.answers_.top_targets(node, k, exclude=self._excluded(exclude))

    @of_node
    def top_sources(self, node: Hashable, k: int = 10, *, exclude: DiGraph | None = None) -> Predictions:
        """The k most likely edges into a node, best first, without `exclude` (default: known edges)."""
        return self.answers_.top_sources(node, k, exclude=self._excluded(exclude))

    @how_many
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

    @of_node
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

    def why(self, source: Hashable, target: Hashable) -> tuple[float, list[Reason]]:
        """Why an edge is likely or not: see `Joint.why`. Only a joint model can say."""
        if self._fitted() and self.joint_ is None:
            raise ValueError('why needs evidence="structure"; this model is geometry alone')
        return self.joint_.why(source, target)  # type: ignore[union-attr]

    def to_frame(self) -> polars.DataFrame:
        """A polars table: node, its coordinates, and its time."""
        return self._fitted().to_frame()

    to_polars = to_frame

    def to_pandas(self) -> pandas.DataFrame:
        """`to_frame` as a pandas table."""
        return self._fitted().to_pandas()

    def to_networkx(self, k: int | None = None) -> networkx.DiGraph:
        """The known edges as a networkx graph, with coordinates and time as attributes of the nodes.

        With `k`, also the k likeliest missing edges, and all columns of `edge_table` as attributes of edges.
        """
        graph, columns = self.known_.to_networkx(), self.to_frame().drop("node")
        for i, row in enumerate(columns.iter_rows(named=True)):
            graph.nodes[self.known_.name(i)].update(row)
        for row in () if k is None else self.edge_table(k).iter_rows(named=True):
            graph.add_edge(row.pop("source"), row.pop("target"), **row)
        return graph

    def edge_table(self, k: int = 0) -> polars.DataFrame:
        """The known edges and the `k` likeliest missing ones, for decoupler, Cytoscape and others.

        Columns: source, target, weight, probability, known, and for each of `labels_` the class, such as a
        sign, and its probability. The weight of a known edge is 1, of others the probability; signs multiply
        it by P(+) − P(−). The probability of a known edge is what it would be if it were unknown.
        """
        return edge_table(self, whole_number("k", k, 0))

    @property
    def answers_(self) -> Embedding | Joint:
        """What predicts: the joint model, or the embedding if the geometry is alone."""
        embedding = self._fitted()
        return embedding if self.joint_ is None else self.joint_

    @property
    def classes_(self) -> np.ndarray:
        """The columns of `predict_proba`: 0, no edge, and 1, an edge."""
        return np.array([0, 1])

    @property
    def history_(self) -> dict[str, np.ndarray]:
        """Loss, validation AP and more, an array each with a value per epoch: `Embedding.history`."""
        return self._fitted().history

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
