"""Check the headers of untrusted Parquet files before polars believes them.

polars allocates as much memory for each page of a column as the page header asks for, and aborts the process
if it cannot. So all headers are read here first: a few dozen bytes per page. A file consists of pages, a
footer and the footer's length; headers and footer use Thrift's compact encoding.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import polars as pl

from timelike._util.atomic_files import quiet

MAGIC = b"PAR1"
#: What broken files raise, here and in polars.
UNREADABLE = (ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
#: A column may have `MANY_VALUES` values plus `VALUES_PER_BYTE` for each byte of the file.
MANY_VALUES, VALUES_PER_BYTE = 2**22, 32
#: Refuse files that exceed both this unpacked size and this expansion ratio: they are decompression bombs.
UNPACKED, RATIO = 2**25, 200
#: Bytes in which a page header is sought at first, and at most.
HEADER, LONGEST_HEADER = 2**10, 2**24
#: Limit on the nesting of structs and lists; the format needs less.
DEEPEST = 20
#: Thrift field numbers: of the footer, of a column chunk and of a page header.
SCHEMA, ROWS, GROUPS, COLUMNS, COLUMN, GROUP_ROWS = 2, 3, 4, 1, 3, 3
VALUES, PACKED, DATA, DICTIONARY = 5, 7, 9, 11
PAGE_UNPACKED, PAGE_PACKED, PAGE_KINDS = 2, 3, {5: "data", 7: "dictionary", 8: "data"}


def read_table(file: Path) -> pl.DataFrame:
    """Read a whole table; an unreadable file is a one-line `ValueError`."""
    try:
        check_pages(file)
        with quiet():
            return pl.read_parquet(file, glob=False)
    except UNREADABLE as error:
        raise ValueError(f"not readable as Parquet ({error})") from None


def check_pages(source: Path | bytes, most_columns: int | None = None) -> list[int]:
    """Reject a file whose headers cannot be true, or that would fill the memory, or has too many columns.

    Returns the number of rows in each row group, according to the footer.
    """
    with open(source, "rb") if isinstance(source, Path) else io.BytesIO(source) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 8))
        end = file.read(8)
        length = int.from_bytes(end[:4], "little")
        if end[4:] != MAGIC or length > size - 12:
            raise ValueError("its end is missing")
        file.seek(size - 8 - length)
        try:
            footer = Thrift(file.read(length), most_columns).struct()
            rows = footer.get(ROWS, 0)
            _check_values(rows, "rows", size)
            unpacked = sum(
                _check_column(file, size, column[COLUMN])
                for group in footer[GROUPS]
                for column in group[COLUMNS]
            )
            groups = [group[GROUP_ROWS] for group in footer[GROUPS]]
            if min(groups, default=0) < 0 or sum(groups) != rows:
                raise ValueError(f"{rows:,} rows, but {sum(groups):,} in its row groups")
        except (IndexError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"its headers are broken: {error!r}") from None
    if unpacked > max(UNPACKED, RATIO * size):
        raise ValueError(f"its {size:,} bytes decompress to over {RATIO} times as many")
    return groups


def _check_values(count: int, what: str, size: int) -> None:
    if not 0 <= count <= MANY_VALUES + VALUES_PER_BYTE * size:
        raise ValueError(f"{count:,} {what} cannot fit in {size:,} bytes")


def _check_column(file: IO[bytes], size: int, column: dict[int, Any]) -> int:
    """Return the unpacked size of a column chunk in bytes."""
    values = column[VALUES]
    _check_values(values, "values of a column", size)
    seen = total = 0
    for kind, count, unpacked in _pages(file, size, column):
        if not 0 <= count <= (values - seen if kind == "data" else unpacked):
            raise ValueError(f"a page of {count:,} values")
        seen += count if kind == "data" else 0
        total += unpacked
    return total


def _pages(file: IO[bytes], size: int, column: dict[int, Any]) -> Iterator[tuple[str, int, int]]:
    """Yield the kind, number of values and unpacked size of each page of a column chunk."""
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
        except IndexError:  # the header is longer
            if size >= min(left, LONGEST_HEADER):
                raise
            size *= 16


class Thrift:
    """A reader of the compact encoding: structs become dicts from field numbers to values.

    Parquet uses no maps.
    """

    def __init__(self, data: bytes, most_columns: int | None = None):
        self.data, self.at, self.most_columns = data, 0, most_columns

    def struct(self, depth: int = 1) -> dict[int, Any]:
        """Read fields up to a zero byte."""
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._whole()
            kind = head & 15
            most = self.most_columns if (depth, number) == (1, SCHEMA) else None
            fields[number] = kind == 1 if kind < 3 else self._value(kind, depth, most)
        return fields

    def _value(self, kind: int, depth: int, most: int | None = None) -> Any:
        if kind in (1, 2, 3):  # in a list, a Boolean is a byte
            return self._byte()
        if kind in (4, 5, 6):
            return self._whole()
        if kind in (7, 8):
            count = 8 if kind == 7 else self._varint()
            self.at += count
            if self.at > len(self.data):
                raise IndexError("a string is longer than the file")
            return self.data[self.at - count : self.at]
        if depth >= DEEPEST:
            raise ValueError("its headers are nested too deep")
        if kind in (9, 10):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._varint()
            if count > len(self.data) - self.at:
                raise IndexError("a list is longer than the file")
            if most is not None and count > most + 1:  # the first is the table itself
                raise ValueError(f"over {most:,} columns; a table of edges has a source and a target")
            return [self._value(head & 15, depth + 1) for _ in range(count)]
        if kind == 12:
            return self.struct(depth + 1)
        raise ValueError(f"a field of kind {kind}")

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _varint(self) -> int:
        """Read seven bits per byte, lowest first."""
        value = shift = 0
        while shift < 70:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        raise ValueError("a number without an end")

    def _whole(self) -> int:
        """Undo the zigzag encoding: 0, 1, 2, 3, … stand for 0, −1, 1, −2, …"""
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
