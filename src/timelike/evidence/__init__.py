"""What else speaks for an edge than its geometry, and one probability from all of it.

`Structure` counts paths, degrees and the like; `Joint` combines them with the log-odds of an embedding and is
learned on edges that neither has seen. May import: _util, core, embedding, evaluation, graphs.
"""

from timelike.evidence.combiner import Combiner
from timelike.evidence.joint import Joint, Reason
from timelike.evidence.learning import Prepared
from timelike.evidence.structure import Structure
from timelike.evidence.terms import Term

__all__ = ["Combiner", "Joint", "Prepared", "Reason", "Structure", "Term"]
