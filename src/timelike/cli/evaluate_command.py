"""`timelike evaluate`: how well a model ranks held-out edges above negatives."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import tyro

from timelike._util.choices import NegativeKind
from timelike.cli.options import Json, optional
from timelike.cli.printing import note, print_json, print_table
from timelike.cli.reading_options import PairOptions
from timelike.cli.saved_models import Fitted, Loading, LoadingOptions, ModelFolder
from timelike.cli.split_files import checked_negatives, part_of_split
from timelike.evaluation.questions import ASKED

if TYPE_CHECKING:
    import numpy as np

    from timelike.embedding.trained_on import TrainedOn
    from timelike.evaluation.labelled_pairs import LabelledPairs
    from timelike.evaluation.pair_evaluation import Evaluation
    from timelike.graphs.digraph import DiGraph

#: `--negatives`: a kind to draw, or a file.
Negatives = Annotated[str | None, optional("KIND|FILE", aliases=("--protocol",))]

#: Defaults of --ratio and --seed.
RATIO, SEED = 4, 0

COLUMNS = [
    "average_precision",
    "roc_auc",
    "f1",
    "hits@20",
    "hits@50",
    "hits@100",
    "mrr",
    "direction_accuracy",
]


@dataclasses.dataclass(frozen=True)
class Evaluate:
    """Score a model on held-out edges, beside simple baselines on the same pairs.

    Kinds of negatives are uniform (any two nodes), same_source and same_target (the edge with another target
    or source), reversed (the edge turned round), active_source (a node with outgoing edges, and any node),
    active_target (any node, and a node with incoming edges) and degree (nodes as frequent as in edges). Known
    edges are never drawn.

    Example: timelike evaluate model --edges test.tsv --negatives reversed
    """

    model: ModelFolder

    edges: Annotated[str, tyro.conf.arg(metavar="FILE")]
    """Test edges: a file, `-` for standard input, or a data set."""

    negatives: Negatives = None
    """Kind of negatives to draw, or a file; default: those of the split, or the kind that validation used."""

    ratio: int = RATIO
    """Negatives to draw per edge; reversed has one."""

    seed: int = SEED
    """Seed of the draw: the same seed draws the same negatives."""

    baselines: str = "all"
    """Simple methods to compare with: all, untrained, none, or names separated by commas: L3,SVD."""

    most_pairs: int = 100_000
    """Score at most this many pairs, drawn at random; the same for the model and all baselines. 0: all."""

    json: Json = False

    reading: tyro.conf.OmitArgPrefixes[PairOptions] = dataclasses.field(default_factory=PairOptions)

    loading: Loading = dataclasses.field(default_factory=LoadingOptions)

    def run(self) -> None:
        """Draw negatives, score all pairs, and print."""
        from timelike.estimator.baseline_names import baseline_names, beaten
        from timelike.evaluation.pair_evaluation import evaluate

        names = baseline_names(self.baselines)
        if self.most_pairs < 0:
            raise ValueError(f"--most-pairs is {self.most_pairs}; it must be ≥ 0, where 0 scores all pairs")
        listed = is_file(self.negatives)
        if listed and (self.ratio, self.seed) != (RATIO, SEED):
            raise ValueError("--negatives FILE cannot be combined with --ratio or --seed: nothing is drawn")
        fitted = self.loading.load(self.model, "no baselines, and drawn negatives may be training edges")
        positives, known = self._edges(fitted)
        kind, file = self._negatives(fitted, listed)
        pairs = self._pairs(positives, known, kind, file)
        valid = None if fitted.trained_on is None else fitted.trained_on.valid
        questions = self._questions(positives, known) if self.negatives is None else {}
        scores = evaluate(fitted.answers, pairs, valid=valid, known=known, questions=questions)
        baselines = (
            {} if fitted.trained_on is None else self._baselines(fitted, pairs, known, names, questions)
        )
        result = {
            **scores.to_dict(),
            "negatives_from": "file" if listed else kind,
            "threshold_from": scores.threshold_from,
            "calibration": fitted.calibration,
            "baselines": {name: others.to_dict() for name, others in baselines.items()},
        }
        if self.json:
            print_json(result)
        else:
            _print(result)
        if missing := [name for name in names if name not in baselines and self.baselines != "all"]:
            note(f"--baselines: {', '.join(missing)} does not apply to such a graph")
        others = {name: one.average_precision for name, one in baselines.items()}
        if line := beaten(scores.average_precision, others, "these pairs"):
            note(line)

    def _negatives(self, fitted: Fitted, listed: bool) -> tuple[str, str | None]:
        """The kind of the negatives and their file, if they have one; a note if validation used others.

        The test file of a split brings its own negatives.
        """
        validated = fitted.embedding.info.get("valid_negatives")
        part = part_of_split(str(self.negatives) if listed else self.edges)
        file = self.negatives if listed else None
        if part is not None and self.negatives is None and (self.ratio, self.seed) == (RATIO, SEED):
            file = part.negatives_file
            note(f"{file}: the {part.kind} negatives of the split")
        kind = (
            part.kind if part is not None and file is not None else self.negatives or validated or "uniform"
        )
        if validated is not None and kind != validated and not (listed and part is None):
            note(
                f"validation compared edges with {validated} negatives, this test uses {kind} ones: "
                f"the model was chosen for another question; --negatives {validated} asks the same"
            )
        return kind, file

    def _baselines(
        self,
        fitted: Fitted,
        pairs: LabelledPairs,
        known: DiGraph,
        names: tuple[str, ...],
        questions: dict[str, LabelledPairs],
    ) -> dict[str, Evaluation]:
        """The baselines, built from the edges that the model learned."""
        from timelike.estimator.baseline_scores import evaluate_baselines

        trained_on = fitted.trained_on
        assert trained_on is not None
        refit = "refit" in fitted.embedding.info
        return evaluate_baselines(
            trained_on.before if refit else trained_on.graph,
            pairs,
            valid=trained_on.valid,
            known=known,
            learned=trained_on.graph if refit else None,
            names=names,
            say=note,
            questions=questions,
        )

    def _questions(self, positives: np.ndarray, known: DiGraph) -> dict[str, LabelledPairs]:
        """The pairs of the four questions, at most `most_pairs` each."""
        from timelike.evaluation.questions import question_pairs

        drawn = question_pairs(known, positives, self.seed)
        most = self.most_pairs or None
        return {kind: rows if most is None else rows.sample(most) for kind, rows in drawn.items()}

    def _edges(self, fitted: Fitted) -> tuple[np.ndarray, DiGraph]:
        """The test edges, each once, and the graph of all known edges, including these."""
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
        """Note how many of the test edges the model has seen in training or validation."""
        learned = int(trained_on.graph.has_edges(*edges.T).sum())
        chosen = int(trained_on.known.has_edges(*edges.T).sum()) - learned
        if learned:
            note(f"{learned:,} of {len(edges):,} test edges were learned in training: this is no fair test")
        if chosen:
            note(f"{chosen:,} of {len(edges):,} test edges were used for validation: scores are optimistic")

    def _pairs(self, positives: np.ndarray, known: DiGraph, kind: str, file: str | None) -> LabelledPairs:
        from timelike.evaluation.labelled_pairs import LabelledPairs
        from timelike.evaluation.negative_kinds import draw_negatives

        if file is not None:
            listed = self.reading.pairs(file, known.num_nodes, known.names)
            negatives = checked_negatives(known, listed, file)
        else:
            negatives = draw_negatives(kind, known, positives, self.ratio, self.seed)
        pairs = LabelledPairs.build(positives, negatives)
        if 0 < self.most_pairs < len(pairs.labels):
            note(f"scored: {self.most_pairs:,} of {len(pairs.labels):,} pairs; --most-pairs 0 scores all")
            pairs = pairs.sample(self.most_pairs)
        return pairs


def is_file(negatives: str | None) -> bool:
    """Whether `--negatives` names a file (`-`: standard input) or a data set rather than a kind."""
    if negatives is None or negatives in get_args(NegativeKind):
        return False
    if negatives != "-" and ":" not in negatives and not Path(negatives).exists():
        kinds = ", ".join(get_args(NegativeKind))
        raise ValueError(f"--negatives is {negatives!r}; it must be a file or one of {kinds}")
    return True


def _print(result: dict[str, Any]) -> None:
    """Print the model and the baselines, one line each, and what the numbers refer to."""
    rows = {"model": result, **result["baselines"]}
    print_table([["", *COLUMNS], *([name, *(scores[c] for c in COLUMNS)] for name, scores in rows.items())])
    if kinds := list(result.get("questions", ())):
        print("\nAP by question (4 non-edges per edge; 1 for the edge turned round)")
        asked = ([name, *(scores["questions"].get(kind) for kind in kinds)] for name, scores in rows.items())
        print_table([["", *(ASKED[kind] for kind in kinds)], *asked])
        print()
    print(f"{result['positives']:,} edges, {result['negatives']:,} negatives ({result['negatives_from']})")
    threshold = "" if result["threshold"] is None else f"{result['threshold']:.4g}, "
    print(f"F1 threshold: {threshold}{result['threshold_from']}")
    calibration = result["calibration"] or "not calibrated"
    print(f"NLL {result['nll']:.4g}, Brier score {result['brier']:.4g}; {calibration}")
