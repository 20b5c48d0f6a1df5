"""`timelike evaluate`: how well a model tells edges it has not seen from non-edges."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import tyro

from timelike.cli.options import optional
from timelike.cli.printing import note, print_json, print_table
from timelike.cli.reading_options import PairOptions
from timelike.cli.saved_models import Fitted, ModelFolder, load

if TYPE_CHECKING:
    import numpy as np

    from timelike.embedding.trained_on import TrainedOn
    from timelike.evaluation.labelled_pairs import LabelledPairs
    from timelike.graphs.digraph import DiGraph

#: Kept here as text so that `--help` and mistakes need no JAX; a test compares them with the list.
Protocol = Literal["uniform", "inner", "outer", "corrupt-target", "corrupt-source", "reversed", "degree"]

#: Non-edges drawn to an edge, and where their random numbers come from, unless said otherwise.
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
    """Score a model on edges that it was not trained on, beside cheap baselines on the same pairs.

    Example: timelike evaluate model --edges test.tsv --protocol reversed
    """

    model: ModelFolder
    """A model folder, as `timelike fit` writes it."""

    edges: Annotated[str, tyro.conf.arg(metavar="FILE")]
    """The edges to find: a file, `-` for standard input, or a data set."""

    negatives: Annotated[str | None, optional("FILE")] = None
    """The non-edges to tell them from."""

    protocol: Annotated[Protocol | None, optional(f"{{{','.join(get_args(Protocol))}}}")] = None
    """How to draw non-edges if there is no --negatives: any two nodes (uniform), a node that has edges with
    any other (inner), any with one that edges enter (outer), the edge with another end, the edge backwards,
    or ends as frequent as in edges; never a known edge. Unless given: as the model was trained and
    validated."""

    ratio: int = RATIO
    """How many non-edges to draw for each edge (one if backwards)."""

    seed: int = SEED
    """Where their random numbers come from: the same seed draws the same."""

    json: bool = False
    """Print the result as JSON."""

    reading: tyro.conf.OmitArgPrefixes[PairOptions] = dataclasses.field(default_factory=PairOptions)

    def run(self) -> None:
        """Draw, score, and print."""
        from timelike.estimator.baseline_scores import BASELINES, evaluate_baselines
        from timelike.evaluation.pair_evaluation import evaluate

        if self.negatives is not None and self.protocol is not None:
            raise ValueError("--negatives and --protocol exclude each other; leave one out")
        if self.negatives is not None and (self.ratio, self.seed) != (RATIO, SEED):
            raise ValueError(
                "--negatives and --ratio or --seed exclude each other: nothing is drawn; leave one out"
            )
        fitted = load(
            self.model, "there are no baselines, and non-edges that are drawn may be training edges"
        )
        positives, known = self._edges(fitted)
        protocol = self.protocol or fitted.embedding.info.get("protocol", "uniform")
        pairs = self._pairs(positives, known, protocol)
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
            "protocol": "file" if self.negatives is not None else protocol,
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
            raise ValueError(f"{self.edges}: there are no edges between different nodes in it")
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
            note(f"{learned:,} of {len(edges):,} edges were learned in training: this is no fair test")
        if chosen:
            note(f"{chosen:,} of {len(edges):,} edges chose the model by validation: scores are too good")

    def _pairs(self, positives: np.ndarray, known: DiGraph, protocol: str) -> LabelledPairs:
        from timelike.evaluation.labelled_pairs import LabelledPairs
        from timelike.evaluation.negative_kinds import check_listed, draw_non_edges

        if self.negatives is None:
            negatives = draw_non_edges(protocol, known, positives, self.ratio, self.seed)
        else:
            listed = self.reading.pairs(self.negatives, known.num_nodes, known.names)
            try:
                negatives = check_listed(known, listed)
            except ValueError as error:
                raise ValueError(f"{self.negatives}: {error}") from None
        return LabelledPairs.build(positives, negatives)


def _print(result: dict[str, Any]) -> None:
    """The model and the baselines, a line each, and what the numbers mean."""
    rows = {"model": result, **result["baselines"]}
    print_table([["", *COLUMNS], *([name, *(scores[c] for c in COLUMNS)] for name, scores in rows.items())])
    print(f"{result['positives']:,} edges, {result['negatives']:,} non-edges ({result['protocol']})")
    threshold = "" if result["threshold"] is None else f"{result['threshold']:.4g}, "
    print(f"F1 at the threshold {threshold}{result['threshold_from']}")
    calibration = result["calibration"] or "not calibrated"
    print(f"NLL {result['nll']:.4g}, Brier score {result['brier']:.4g}; {calibration}")
