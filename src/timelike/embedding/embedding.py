"""The result of training: a model, a point per node, and how it came about."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import jax
import jax.numpy as jnp
import numpy as np

from timelike._util.checks import instance, whole_number
from timelike.core.model import Model, Ranker
from timelike.embedding import exact_ranking, exports, fold_in, model_folder, pair_scores, top_k
from timelike.embedding.calibration import Calibration, fit_calibration, log_odds
from timelike.embedding.predictions import Neighbour, Predictions
from timelike.embedding.trained_on import TrainedOn
from timelike.engine.negatives import seen
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.pair_evaluation import learned_since
from timelike.graphs.digraph import DiGraph, checked_nodes, is_one, node_numbers
from timelike.graphs.node_names import as_names

if TYPE_CHECKING:
    import polars

    from timelike.engine.config import Config

#: What an embedding and validation pairs are made by.
EMBEDDING = "the result of train, or an estimator's `embedding_`"
VALID = "the part `valid` of a Split, or LabelledPairs.build(positives, negatives)"


@dataclasses.dataclass(frozen=True, eq=False)
class Embedding:
    """Points of the selected epoch, with the history of all epochs (of a model that was trained again with
    its validation edges: of the run that they validated).

    `history` maps loss, gradient_norm, saturated, off_surface, rejected, left_out, valid_ap and test_ap
    to one value per epoch. `info` says how the run went: settings, best epoch, by what it was selected.
    `calibration` turns the model's probabilities into calibrated ones, without changing any ranking.
    `score` is what pairs are ranked by, a name in `pair_scores.scores_of(model)`: the likelihood that was
    trained, unless `rescored` found a better one. Probabilities are those of the score.
    `others` are the points of the other members of an `ensemble`, (members − 1, nodes, coordinates). Log-odds
    are then the mean of those of all members, and calibrated as such. What shows points (pictures,
    exports, `most_similar`, the explorer) shows the first member.
    """

    model: Model
    points: np.ndarray
    names: Sequence[Hashable] | None
    history: dict[str, np.ndarray]
    info: dict[str, Any]
    calibration: Calibration | None = None
    score: str = pair_scores.LIKELIHOOD
    others: np.ndarray | None = None

    def __post_init__(self) -> None:
        pair_scores.ranker(self.model, self.score)
        object.__setattr__(self, "names", None if self.names is None else as_names(self.names))

    @overload
    def log_prob(self, sources: str | int, targets: str | int) -> float: ...
    @overload
    def log_prob(self, sources: Any, targets: Any) -> np.ndarray: ...
    def log_prob(self, sources: Any, targets: Any) -> Any:
        """log-probability of the edges sources[i] → targets[i], by name (by number if there are no names).

        An array; of two single nodes a float.
        """
        return self._by_name(self.log_prob_by_number, sources, targets)

    @overload
    def prob(self, sources: str | int, targets: str | int) -> float: ...
    @overload
    def prob(self, sources: Any, targets: Any) -> np.ndarray: ...
    def prob(self, sources: Any, targets: Any) -> Any:
        """Probability of the edges sources[i] → targets[i], by name (by number if there are no names).

        An array; of two single nodes a float.
        """
        found = np.exp(self.log_prob(sources, targets))
        return found if found.ndim else float(found)

    def spread(self, sources: Any, targets: Any) -> Any:
        """How unsure `prob` is: the standard deviation of Pₘ over the members m of an `ensemble`.

        Pₘ is what a member alone would say, calibrated as the mean of all; `prob` is the P with
        logit P = (1/M) Σₘ logit Pₘ. The deviation is that of a sample (M − 1).
        An array; of two single nodes a float.
        """
        return self._by_name(self.spread_by_number, sources, targets)

    def log_odds(self, sources: Any, targets: Any) -> Any:
        """log P − log(1 − P) of the edges sources[i] → targets[i], without the rounding of a P near 1.

        An array; of two single nodes a float.
        """
        return self._by_name(self.log_odds_by_number, sources, targets)

    def log_prob_by_number(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """log-probability of the edges sources[i] → targets[i], by number even if nodes have names; flat."""
        raw = self._of_members(sources, targets)
        if self.members == 1:
            return self.calibrate(raw[0])
        return -np.logaddexp(0.0, -self._mean_log_odds(raw)).astype(raw.dtype)

    def log_odds_by_number(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Log-odds of the edges sources[i] → targets[i] in float64, calibrated like the probabilities."""
        return self._mean_log_odds(self._of_members(sources, targets))

    def spread_by_number(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """`spread` of the edges sources[i] → targets[i], by number even if nodes have names; flat."""
        if self.members == 1:
            raise ValueError("the model has one member, and no spread; fit it with members=5")
        return np.std(np.exp(self.calibrate(self._of_members(sources, targets))), axis=0, ddof=1)

    def top_targets(self, node: Hashable, k: int = 10, *, exclude: DiGraph | None = None) -> Predictions:
        """The k most likely edges out of a node, best first, without those of `exclude` or to `strangers`."""
        return top_k.of_node(self, node, k, exclude)

    def top_sources(self, node: Hashable, k: int = 10, *, exclude: DiGraph | None = None) -> Predictions:
        """The k most likely edges into a node, best first, without those of `exclude` or from `strangers`."""
        return top_k.of_node(self, node, k, exclude, incoming=True)

    def top_edges(
        self,
        k: int = 10,
        *,
        sources: Iterable[Hashable] | None = None,
        targets: Iterable[Hashable] | None = None,
        exclude: DiGraph | None = None,
    ) -> Predictions:
        """The k most likely edges between different nodes, best first, without those of `exclude`.

        Pass the known graph as `exclude` to get the most likely missing edges. `sources` and `targets`
        restrict the
        ends, for example to the regulators of a gene network; default: any nodes but `strangers`.
        """
        return top_k.of_all(self, k, exclude, sources, targets)

    def most_similar(self, node: Hashable, k: int = 10) -> list[Neighbour]:
        """The k nodes nearest to a node in spacetime, nearest first: they have nearly the same edges.

        The distance is √(|s²| + 2Δt²), see `timelike.embedding.exact_ranking.squared_distances`.
        """
        return top_k.nearest(self, node, k)

    def strangers(self, known: DiGraph | None, incoming: bool = False) -> np.ndarray:
        """Nodes of which training has not seen what they point to: no edge in `known`, nor a non-edge.

        There are none, unless all non-edges were drawn from nodes with edges, as to learn
        which genes a regulator regulates. What such a model says of edges from other nodes is a guess.
        The same of what points to them, if `incoming`.
        """
        drawn = self.info.get("config", {}).get("negatives", {})
        if known is None or not drawn or seen(drawn, incoming):
            return np.zeros(0, np.int64)
        ends = known.targets if incoming else known.sources
        return np.flatnonzero(np.bincount(ends, minlength=known.num_nodes) == 0)

    def calibrated(self, valid: LabelledPairs, ratio: float | None = None) -> Embedding:
        """The same embedding with probabilities calibrated on validation pairs (Platt scaling).

        They hold where there are `ratio` non-edges to an edge; None: as many as among these pairs. No
        ranking changes, but that of several members: their log-odds are bent at the knee before the mean.
        With too few pairs, or none that the model can tell apart, nothing is calibrated;
        `info["calibration"]` says what was done. Pairs that were learned after they had validated tell
        nothing new: the calibration of before stays, for this ratio.
        """
        instance("valid", valid, LabelledPairs, VALID)
        ends = (checked_nodes(np.asarray(x), len(self.points), "valid") for x in valid[:2])
        found = self.calibration or "not calibrated: the validation edges have been learned"
        if learned_since(self, valid) is None:
            found = fit_calibration(self._of_members(*ends), np.asarray(valid.labels))
        if isinstance(found, Calibration) and ratio is not None:
            found = found.at_ratio(ratio)
        info = {**self.info, "calibration": str(found)}
        used = found if isinstance(found, Calibration) else None
        return dataclasses.replace(self, info=info, calibration=used)

    def rescored(self, valid: LabelledPairs, by: str = "average_precision") -> Embedding:
        """The same embedding, ranked by the score that tells validation pairs apart best.

        `by` is "average_precision", or "f1" at its best threshold. Where the likelihood is the only score
        or the best, nothing changes. The new score has other probabilities: calibrate afterwards.
        """
        instance("valid", valid, LabelledPairs, VALID)
        score, _ = pair_scores.choose_score(self.model, self.table, valid, by, self.members)
        if score == self.score:
            return self
        return dataclasses.replace(self, score=score, calibration=None)

    def add_nodes(self, edges: Iterable[tuple], config: Config | None = None) -> Embedding:
        """A new embedding with the nodes that `edges` names and this one lacks; old points stay as they are.

        `edges` are (source, target) pairs of names, or triples with a weight. An edge between two known
        nodes teaches nothing. `config` says how to train (None: as this embedding was).
        """
        tables, names, note = fold_in.fold(self.model, self._tables, self.names, edges, config, self.info)
        others = None if self.others is None else np.stack(tables[1:])
        info = {**self.info, "added": note}
        return dataclasses.replace(self, points=tables[0], others=others, names=names, info=info)

    def to_frame(self) -> polars.DataFrame:
        """A polars table: node, its coordinates (t0 … timelike, x0 … spacelike), and its time.

        `time` is Δt from the manifold's origin.
        """
        return exports.to_frame(self.model.manifold, self.points, self.names)

    def export(
        self, path: str | os.PathLike, format: str, graph: DiGraph | None = None, edges: int = 1000
    ) -> None:
        """Write the points for other programs: npz, tsv, parquet, word2vec, tensorboard or graphml.

        "tensorboard" makes a folder with vectors.tsv and metadata.tsv. "graphml" holds the edges of
        `graph`, or the `edges` likeliest ones, with their probabilities.
        """
        exports.export(self, path, format, graph, edges)

    def save(self, path: str | os.PathLike, trained_on: TrainedOn | None = None) -> None:
        """Write a folder that `Embedding.load` reads back; a model that is already there is replaced.

        `trained_on`, if given, is kept with it (`timelike.embedding.model_folder.load_trained_on`).
        """
        model_folder.save(self, path, trained_on)

    @classmethod
    def load(cls, path: str | os.PathLike) -> Embedding:
        """Read a folder that `save` wrote, or raise an error that says what is wrong with which file."""
        return cls(**model_folder.load(path))

    def name(self, number: int) -> Hashable:
        """What the user calls a node."""
        return int(number) if self.names is None else self.names[int(number)]

    @property
    def members(self) -> int:
        """How many runs the probabilities are the mean of."""
        return 1 if self.others is None else 1 + len(self.others)

    def member(self, number: int) -> Embedding:
        """One of the members alone, from 0; its probabilities are calibrated as the mean of all was."""
        number = whole_number("number", number, 0, self.members - 1)
        info = {name: value for name, value in self.info.items() if name != "members"}
        return dataclasses.replace(self, points=self._tables[number], others=None, info=info)

    @cached_property
    def score_model(self) -> Model:
        """The model whose log F is the score of one member."""
        return pair_scores.scores_of(self.model)[self.score]

    @cached_property
    def ranker(self) -> Ranker:
        """The model whose log F, of rows of the `table`, is the score."""
        bent = {} if self.calibration is None else {"knee": self.calibration.knee}
        return pair_scores.ranker(self.model, self.score, self.members, **bent)

    @cached_property
    def table(self) -> np.ndarray:
        """What is ranked by: for each node its points in all members, one after the other."""
        return self.points if self.others is None else np.concatenate(self._tables, axis=1)

    @property
    def _tables(self) -> list[np.ndarray]:
        """The points of each member."""
        return [self.points, *(() if self.others is None else self.others)]

    @cached_property
    def columns(self) -> jax.Array:
        """The table on the device, coordinate first."""
        return jnp.asarray(np.ascontiguousarray(self.table.T))

    def _of_members(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """log F of listed edges, (members, edges)."""
        count = len(self.points)
        s, t = checked_nodes(sources, count, "sources"), checked_nodes(targets, count, "targets")
        return np.stack([exact_ranking.listed(self.score_model, table, s, t) for table in self._tables])

    def _mean_log_odds(self, raw: np.ndarray) -> np.ndarray:
        """The mean over members of their calibrated log-odds."""
        odds = log_odds(raw) if self.calibration is None else self.calibration.log_odds(raw)
        return odds.mean(axis=0)

    def _by_name(self, function: Callable[..., np.ndarray], sources: Any, targets: Any) -> Any:
        """A function of numbers for nodes by name, in the shape in which they are given."""
        s, t = (
            np.atleast_1d(node_numbers(nodes, len(self.points), self.names, argument))
            for argument, nodes in (("sources", sources), ("targets", targets))
        )
        if s.shape != t.shape:
            raise ValueError(f"sources has shape {s.shape} and targets {t.shape}; make them equal")
        found = function(s.reshape(-1), t.reshape(-1))
        return float(found[0]) if is_one(sources) and is_one(targets) else found.reshape(s.shape)

    def calibrate(self, log_prob: np.ndarray) -> np.ndarray:
        """What the log-probabilities of a member become by `calibration`; without one they stay."""
        return log_prob if self.calibration is None else self.calibration.log_prob(log_prob)

    def __repr__(self) -> str:
        epochs = len(self.history.get("loss", ()))
        members = "" if self.members == 1 else f", {self.members} members"
        return f"Embedding({len(self.points):,} nodes, {self.model}, {epochs} epochs{members})"
