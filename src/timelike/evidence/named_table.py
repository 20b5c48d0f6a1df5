"""Tables with names on both sides, such as genes and samples, from files and other libraries' objects."""

from __future__ import annotations

import dataclasses
import gzip
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike._util.checks import show
from timelike.io.untrusted_parquet import read_table

if TYPE_CHECKING:
    import polars as pl
    from scipy.sparse import csr_array

#: Texts that stand for a missing value.
MISSING = ("", "NA", "N/A", "na", "n/a", "nan", "NaN", "null", "None", "none", "?")

#: Delimiters of text tables, in order of preference.
DELIMITERS = ("\t", ",", ";", "|")

#: What Polars appends to the name of a column that repeats.
RENAMED = re.compile(r"_duplicated_\d+$")

#: Names shown in messages.
SHOWN = 3


@dataclasses.dataclass(frozen=True, eq=False)
class NamedTable:
    """Numbers with a name for each row and each column; NaN for missing ones. `values` may be sparse."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: np.ndarray | csr_array
    source: str

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.rows), len(self.columns)):
            shape = f"({len(self.rows)}, {len(self.columns)})"
            raise ValueError(f"{self.source}: the values have shape {self.values.shape}, the names {shape}")
        if len(set(self.rows)) < len(self.rows) and len(set(self.columns)) < len(self.columns):
            raise ValueError(f"{self.source}: both rows and columns have names that repeat")

    @property
    def turned(self) -> NamedTable:
        """Rows as columns and columns as rows."""
        values = self.values.T.tocsr() if hasattr(self.values, "tocsr") else self.values.T
        return NamedTable(self.columns, self.rows, values, self.source)

    def named_like(self, names: Sequence[str]) -> NamedTable:
        """The table turned so that its rows are the side with more of these names, ignoring case.

        A `ValueError` if neither side has any.
        """
        wanted = {name.casefold() for name in names}
        across, down = (sum(x.casefold() in wanted for x in side) for side in (self.columns, self.rows))
        if not across and not down:
            raise ValueError(
                f"{self.source}: none of its names is a node; its rows are {some(self.rows)}, its columns "
                f"{some(self.columns)}, the nodes {some(names)}"
            )
        return self.turned if across > down else self

    @classmethod
    def of(cls, table: Any, source: str = "") -> NamedTable:
        """A file, an AnnData object, or a data frame; the first column, or the index, names the rows."""
        if isinstance(table, NamedTable):
            return table
        if isinstance(table, str | os.PathLike):
            return cls._read(Path(table))
        if hasattr(table, "obs_names") and hasattr(table, "var_names"):
            return cls.from_anndata(table, source=source or "the AnnData object")
        if hasattr(table, "columns") and hasattr(table, "index"):  # pandas
            names = tuple(str(x) for x in table.index)
            columns = tuple(str(x) for x in table.columns)
            return cls(names, columns, _numbers(table.to_numpy()), source or "the data frame")
        if hasattr(table, "get_columns"):  # polars
            return cls._of_frame(table, source or "the data frame")
        raise TypeError(
            f"{source or 'table'} is {show(table)}; it must be a file, an AnnData or a data frame"
        )

    @classmethod
    def from_anndata(
        cls, data: Any, layer: str | None = None, source: str = "the AnnData object"
    ) -> NamedTable:
        """`X`, or a layer, of an AnnData object: observations × variables; a sparse matrix stays sparse."""
        x = data.X if layer is None else data.layers[layer]
        rows, columns = ([str(name) for name in names] for names in (data.obs_names, data.var_names))
        if hasattr(x, "tocsr"):
            from scipy.sparse import csr_array

            return cls(tuple(rows), tuple(columns), csr_array(x).astype(np.float32), source)
        return cls(tuple(rows), tuple(columns), np.asarray(x, np.float32), source)

    @classmethod
    def _read(cls, path: Path) -> NamedTable:
        if not path.is_file():
            raise FileNotFoundError(f"{path}: no such file")
        if path.suffix.lower() == ".h5ad":
            try:
                from anndata import read_h5ad
            except ImportError:
                raise ImportError(
                    f"{path}: reading AnnData files needs anndata; install timelike[expression]"
                ) from None
            return cls.from_anndata(read_h5ad(path), source=str(path))
        return cls._of_frame(frame_of(path), str(path))

    @classmethod
    def _of_frame(cls, frame: pl.DataFrame, source: str) -> NamedTable:
        """The first column names the rows; all others hold numbers."""
        import polars as pl

        if frame.width < 2 or not frame.height:
            raise ValueError(
                f"{source}: {frame.height} rows and {frame.width} columns; "
                "the first column must hold names, the others numbers"
            )
        names = frame.to_series(0).cast(pl.String).fill_null("")
        values = np.empty((frame.height, frame.width - 1), np.float32)
        for i, column in enumerate(frame.get_columns()[1:]):
            values[:, i] = as_numbers(column, source)
        return cls(tuple(names.to_list()), _as_written(frame.columns[1:]), values, source)


def frame_of(path: Path) -> pl.DataFrame:
    """A table in a Parquet file, or in a text file with a header, possibly gzipped; texts stay texts.

    Lines that begin with # are left out before the header; the last one is it if it has as many columns.
    """
    import polars as pl

    if path.suffix.lower() in (".parquet", ".pq"):
        try:
            return read_table(path)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    try:
        with gzip.open(path, "rt", encoding="utf-8") if packed else open(path, encoding="utf-8") as text:
            header, before = _header(text)
        delimiter = max(DELIMITERS, key=header.count)
        if not header.count(delimiter):
            raise ValueError(
                f"{path}: no tab, comma, semicolon or bar divides the first line, {show(header)}"
            )
        return pl.read_csv(
            path, separator=delimiter, infer_schema=False, null_values=list(MISSING), skip_rows=before
        )
    except UnicodeDecodeError:
        raise ValueError(f"{path}: this is not UTF-8 text") from None
    except (pl.exceptions.PolarsError, EOFError, OSError) as error:
        raise ValueError(f"{path}: not readable as a table ({' '.join(str(error).split())[:150]})") from None


def _as_written(columns: Sequence[str]) -> tuple[str, ...]:
    """Names of columns without what the reader of text files appends to those that repeat."""
    known = {*columns}
    bare = [RENAMED.sub("", name) for name in columns]
    return tuple(short if short in known else name for short, name in zip(bare, columns, strict=True))


def some(names: Sequence[Any]) -> str:
    """The first names, for messages."""
    return ", ".join(map(str, names[:SHOWN])) + ", …" * (len(names) > SHOWN)


def _header(lines: Iterator[str]) -> tuple[str, int]:
    """The line that names the columns, and the number of comments before it."""
    line, last, before = next(lines, ""), "", 0
    while line.startswith("#"):
        last, line, before = line, next(lines, ""), before + 1
    if any(last.count(x) == line.count(x) > 0 for x in DELIMITERS):
        return last, before - 1  # names such as "#source"
    return line, before


def as_numbers(column: pl.Series, source: str) -> np.ndarray:
    """A column as numbers, NaN where missing; the error names the first text that is none."""
    import polars as pl

    found = column.cast(pl.Float32, strict=False)
    if (lost := found.is_null() & column.is_not_null()).any():
        row = int(lost.arg_true()[0])
        raise ValueError(
            f"{source}, row {row + 1}, column {column.name}: {show(column[row])} is not a number"
        )
    return found.fill_null(float("nan")).to_numpy()


def _numbers(values: Any) -> np.ndarray:
    try:
        return np.asarray(values, np.float32)
    except (TypeError, ValueError):
        raise ValueError("the data frame has columns that do not hold numbers; drop them") from None


def text_names(names: Sequence[Any] | None, count: int) -> list[str]:
    """The names of nodes as texts; numbers if they have none."""
    return [str(name) for name in (range(count) if names is None else names)]
