"""Export points for other programs: arrays, tables, vector stores, word vectors, TensorBoard, GraphML."""

from __future__ import annotations

import contextlib
import json
import os
import re
import zipfile
from collections.abc import Callable, Hashable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

import jax
import jax.numpy as jnp
import numpy as np

from timelike._util.atomic_files import replacing, replacing_folder, write_rows
from timelike._util.checks import one_of, output_path, whole_number
from timelike.embedding.exact_ranking import aligned
from timelike.embedding.node_table import name_columns
from timelike.embedding.plain_json import struct_to_json
from timelike.graphs.digraph import DiGraph
from timelike.manifolds import Manifold

if TYPE_CHECKING:
    import polars

    from timelike.embedding.embedding import Embedding

#: Characters that XML 1.0 forbids, even escaped.
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def export(
    embedding: Embedding, path: str | os.PathLike, format: str, graph: DiGraph | None, edges: int
) -> None:
    """Write an embedding in one of `FORMATS`; a failed export leaves no partial file at `path`."""
    one_of("format", format, FORMATS)
    path = output_path("path", path)
    if format in FOLDERS:
        return FORMATS[format](embedding, path)
    rows = (_edges(embedding, graph, whole_number("edges", edges, 0)),) if format == "graphml" else ()
    with replacing(path) as part:
        FORMATS[format](embedding, part, *rows)


def to_frame(embedding: Embedding) -> polars.DataFrame:
    """Columns node, t0 …, x0 …, time; see `Embedding.to_frame`."""
    import polars as pl

    manifold, points = embedding.model.manifold, embedding.points
    nodes = np.arange(len(points)) if embedding.names is None else name_columns(embedding.names)[0]
    coordinates = {name: points[:, i] for i, name in enumerate(coordinate_names(manifold))}
    return pl.DataFrame({"node": nodes, **coordinates, "time": times(manifold, points)})


def coordinate_names(manifold: Manifold) -> list[str]:
    """t0, t1, … for coordinates with a negative square, x0, x1, … for the others."""
    letters = ["t" if square < 0 else "x" for square in np.asarray(_squares(manifold))]
    return [f"{letter}{letters[:i].count(letter)}" for i, letter in enumerate(letters)]


def times(manifold: Manifold, points: np.ndarray) -> np.ndarray:
    """Δt from the origin to the nearest image of each point."""
    return np.asarray(_times(manifold, points))


@jax.jit
def _squares(manifold: Manifold) -> jax.Array:
    """⟨v, v⟩ of the coordinate unit vectors."""
    return jax.vmap(lambda v: manifold.inner(manifold.origin(), v, v))(jnp.eye(manifold.ambient_dim))


@jax.jit
def _times(manifold: Manifold, points: jax.Array) -> jax.Array:
    origin = manifold.origin().astype(points.dtype)
    return jax.vmap(lambda p: manifold.separation(origin, p).nearest.time[0])(points)


def _npz(embedding: Embedding, file: Path) -> None:
    """Arrays `points`, `names` (or numbers), `coordinates` (the columns' names) and `geometry`."""
    names = embedding.to_frame()["node"].to_list()
    coordinates = coordinate_names(embedding.model.manifold)
    arrays = {"points": embedding.points, "names": np.array(names), "coordinates": np.array(coordinates)}
    arrays["geometry"] = np.array(geometry(embedding))
    with zipfile.ZipFile(file, "w") as out:  # older np.savez leaks it on a full disk
        for name, array in arrays.items():
            with out.open(f"{name}.npy", "w", force_zip64=True) as part:
                np.lib.format.write_array(part, array, allow_pickle=False)


def _npy(embedding: Embedding, file: Path) -> None:
    """The points alone, in the order of the nodes."""
    with open(file, "wb") as out:
        np.lib.format.write_array(out, embedding.points, allow_pickle=False)


def _separated(embedding: Embedding, file: Path, separator: str) -> None:
    with open(file, "wb") as out:
        write_rows(embedding.to_frame(), out, separator=separator)


def _parquet(embedding: Embedding, file: Path) -> None:
    """`to_frame`, with `geometry` in the metadata of the file."""
    embedding.to_frame().write_parquet(file, metadata={"timelike": geometry(embedding)})


def _lancedb(embedding: Embedding, folder: Path) -> None:
    """A database with a table `nodes` of node, vector and time; its schema keeps `geometry`."""
    try:
        import lancedb
    except ImportError:
        raise ImportError("lancedb is not installed: pip install lancedb") from None
    import pyarrow as pa

    frame, width = embedding.to_frame(), embedding.points.shape[1]
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(embedding.points.astype(np.float32).ravel()), width)
    table = pa.table(
        {"node": frame["node"].to_arrow(), "vector": vectors, "time": frame["time"].to_arrow()},
        metadata={"timelike": geometry(embedding)},
    )
    lancedb.connect(folder).create_table("nodes", table, mode="overwrite")


def geometry(embedding: Embedding) -> str:
    """Manifold and likelihood as JSON, as in `model.json`; as text if they are the user's own."""
    parts = {"manifold": embedding.model.manifold, "likelihood": embedding.model.likelihood}
    try:
        return json.dumps({name: struct_to_json(part, name) for name, part in parts.items()})
    except ValueError:
        return json.dumps({name: str(part) for name, part in parts.items()})


def _word2vec(embedding: Embedding, file: Path) -> None:
    """A header "nodes coordinates", then a line per node; white space in names becomes underscores."""
    import polars as pl

    words = _names(embedding, "_")
    if len(set(words)) < len(words):
        raise ValueError(
            "word2vec: two names are equal once white space becomes underscores; rename or use another format"
        )
    header = "{} {}\n".format(*embedding.points.shape)
    _lines(_coordinates(embedding).insert_column(0, pl.Series("node", words)), file, " ", header)


def _tensorboard(embedding: Embedding, folder: Path) -> None:
    """A folder with vectors.tsv and metadata.tsv, a line per node; white space in names becomes spaces."""
    import polars as pl

    names = pl.DataFrame({"node": _names(embedding, " ")})
    with (
        contextlib.nullcontext(folder) if folder.exists() else replacing_folder(folder) as place,
        replacing(place / "vectors.tsv") as vectors,
        replacing(place / "metadata.tsv") as metadata,
    ):
        _lines(_coordinates(embedding), vectors, "\t")
        _lines(names, metadata, "\t")


def _names(embedding: Embedding, space: str) -> list[str]:
    """Names with each white-space character replaced."""
    return [re.sub(r"\s", space, str(embedding.name(i))) for i in range(len(embedding.points))]


def _coordinates(embedding: Embedding) -> polars.DataFrame:
    return embedding.to_frame().drop("node", "time")


def _lines(frame: polars.DataFrame, file: Path, separator: str, header: str = "") -> None:
    """Write rows; floats have the fewest digits that restore them exactly."""
    with open(file, "wb") as out:
        out.write(header.encode())
        write_rows(frame, out, header=False, separator=separator, quote_style="never")


def _edges(embedding: Embedding, graph: DiGraph | None, count: int) -> Iterable[tuple]:
    """Source, target and probability of the edges of a graph, or of the `count` likeliest edges."""
    if graph is None:
        return (row[:3] for row in embedding.top_edges(count)) if count else []
    known = aligned(graph, len(embedding.points), embedding.names, "graph")
    ends = [[embedding.name(i) for i in end] for end in (known.sources, known.targets)]
    return zip(*ends, embedding.prob(*ends).tolist() if known.num_edges else [], strict=True)


def _graphml(embedding: Embedding, file: Path, edges: Iterable[tuple]) -> None:
    """Nodes with their coordinates and time, edges with their probability."""

    def attribute(name: Hashable) -> str:
        return quoteattr(NOT_XML.sub("\ufffd", str(name)))

    frame = embedding.to_frame()
    with open(file, "w", encoding="utf-8", newline="\n") as out:
        out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        out.write('<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        for name in frame.columns[1:]:
            out.write(f'<key id="{name}" for="node" attr.name="{name}" attr.type="double"/>\n')
        out.write('<key id="p" for="edge" attr.name="probability" attr.type="double"/>\n')
        out.write('<graph edgedefault="directed">\n')
        for node, *numbers in frame.iter_rows():
            data = zip(frame.columns[1:], numbers, strict=True)
            inside = "".join(f'<data key="{name}">{number!r}</data>' for name, number in data)
            out.write(f"<node id={attribute(node)}>{inside}</node>\n")
        for a, b, p in edges:
            data_p = f'<data key="p">{p!r}</data>'
            out.write(f"<edge source={attribute(a)} target={attribute(b)}>{data_p}</edge>\n")
        out.write("</graph>\n</graphml>\n")


#: Formats that are folders.
FOLDERS = ("lancedb", "tensorboard")

#: The formats: name → writer. `export` calls "graphml" with arguments of its own.
FORMATS: dict[str, Callable[..., None]] = {
    "npz": _npz,
    "npy": _npy,
    "tsv": partial(_separated, separator="\t"),
    "csv": partial(_separated, separator=","),
    "parquet": _parquet,
    "lancedb": _lancedb,
    "word2vec": _word2vec,
    "tensorboard": _tensorboard,
    "graphml": _graphml,
}
