"""The result of training: a model, a point per node, and a record of the run."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from timelike._util.checks import instance, whole_number
from timelike._util.guesses import of_node
from timelike.core.model import Model, Ranker
from timelike.embedding import exact_ranking, exports, fold_in, model_folder, top_k
from timelike.embedding.calibration import Calibration, fit_calibration, log_odds
from timelike.embedding.node_vectors import NodeVectors
from timelike.embedding.pair_answers import PairAnswers
from timelike.embedding.top_k import Neighbour
from timelike.embedding.trained_on import TrainedOn
from timelike.engine.negatives import seen
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.pair_evaluation import learned_since
from timelike.graphs.digraph import DiGraph, checked_nodes
from timelike.graphs.node_names import as_names

if TYPE_CHECKING:
    from timelike.engine.config import Config

#: How to get an embedding and validation pairs.
EMBEDDING = "the result of train, or an estimator's `embedding_`"
VALID = "the part `valid` of a Split, or LabelledPairs.build(positives, negatives)"


@dataclasses.dataclass(frozen=True, eq=False)
class Embedding(NodeVectors, PairAnswers):
    """The points of the selected epoch, with the history of all epochs.

    `history` maps loss, gradient_norm, saturated, off_surface, rejected, left_out, valid_ap and test_ap to
    one value per epoch; for a refitted model, these are from the run before the refit. `info` records the
    run: settings, best epoch, how it was selected. `calibration` calibrates the model's probabilities without
    changing any ranking. `score`, a name in `exact_ranking.scores_of(model)`, ranks pairs and defines the
    probabilities: the trained likelihood, or a better score that `rescored` found. `others` are the points of
    the other members of an `ensemble`, (members − 1, nodes, coordinates). An ensemble averages the members'
    log-odds and calibrates the mean. Pictures, exports, `most_similar` and the explorer show the first one.

    `prob`, `log_prob`, `log_odds` and `spread` take nodes by name, or by number if there are no names, and
    return an array, or a float for two single nodes. `embedding[node]` is a point, `embedding[[a, b]]` some
    rows, and `np.asarray(embedding)` all of them; `node in embedding` and `len(embedding)` are about nodes.
    """

    model: Model
    points: np.ndarray
    names: Sequence[Hashable] | None
    history: dict[str, np.ndarray]
    info: dict[str, Any]
    calibration: Calibration | None = None
    score: str = exact_ranking.LIKELIHOOD
    others: np.ndarray | None = None

    ranking: ClassVar[Any] = top_k

    def __post_init__(self) -> None:
        exact_ranking.ranker(self.model, self.score)
        object.__setattr__(self, "names", None if self.names is None else as_names(self.names))

    def log_prob_by_number(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The log-probability of the edges sources[i] → targets[i], by number even if nodes have names."""
        raw = self._of_members(sources, targets)
        if self.members == 1:
            return self.calibrate(raw[0])
        return -np.logaddexp(0.0, -self._mean_log_odds(raw)).astype(raw.dtype)

    def log_odds_by_number(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The calibrated log-odds of the edges sources[i] → targets[i] in float64, by number."""
        return self._mean_log_odds(self._of_members(sources, targets))

    def spread_by_number(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """`spread` of the edges sources[i] → targets[i], by number even if nodes have names."""
        if self.members == 1:
            raise ValueError("the model has 1 member, so no spread; fit it with members=5")
        return np.std(np.exp(self.calibrate(self._of_members(sources, targets))), axis=0, ddof=1)

    def best_of_each(
        self, sources: np.ndarray, k: int, exclude: DiGraph | None = None
    ) -> Iterator[tuple[np.ndarray, ...]]:
        """`top_targets` of many sources, by number: see `PairAnswers.best_of_each`."""
        return top_k.of_each(self, sources, k, exclude)

    @of_node
    def most_similar(self, node: Hashable, k: int = 10) -> list[Neighbour]:
        """The k nodes nearest to a node in spacetime, nearest first; they have nearly the same edges.

        The distance is √(|s²| + 2Δt²), see `timelike.embedding.exact_ranking.squared_distances`.
        """
        return top_k.nearest(self, node, k)

    def strangers(self, known: DiGraph | None, incoming: bool = False) -> np.ndarray:
        """Nodes that training never saw as a source, in an edge of `known` or in a negative sample.

        With `incoming`, never as a target. Such nodes exist only if all negatives were drawn from nodes with
        edges, as when learning which genes a regulator regulates; the model then only guesses about them.
        """
        drawn = self.info.get("config", {}).get("negatives", {})
        if known is None or not drawn or seen(drawn, incoming):
            return np.zeros(0, np.int64)
        ends = known.targets if incoming else known.sources
        return np.flatnonzero(np.bincount(ends, minlength=known.num_nodes) == 0)

    def calibrated(self, valid: LabelledPairs, ratio: float | None = None) -> Embedding:
        """The same embedding with probabilities calibrated on validation pairs (Platt scaling).

        Probabilities then hold for `ratio` non-edges per edge (None: the ratio of these pairs). Rankings do
        not change, except those of an ensemble, which bends its members' log-odds at the knee before
        averaging. With too few pairs, or pairs that the model cannot separate, there is no calibration;
        `info["calibration"]` records the outcome. Pairs that a refit has learned cannot calibrate: the
        earlier calibration stays, converted to this ratio.
        """
        instance("valid", valid, LabelledPairs, VALID)
        ends = (checked_nodes(np.asarray(x), len(self.points), "valid") for x in valid[:2])
        outcome = self.calibration or "not calibrated: the validation edges have been learned"
        if learned_since(self, valid) is None:
            outcome = fit_calibration(self._of_members(*ends), np.asarray(valid.labels))
        if isinstance(outcome, Calibration) and ratio is not None:
            outcome = outcome.at_ratio(ratio)
        info = {**self.info, "calibration": str(outcome)}
        calibration = outcome if isinstance(outcome, Calibration) else None
        return dataclasses.replace(self, info=info, calibration=calibration)

    @property
    def boundary(self) -> float | None:
        """The log-probability of a pair on the light cone, for points that were made to lie within cones."""
        inside = self.info.get("boundary")
        if inside is None or self.score != exact_ranking.LIKELIHOOD:
            return None
        log_prob = np.log(np.full(1, inside))
        return float(log_prob[0] if self.calibration is None else self.calibration.log_prob(log_prob)[0])

    def rescored(self, valid: LabelledPairs, by: str = "average_precision") -> Embedding:
        """The same embedding, ranked by the score that separates validation pairs best.

        `by` is "average_precision", or "f1" at its best threshold. If the current score is the best, nothing
        changes. A new score has other probabilities: calibrate afterwards.
        """
        instance("valid", valid, LabelledPairs, VALID)
        score = exact_ranking.choose_score(self.model, self.table, valid, by, self.members)
        if score == self.score:
            return self
        return dataclasses.replace(self, score=score, calibration=None)

    def add_nodes(self, edges: Iterable[tuple], config: Config | None = None) -> Embedding:
        """A new embedding that includes the unknown nodes in `edges`; old points do not move.

        `edges` are (source, target) pairs of names, or triples with a weight. Edges between known nodes have
        no effect. `config` sets the training (None: the config of this embedding).
        """
        tables, names, note = fold_in.fold(self.model, self._tables, self.names, edges, config, self.info)
        others = None if self.others is None else np.stack(tables[1:])
        info = {**self.info, "added": note}
        return dataclasses.replace(self, points=tables[0], others=others, names=names, info=info)

    def export(
        self, path: str | os.PathLike, format: str, graph: DiGraph | None = None, edges: int = 1000
    ) -> None:
        """Write the points for other programs: npz, npy, tsv, csv, parquet, lancedb, word2vec, tensorboard
        or graphml.

        "npz", "parquet" and "lancedb" keep the geometry as JSON. "lancedb" is a folder with a table `nodes`,
        "tensorboard" one with vectors.tsv and metadata.tsv. "graphml" includes the edges of `graph` (None:
        the `edges` likeliest ones) with their probabilities.
        """
        exports.export(self, path, format, graph, edges)

    def save(self, path: str | os.PathLike, trained_on: TrainedOn | None = None) -> None:
        """Write a model folder for `Embedding.load`, replacing a model that is already there.

        `trained_on` is saved with it, for `timelike.embedding.model_folder.load_trained_on`.
        """
        model_folder.save(self, path, trained_on)

    @classmethod
    def load(cls, path: str | os.PathLike) -> Embedding:
        """Read a folder that `save` wrote; errors name the file that is wrong."""
        return cls(**model_folder.load(path))

    @property
    def geometry(self) -> Embedding:
        """The embedding itself."""
        return self

    @property
    def members(self) -> int:
        """The number of ensemble members, 1 for a single model."""
        return 1 if self.others is None else 1 + len(self.others)

    def member(self, number: int) -> Embedding:
        """Member `number` alone, counted from 0, with the calibration of the ensemble."""
        number = whole_number("number", number, 0, self.members - 1)
        info = {name: value for name, value in self.info.items() if name != "members"}
        return dataclasses.replace(self, points=self._tables[number], others=None, info=info)

    @cached_property
    def score_model(self) -> Model:
        """The model whose log F is the score of a single member."""
        return exact_ranking.scores_of(self.model)[self.score]

    @cached_property
    def ranker(self) -> Ranker:
        """The model whose log F, applied to rows of `table`, is the score."""
        bent = {} if self.calibration is None else {"knee": self.calibration.knee}
        return exact_ranking.ranker(self.model, self.score, self.members, **bent)

    @cached_property
    def table(self) -> np.ndarray:
        """One row per node: its points in all members, concatenated."""
        return self.points if self.others is None else np.concatenate(self._tables, axis=1)

    @property
    def _tables(self) -> list[np.ndarray]:
        """The points of every member."""
        return [self.points, *(() if self.others is None else self.others)]

    @cached_property
    def columns(self) -> jax.Array:
        """The table on the device, coordinate first."""
        return jnp.asarray(np.ascontiguousarray(self.table.T))

    def _of_members(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """log F of the given edges, (members, edges)."""
        count = len(self.points)
        s, t = checked_nodes(sources, count, "sources"), checked_nodes(targets, count, "targets")
        return np.stack([exact_ranking.listed(self.score_model, table, s, t) for table in self._tables])

    def _mean_log_odds(self, raw: np.ndarray) -> np.ndarray:
        """The mean over members of their calibrated log-odds."""
        odds = log_odds(raw) if self.calibration is None else self.calibration.log_odds(raw)
        return odds.mean(axis=0)

    def calibrate(self, log_prob: np.ndarray) -> np.ndarray:
        """Apply `calibration`, if there is one, to a member's log-probabilities."""
        return log_prob if self.calibration is None else self.calibration.log_prob(log_prob)

    def __repr__(self) -> str:
        epochs = len(self.history.get("loss", ()))
        members = "" if self.members == 1 else f", {self.members} members"
        return f"Embedding({len(self.points):,} nodes, {self.model}, {epochs} epochs{members})"
