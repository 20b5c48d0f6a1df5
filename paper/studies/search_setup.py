"""The training recipe that the searches for settings share."""

from __future__ import annotations

import timelike as tl

#: Training negatives for each protocol. Few nodes are regulators, so a non-edge of one counts three times.
NEGATIVES = {"uniform": {"uniform": 4}, "listed": {"active_source": 4, "weights": {"active_source": 3.0}}}


def search_config(graph: tl.DiGraph, protocol: str) -> tl.Config:
    """20·(10⁶/m)^0.3 epochs for m edges, at most 150, with negatives like those of the evaluation."""
    epochs = min(round(20 * (1e6 / graph.num_edges) ** 0.3), 150)
    negatives = tl.Negatives(**NEGATIVES[protocol])  # type: ignore[arg-type]
    return tl.Config(epochs=epochs, batch_size=32, burn_in=10, negatives=negatives)
