"""One writer per format, all by other libraries: rows (source, target[, weight]) of names to a file."""

import bz2
import csv
import gzip
import io
import itertools
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
import polars as pl
import pyarrow as pa
import scipy.io
import scipy.sparse


def packed(path: Path, data: bytes) -> Path:
    """Write bytes, packed as the ending says."""
    zstd = partial(pa.compress, codec="zstd", asbytes=True)
    pack = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstd}
    path.write_bytes(pack.get(path.suffix, bytes)(data))
    return path


def delimited(path: Path, rows, delimiter: str, header: bool, end: str = "\n", bom: bool = False) -> Path:
    """Every text in quotes, as `csv` and pandas write it on request."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC, lineterminator=end)
    if header:
        writer.writerow(["source", "target", "weight"][: len(rows[0])])
    writer.writerows(rows)
    return packed(path, (b"\xef\xbb\xbf" if bom else b"") + out.getvalue().encode())


def frame(rows) -> pl.DataFrame:
    """A table with named columns."""
    return pl.DataFrame(rows, schema=["source", "target", "weight"][: len(rows[0])], orient="row")


def parquet(path: Path, rows) -> Path:
    """By polars."""
    frame(rows).write_parquet(path)
    return path


def networkx(rows, nodes=()) -> nx.MultiDiGraph:
    """A graph that keeps repeated edges."""
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(nodes)
    for s, t, *weight in rows:
        graph.add_edge(s, t, **({"weight": weight[0]} if weight else {}))
    return graph


def graphml(path: Path, rows, nodes=()) -> Path:
    """By NetworkX."""
    nx.write_graphml_xml(networkx(rows, nodes), path)
    return path


def matrix(rows, nodes: int) -> scipy.sparse.coo_array:
    """An adjacency matrix of rows between numbers."""
    s, t = np.array([row[:2] for row in rows], int).T
    weights = [row[2] if len(row) == 3 else 1 for row in rows]
    return scipy.sparse.coo_array((np.array(weights, float), (s, t)), shape=(nodes, nodes))


def matrix_market(path: Path, rows, nodes: int) -> Path:
    """By SciPy."""
    out = io.BytesIO()
    scipy.io.mmwrite(out, matrix(rows, nodes), symmetry="general")
    return packed(path, out.getvalue())


def obo(path: Path, rows, nodes=()) -> Path:
    """Terms with their parents."""
    terms = list(dict.fromkeys([*nodes, *(x for row in rows for x in row[:2])]))
    text = "format-version: 1.2\nontology: test\n"
    for term in terms:
        text += f"\n[Term]\nid: {term}\nname: label of {term}\n"
        text += "".join(f"is_a: {t} ! label\n" for s, t, *_ in rows if s == term)
    return packed(path, text.encode())


def sif(path: Path, rows, nodes=()) -> Path:
    """A line for each source in a row, with its targets, then nodes alone."""
    text = ""
    for source, group in itertools.groupby(rows, key=lambda row: row[0]):
        text += "\t".join([source, "pd", *(row[1] for row in group)]) + "\n"
    text += "".join(f"{node}\n" for node in nodes)
    return packed(path, text.encode())


def ogb(folder: Path, rows, nodes: int) -> Path:
    """The two files that matter."""
    folder.mkdir()
    lines = "".join(f"{s},{t}\n" for s, t, *_ in rows)
    packed(folder / "edge.csv.gz", lines.encode())
    packed(folder / "num-node-list.csv.gz", f"{nodes}\n".encode())
    return folder
