"""Excel workbooks (`.xlsx`): the rows of a sheet, read like the lines of an edge list."""

from __future__ import annotations

import csv
import datetime
import io
import itertools
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from timelike._util.checks import show
from timelike.io import edge_lists
from timelike.io.byte_streams import File
from timelike.io.columns import Column, Columns
from timelike.io.graph_builder import Builder

#: Refuse workbooks that exceed both this unpacked size and this expansion ratio, as decompression bombs.
UNPACKED, RATIO = 2**26, 200
#: The most rows of a sheet, which Excel fixes, and the most columns that are read.
MOST_ROWS, MOST_COLUMNS = 2**20, 256
#: Rows turned into text at a time.
SOME = 2**14


def collect(
    file: File,
    builder: Builder,
    columns: Columns | None = None,
    header: bool | None = None,
    comment: str | Sequence[str] = edge_lists.COMMENTS,
    time: Column | None = None,
    sheet: str | int | None = None,
) -> None:
    """Add the edges of a sheet, by name or by number from 0 (default: the first)."""
    with _workbook(file) as book:
        names = [one.title for one in book.worksheets]
        number = _number(file.name, names, sheet)
        left = [name for i, name in enumerate(names) if i != number]
        if left and sheet is None:
            builder.remarks.append(f"sheets not read: {show(', '.join(left))[1:-1]}")
        lines: Any = SheetLines(file.name, book.worksheets[number])
        edge_lists.collect(lines, builder, columns, "\t", header, comment, time)


def _number(where: str, names: Sequence[str], sheet: str | int | None) -> int:
    """Return the number of the sheet to read."""
    known = f"the sheets are {show(', '.join(names))[1:-1]}"
    if isinstance(sheet, str):
        if sheet not in names:
            raise ValueError(f"{where}: there is no sheet {sheet!r}; {known}")
        return names.index(sheet)
    number = 0 if sheet is None else sheet
    if not 0 <= number < len(names):
        raise ValueError(f"{where}: sheet is {show(sheet)}; {known}, from 0 on")
    return number


@contextmanager
def _workbook(file: File) -> Iterator[Any]:
    """Open a workbook that is what it claims to be, and not too large."""
    data = io.BytesIO(file.read())
    try:
        with zipfile.ZipFile(data) as parts:
            names, unpacked = parts.namelist(), sum(part.file_size for part in parts.infolist())
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise ValueError(f"{file.name}: the Excel file is damaged: {error}") from None
    if "xl/workbook.xml" not in names:
        raise ValueError(f"{file.name}: this is a zip archive, not an Excel file; extract it first")
    if unpacked > max(UNPACKED, RATIO * data.getbuffer().nbytes):
        raise ValueError(f"{file.name}: it expands over {RATIO}-fold; if you trust it, save it as CSV")
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise ImportError(f"{file.name}: Excel files need openpyxl: pip install 'timelike[io]'") from None
    with _one_line(file.name), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and extensions, which are not read
        book = load_workbook(data, read_only=True, data_only=True, keep_links=False)
    with closing(book):
        yield book


@contextmanager
def _one_line(name: str) -> Iterator[None]:
    """Turn whatever a broken workbook makes openpyxl raise into one line."""
    try:
        yield
    except Exception as error:
        text = " ".join(str(error).split())[:200] or type(error).__name__
        raise ValueError(f"{name}: the Excel file cannot be read: {text}") from None


class SheetLines:
    """A sheet as blocks of tab-separated lines; line n is row n."""

    def __init__(self, name: str, sheet: Any):
        self.name, self._sheet = f"{name}, sheet {show(sheet.title)}", sheet

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """Yield blocks of whole lines with the number of their first line, as a `File` does."""
        self._sheet.reset_dimensions()  # they may claim anything
        rows = self._sheet.iter_rows(max_row=MOST_ROWS, max_col=MOST_COLUMNS + 1, values_only=True)
        line, width = 1, 1
        while True:
            with _one_line(self.name):
                some = [_trimmed(row) for row in itertools.islice(rows, SOME)]
            if not some:
                return
            width = max(width, *map(len, some)) if line == 1 else width
            if max(map(len, some)) > MOST_COLUMNS:
                raise ValueError(f"{self.name}: over {MOST_COLUMNS} columns; save the needed ones as CSV")
            out = io.StringIO()
            writer = csv.writer(out, delimiter="\t", lineterminator="\n")
            for row in some:
                if row:
                    writer.writerow([*row, *[""] * (width - len(row))])
                else:
                    out.write("\n")
            yield line, out.getvalue().encode(errors="replace")
            line += len(some)


def _trimmed(row: Sequence[Any]) -> list[str]:
    """The texts of a row up to the last cell that is not empty."""
    texts = [_text(cell) for cell in row]
    while texts and not texts[-1]:
        texts.pop()
    return texts


def _text(cell: Any) -> str:
    """The text of a cell; an error such as #N/A is an empty cell, and 7.0 is 7."""
    if cell is None or (isinstance(cell, str) and cell in ("#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!")):
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(sep=" ") if cell.time() != datetime.time() else cell.date().isoformat()
    return " ".join(str(cell).split("\n")).replace("\r", " ").replace("\0", "")
