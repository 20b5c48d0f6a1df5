"""`timelike evaluate`: how well a model ranks unseen edges above negatives."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import tyro

from timelike._util.choices import NegativeKind
from timelike.cli.printing import note, print_json, print_table
from timelike.cli.reading_options import PairOptions
from timelike.cli.saved_models import Fitted, ModelFolder, load

if TYPE_CHECKING:
    import numpy as np

    from timelike.embedding.trained_on import TrainedOn
    from timelike.evaluation.labelled_pairs import LabelledPairs
    from timelike.graphs.digraph import DiGraph

#: `--negatives`: a kind to draw, or a file.
Negatives = Annotated[
    str | None,
    tyro.conf.arg(metavar="KIND|FILE", help_behavior_hint="", aliases=("--protocol",)),
]

#: Defaults of --ratio and --seed.
RATIO, SEED = 4, 0

COLUMNS = (
    "average_precision",
    "roc_auc",
    "f1",
    "hits@20",
    "hits@50",
    "hits@100",
    "mrr",
    "direction_accuracy",
)


@dataclasses.dataclass(frozen=True)
class Evaluate:
    """Score a model on edges it was not trained on, beside simple baselines on the same pairs.

    Example: timelike evaluate model --edges test.tsv --negatives reversed
    """

    model: ModelFolder
    """A model folder, as `timelike fit` writes it."""

    edges: Annotated[str, tyro.conf.arg(metavar="FILE")]
    """The test edges: a file, `-` for standard input, or a data set."""

    negatives: Negatives = None
    """What the edges are compared with: a file of non-edges, or a kind to draw. uniform: any two nodes;
    same_source, same_target: the edge with another target or source; reversed: the edge turned round;
    active_source, active_target: a node with outgoing (incoming) edges and any node; degree: nodes as
    frequent as
    in edges. Known edges are never drawn. Default: the kind that the model was validated with."""

    ratio: int = RATIO
    """Negatives to draw per edge (reversed: one)."""

    seed: int = SEED
    """The source of random numbers: the same seed draws the same negatives."""

    json: bool = False
    """Print the result as JSON."""

    reading: tyro.conf.OmitArgPrefixes[PairOptions] = dataclasses.field(default_factory=PairOptions)

    def run(self) -> None:
        """Draw, score, and print."""
        from timelike.estimator.baseline_scores import BASELINES, evaluate_baselines
        from timelike.evaluation.pair_evaluation import evaluate

        listed = is_file(self.negatives)
        if listed and (self.ratio, self.seed) != (RATIO, SEED):
            raise ValueError("--negatives FILE cannot be combined with --ratio or --seed: nothing is drawn")
        fitted = load(self.model, "there are no baselines, and drawn negatives may be training edges")
        positives, known = self._edges(fitted)
        kind = self.negatives or fitted.embedding.info.get("valid_negatives") or "uniform"
        pairs = self._pairs(positives, known, kind, listed)
        trained_on = fitted.trained_on
        valid = None if trained_on is None else trained_on.valid
        found = evaluate(fitted.embedding, pairs, valid=valid, known=known)
        baselines = {}
        if trained_on is not None:
            again = "refit" in fitted.embedding.info
            baselines = evaluate_baselines(
                trained_on.before if again else trained_on.graph,
                pairs,
                valid=valid,
                known=known,
                learned=trained_on.graph if again else None,
                names=tuple(BASELINES),
                say=note,
            )
        result = {
            **found.to_dict(),
            "negatives_from": "file" if listed else kind,
            "threshold_from": found.threshold_from,
            "calibration": fitted.embedding.info.get("calibration"),
            "baselines": {name: scores.to_dict() for name, scores in baselines.items()},
        }
        if self.json:
            print_json(result)
        else:
            _print(result)

    def _edges(self, fitted: Fitted) -> tuple[np.ndarray, DiGraph]:
        """The edges to find, each once, and the graph of all known edges, these among them."""
        import numpy as np

        from timelike.graphs.digraph import DiGraph

        embedding = fitted.embedding
        edges = self.reading.pairs(self.edges, len(embedding.points), embedding.names)
        edges = np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0)
        if not len(edges):
            raise ValueError(f"{self.edges}: no edges between different nodes")
        before = edges[:0]
        if fitted.trained_on is not None:
            before = fitted.trained_on.known.pairs
            self._warn(fitted.trained_on, edges)
        both = np.concatenate([before, edges])
        return edges, DiGraph.from_arrays(both[:, 0], both[:, 1], len(embedding.points), embedding.names)

    def _warn(self, trained_on: TrainedOn, edges: np.ndarray) -> None:
        """Say how many of the edges the model has seen, and what for."""
        learned = int(trained_on.graph.has_edges(*edges.T).sum())
        chosen = int(trained_on.known.has_edges(*edges.T).sum()) - learned
        if learned:
            note(f"{learned:,} of {len(edges):,} edges were learned in training: the test is not fair")
        if chosen:
            note(f"{chosen:,} of {len(edges):,} edges chose the model by validation: scores are optimistic")

    def _pairs(self, positives: np.ndarray, known: DiGraph, kind: str, listed: bool) -> LabelledPairs:
        from timelike.evaluation.labelled_pairs import LabelledPairs
        from timelike.evaluation.negative_kinds import check_listed, draw_negatives

        if listed:
            pairs = self.reading.pairs(kind, known.num_nodes, known.names)
            try:
                negatives = check_listed(known, pairs)
            except ValueError as error:
                raise ValueError(f"{kind}: {error}") from None
        else:
            negatives = draw_negatives(kind, known, positives, self.ratio, self.seed)
        return LabelledPairs.build(positives, negatives)


def is_file(negatives: str | None) -> bool:
    """Whether `--negatives` names a file (`-`: standard input) or a data set rather than a kind."""
    if negatives is None or negatives in get_args(NegativeKind):
        return False
    if negatives != "-" and ":" not in negatives and not Path(negatives).exists():
        kinds = ", ".join(get_args(NegativeKind))
        raise ValueError(f"--negatives is {negatives!r}; it must be a file, or one of {kinds}")
    return True


def _print(result: dict[str, Any]) -> None:
    """The model and the baselines, one line each, and what the numbers mean."""
    rows = {"model": result, **result["baselines"]}
    print_table([["", *COLUMNS], *([name, *(scores[c] for c in COLUMNS)] for name, scores in rows.items())])
    print(f"{result['positives']:,} edges, {result['negatives']:,} negatives ({result['negatives_from']})")
    threshold = "" if result["threshold"] is None else f"{result['threshold']:.4g}, "
    print(f"F1 at the threshold {threshold}{result['threshold_from']}")
    calibration = result["calibration"] or "not calibrated"
    print(f"NLL {result['nll']:.4g}, Brier score {result['brier']:.4g}; {calibration}")
