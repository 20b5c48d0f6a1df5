"""The parts that all readers share: buffers of edges, batches of tables, limits."""

import numpy as np
import polars as pl
import pytest

from timelike.graphs.edge_sorting import ends
from timelike.io import parquet
from timelike.io.edge_buffer import EdgeList
from timelike.io.graph_builder import Builder


def test_edges_stay_in_order_while_their_columns_grow_and_shrink(monkeypatch):
    monkeypatch.setattr("timelike.io.edge_buffer.FIRST", 16)
    monkeypatch.setattr("timelike.io.edge_buffer.PIECE", 3)
    found, rows = EdgeList(), np.random.default_rng(0).integers(0, 100, (50, 3))
    for part in np.array_split(rows, 7):
        found.append(part[:, 0], part[:, 1], part[:, 2].astype(np.float32), None)
    odd = rows[:, 2] % 2 == 1
    found.change(lambda s, t, w, x: (s[w % 2 == 1] + 1, t[w % 2 == 1], w[w % 2 == 1], x))
    found.mirror()
    key, weights, times = found.taken()
    both = np.concatenate([rows[odd] + [1, 0, 0], (rows[odd] + [1, 0, 0])[:, [1, 0, 2]]])
    assert np.transpose([*ends(key), weights]).tolist() == both.tolist()
    assert times is None
    assert len(found) == 0


@pytest.mark.parametrize(
    ("groups", "spans"),
    [
        ([], []),
        ([3], [(0, 3)]),
        ([4, 4, 4, 1], [(0, 4), (4, 8), (8, 12), (12, 13)]),
        ([1, 1, 1, 1, 1, 0], [(0, 4), (4, 5)]),
        ([7, 40, 2], [(0, 7), (7, 17), (17, 27), (27, 37), (37, 47), (47, 49)]),
    ],
)
def test_parts_of_a_table_follow_its_groups_of_rows(groups, spans, monkeypatch):
    for name, value in (("BATCH", 4), ("LARGE", 8), ("PARTS", 4)):
        monkeypatch.setattr(parquet, name, value)
    assert list(parquet._spans(groups)) == spans


def test_more_nodes_than_numbers_are_refused():
    builder = Builder("here")
    builder.add(pl.Series([0]), pl.Series([1]))
    with pytest.raises(ValueError, match=r"here: 2,147,483,648 nodes.* 2,147,483,647"):
        builder._graph(2**31, None)
