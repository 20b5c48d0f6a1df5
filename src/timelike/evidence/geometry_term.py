"""The geometry as a piece of evidence: the log-odds of an embedding, not calibrated."""

from __future__ import annotations

import dataclasses
from functools import cached_property

import numpy as np

from timelike.core.model import Ranker
from timelike.embedding import exact_ranking
from timelike.embedding.calibration import log_odds
from timelike.embedding.embedding import Embedding

GEOMETRY = "geometry"


@dataclasses.dataclass(frozen=True, eq=False)
class Geometry:
    """log F − log(1 − F) of an embedding, the mean over its members."""

    embedding: Embedding

    names = groups = (GEOMETRY,)

    @cached_property
    def _ranker(self) -> Ranker:
        return exact_ranking.ranker(self.embedding.model, self.embedding.score, self.embedding.members)

    def features(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The log-odds of each pair, (pairs, 1)."""
        found = exact_ranking.listed(
            self._ranker, self.embedding.table, np.asarray(sources), np.asarray(targets)
        )
        return log_odds(found).astype(np.float32)[:, None]

    def block(self, sources: np.ndarray) -> np.ndarray:
        """The log-odds of all pairs from these sources, (sources, nodes, 1)."""
        rows = [exact_ranking.of_node(self._ranker, self.embedding.columns, int(s)) for s in sources]
        return log_odds(np.stack([np.asarray(row) for row in rows])).astype(np.float32)[:, :, None]
