"""What else speaks for an edge than its geometry, and one probability from all of it.

An `Evidence` prepares itself from a graph: `Structure` counts paths, degrees and the like. `Joint` combines
evidence with the log-odds of an embedding, and is learned on edges that neither has seen. `Expression`,
`NodeFeatures` and `ScoredPairs` come from the user; `LabelModel` predicts the sign or type of an edge.
May import: _util, core, embedding, evaluation, graphs, io.
"""

from timelike.evidence.combiner import Combiner
from timelike.evidence.edge_labels import EdgeLabels
from timelike.evidence.expression import Expression
from timelike.evidence.joint import Joint, Reason
from timelike.evidence.label_model import LabelModel
from timelike.evidence.name_matching import Matched
from timelike.evidence.node_features import NodeFeatures
from timelike.evidence.pair_columns import Columns, Evidence, Prepared, Term
from timelike.evidence.profiles import Profiles
from timelike.evidence.scored_pairs import ScoredPairs
from timelike.evidence.structure import Structure

__all__ = [
    "Columns",
    "Combiner",
    "EdgeLabels",
    "Evidence",
    "Expression",
    "Joint",
    "LabelModel",
    "Matched",
    "NodeFeatures",
    "Prepared",
    "Profiles",
    "Reason",
    "ScoredPairs",
    "Structure",
    "Term",
]
