"""The network that a fitted model stands for, as other programs take it: known edges and predicted ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.graphs.digraph import node_numbers

if TYPE_CHECKING:
    import polars


def edge_table(model: Any, k: int) -> polars.DataFrame:
    """The known edges of an estimator and the `k` likeliest missing ones.

    Columns: source, target, weight, probability, known, and for each of its `labels_` the column, such as
    sign, and the probability of that class. The weight is 1 for known edges and the probability for others;
    signs multiply it by P(+) − P(−).
    """
    import polars as pl

    known = model.known_
    predicted = model.top_edges(k) if k else []
    names = [[known.name(i) for i in end] for end in known.pairs.T]
    names = [[*own, *(row[end] for row in predicted)] for end, own in enumerate(names)]
    s, t = (np.asarray(node_numbers(end, known.num_nodes, known.names, "edges")) for end in names)
    probability = np.exp(model.answers_.log_prob_by_number(s, t).astype(float))
    is_known = np.arange(len(s)) < known.num_edges
    weight = np.where(is_known, 1.0, probability)
    more: dict[str, Any] = {}
    for one in model.labels_:
        words, likely = one.of_pairs(s, t)
        more |= {one.column: words, f"{one.column}_probability": likely}
        if one.column == "sign":
            weight = weight * np.where(np.array(words) == "+", 1, -1) * (2 * likely - 1)
    ends = dict(zip(("source", "target"), names, strict=True))
    columns = {**ends, "weight": weight, "probability": probability, "known": is_known, **more}
    return pl.DataFrame({name: list(values) for name, values in columns.items()})
