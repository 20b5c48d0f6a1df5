"""A graph as the tables and graphs of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx
    import pandas
    import polars

    from timelike.graphs.digraph import DiGraph


def to_polars(graph: DiGraph) -> polars.DataFrame:
    """Columns source and target, by name, and weight and time if the edges have them."""
    import polars as pl

    values = [graph.name(i) for i in range(graph.num_nodes)]
    one_type = len({type(value) for value in values}) == 1
    names = pl.Series(values if one_type else [str(value) for value in values])
    more = {name: x for name, x in (("weight", graph.weights), ("time", graph.times)) if x is not None}
    return pl.DataFrame(
        {"source": names.gather(graph.sources), "target": names.gather(graph.targets), **more}
    )


def to_pandas(table: polars.DataFrame) -> pandas.DataFrame:
    """The same table for pandas, which then needs no pyarrow."""
    import pandas as pd

    return pd.DataFrame({column.name: column.to_numpy() for column in table})


def to_networkx(graph: DiGraph) -> networkx.DiGraph:
    """Nodes by name, with `label` if there are labels; edges with `weight` and `time` if they have them."""
    import networkx

    found, names = networkx.DiGraph(), [graph.name(i) for i in range(graph.num_nodes)]
    found.add_nodes_from(names)
    columns = to_polars(graph).drop("source", "target")
    ends = zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
    if columns.width:
        rows = columns.iter_rows(named=True)
        found.add_edges_from((names[s], names[t], row) for (s, t), row in zip(ends, rows, strict=True))
    else:
        found.add_edges_from((names[s], names[t]) for s, t in ends)
    if (labels := getattr(graph.names, "labels", None)) is not None:
        networkx.set_node_attributes(found, dict(zip(names, labels, strict=True)), "label")
    return found
