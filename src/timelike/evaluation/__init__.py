"""Judge predictions: held-out edges, negative samples, metrics, heuristic baselines and paired tests.

Nothing here trains a model. Any object with `log_prob(sources, targets)` or `score(sources, targets)` can be
evaluated.
May import: _util, core, graphs.
"""

from timelike.evaluation import metrics
from timelike.evaluation.heuristics import DegreeProduct, Reachability, Svd, TimesOutDegree, reciprocity
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.negative_kinds import NEGATIVE_KINDS, draw_negatives, suitable_negatives
from timelike.evaluation.pair_evaluation import Evaluation, Scorer, evaluate, score_pairs
from timelike.evaluation.paired_tests import PairedTest, paired_test, summarise
from timelike.evaluation.path_counts import Katz, Paths, common_neighbours, l3
from timelike.evaluation.questions import QUESTIONS, draw_questions, question_pairs
from timelike.evaluation.splits import Split, folds, in_edge_order, split_edges
from timelike.evaluation.target_ranks import rank_targets

__all__ = [
    "NEGATIVE_KINDS",
    "QUESTIONS",
    "DegreeProduct",
    "Evaluation",
    "Katz",
    "LabelledPairs",
    "PairedTest",
    "Paths",
    "Reachability",
    "Scorer",
    "Split",
    "Svd",
    "TimesOutDegree",
    "common_neighbours",
    "draw_negatives",
    "draw_questions",
    "evaluate",
    "folds",
    "in_edge_order",
    "l3",
    "metrics",
    "paired_test",
    "question_pairs",
    "rank_targets",
    "reciprocity",
    "score_pairs",
    "split_edges",
    "suitable_negatives",
    "summarise",
]
