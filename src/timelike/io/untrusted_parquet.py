"""Parquet files from strangers: what they say of themselves is checked before polars believes it.

polars gives each page of a column as much memory as its header asks for, and ends the process where there
is no such memory. So all headers are read here first: a few dozen bytes for each page of the file.
A file is pages, a footer and its length; headers and footer are in the compact encoding of Thrift.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from timelike._util.atomic_files import quiet

if TYPE_CHECKING:
    import polars

MAGIC = b"PAR1"
#: A file with more values in a column than this has at most so many per byte.
MANY_VALUES, VALUES_PER_BYTE = 2**22, 32
#: What unpacks to more than this many bytes, and to so many times its size, is there to fill the memory.
UNPACKED, RATIO = 2**25, 200
#: Bytes in which the header of a page is looked for first, and at last.
HEADER, LONGEST_HEADER = 2**10, 2**24
#: Structs and lists within each other; the format has fewer.
DEEPEST = 20
#: Fields by their numbers: of the footer, of a part of a column, of the header of a page.
ROWS, GROUPS, COLUMNS, COLUMN, GROUP_ROWS = 3, 4, 1, 3, 3
VALUES, PACKED, DATA, DICTIONARY = 5, 7, 9, 11
PAGE_UNPACKED, PAGE_PACKED, PAGE_KINDS = 2, 3, {5: "data", 7: "dictionary", 8: "data"}


def read_table(file: Path) -> polars.DataFrame:
    """A whole table; a file that is none is an error of one line."""
    import polars as pl

    try:
        check_pages(file)
        with quiet():
            return pl.read_parquet(file, glob=False)
    except (ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise ValueError(f"not readable as Parquet ({error})") from None


def check_pages(source: Path | bytes) -> list[int]:
    """Refuse a file whose headers cannot be true, or that is there to fill the memory.

    Returns how many rows its groups of rows are said to have.
    """
    with open(source, "rb") if isinstance(source, Path) else io.BytesIO(source) as file:
        size = file.seek(0, os.SEEK_END)
        try:
            footer = _footer(file, size)
            _check_values(footer.get(ROWS, 0), "rows", size)
            unpacked = sum(
                _check_column(file, size, column[COLUMN])
                for group in footer[GROUPS]
                for column in group[COLUMNS]
            )
            groups = [group[GROUP_ROWS] for group in footer[GROUPS]]
            if min(groups, default=0) < 0 or sum(groups) != footer.get(ROWS, 0):
                raise ValueError(f"{footer.get(ROWS, 0):,} rows, but {sum(groups):,} in its groups of rows")
        except (IndexError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"its headers are broken: {error!r}") from None
    if unpacked > max(UNPACKED, RATIO * size):
        raise ValueError(f"its {size:,} bytes unpack to over {RATIO} times as many")
    return groups


def _footer(file: IO[bytes], size: int) -> dict[int, Any]:
    file.seek(max(0, size - 8))
    end = file.read(8)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != MAGIC or length > size - 12:
        raise ValueError("its end is missing")
    file.seek(size - 8 - length)
    return Thrift(file.read(length)).struct()


def _check_values(count: int, what: str, size: int) -> None:
    if count < 0:
        raise ValueError(f"{count} {what}")
    if count > MANY_VALUES + VALUES_PER_BYTE * size:
        raise ValueError(f"{count:,} {what} in {size:,} bytes are more than any table packs")


def _check_column(file: IO[bytes], size: int, column: dict[int, Any]) -> int:
    """How many bytes a part of a column unpacks to."""
    values = column[VALUES]
    _check_values(values, "values of a column", size)
    found = unpacked = 0
    for kind, count, large in _pages(file, size, column):
        most = values - found if kind == "data" else large
        if not 0 <= count <= most:
            raise ValueError(f"a page of {count:,} values")
        found += count if kind == "data" else 0
        unpacked += large
    return unpacked


def _pages(file: IO[bytes], size: int, column: dict[int, Any]) -> Iterator[tuple[str, int, int]]:
    """Kind, number of values and unpacked size of all pages of a part of a column."""
    at = column.get(DICTIONARY) or column[DATA]
    end = min(at + column[PACKED], size)
    while 0 <= at < end:
        header, length = _header(file, at, end - at)
        packed, unpacked = header[PAGE_PACKED], header[PAGE_UNPACKED]
        if packed < 0 or unpacked < 0:
            raise ValueError(f"a page of {min(packed, unpacked):,} bytes")
        for field, kind in PAGE_KINDS.items():
            if field in header:
                yield kind, header[field][1], unpacked
        at += length + packed


def _header(file: IO[bytes], at: int, left: int) -> tuple[dict[int, Any], int]:
    size = HEADER
    while True:
        file.seek(at)
        thrift = Thrift(file.read(min(size, left)))
        try:
            return thrift.struct(), thrift.at
        except IndexError:  # it is longer
            if size >= min(left, LONGEST_HEADER):
                raise
            size *= 16


class Thrift:
    """Bytes in the compact encoding: structs become dicts by the numbers of their fields."""

    def __init__(self, data: bytes):
        self.data, self.at, self.depth = data, 0, 0

    def struct(self) -> dict[int, Any]:
        """Fields until a zero."""
        found: dict[int, Any] = {}
        number = 0
        with self._deeper():
            while head := self._byte():
                number = number + (head >> 4) if head >> 4 else self._whole()
                found[number] = head & 15 == 1 if head & 15 < 3 else self._value(head & 15)
        return found

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ValueError("headers within headers")
        yield
        self.depth -= 1

    def _value(self, kind: int) -> Any:
        if kind in (1, 2, 3):  # in a list a truth value is a byte
            return self._byte()
        if kind in (4, 5, 6):
            return self._whole()
        if kind == 7:
            return self._bytes(8)
        if kind == 8:
            return self._bytes(self._varint())
        if kind in (9, 10):
            head = self._byte()
            return self._several([head & 15], head >> 4 if head >> 4 < 15 else self._varint())
        if kind == 11:
            count = self._varint()
            kinds = self._byte() if count else 0
            return self._several([kinds >> 4, kinds & 15], count)
        if kind == 12:
            return self.struct()
        raise ValueError(f"a field of kind {kind}")

    def _several(self, kinds: list[int], count: int) -> list[Any]:
        if count > len(self.data) - self.at:
            raise IndexError("a list is longer than the file")
        with self._deeper():
            return [self._value(kind) for _ in range(count) for kind in kinds]

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _bytes(self, count: int) -> bytes:
        self.at += count
        if self.at > len(self.data):
            raise IndexError("a text is longer than the file")
        return self.data[self.at - count : self.at]

    def _varint(self) -> int:
        """Seven bits to a byte, the lowest first."""
        value = shift = 0
        while shift < 70:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        raise ValueError("a number without an end")

    def _whole(self) -> int:
        """0, −1, 1, −2, … for 0, 1, 2, 3, …"""
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
