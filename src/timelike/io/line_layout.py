"""The layout of an edge list: delimiter, header and the columns to read."""

from __future__ import annotations

import csv
import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property

from timelike._util.checks import show
from timelike.io.columns import Column, Columns, Places, named_ends, pick, unread, without_signs
from timelike.io.edge_times import NUMBER
from timelike.io.sign_columns import SIGNS, sign_between

#: In order of preference; " " stands for any run of blanks and tabs.
DELIMITERS = ("\t", ",", ";", "|", " ")
NAMES = {"\t": "tab", " ": "blanks"}
BLANKS = " \t"
MISSING = ("", "na", "n/a", "nan", "null", "none")
WHOLE = re.compile(r"-?\d+", re.ASCII)
RETURN = "there is a CR within the line; save the file with line ends LF or CR LF"
#: Number of lines used to guess the delimiter and the header.
SAMPLE = 100
#: An edge list has fewer fields per line; a wider table is probably a matrix.
MOST_FIELDS = 10_000


@dataclasses.dataclass(frozen=True)
class Layout:
    """Column numbers count from 0; `header` is the header's line number, 0 if there is no header."""

    delimiter: str
    width: int
    places: Places
    header: int = 0
    remarks: tuple[str, ...] = ()

    @cached_property
    def reach(self) -> int:
        """The number of fields that a row must have."""
        return 1 + max(place or 0 for place in self.places)


def fields(line: str, delimiter: str) -> list[str]:
    """Split a line; quoted fields may contain the delimiter. An open quote is a `csv.Error`."""
    if '"' in line:
        if delimiter == " ":
            line = line.strip(BLANKS).replace("\t", " ")
        row = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True))
        return [field.strip(BLANKS) for field in row]
    if delimiter == " ":
        return [field for field in line.replace("\t", " ").split(" ") if field]
    return [field.strip(BLANKS) for field in line.split(delimiter)]


def too_wide(line: bytes, delimiters: Iterable[str] = DELIMITERS) -> str:
    """What is wrong with a line that has more than `MOST_FIELDS` fields; "" if it has not."""
    if len(line) <= MOST_FIELDS or all(line.count(x.encode()) < MOST_FIELDS for x in delimiters):
        return ""
    return f"over {MOST_FIELDS:,} fields; an edge list has a source and a target per line"


def named(delimiter: str) -> str:
    """Name a delimiter in an error message."""
    return f"(delimiter: {NAMES.get(delimiter, repr(delimiter))})"


def guess(
    where: str,
    sample: Sequence[tuple[int, str]],
    columns: Columns | None,
    delimiter: str | None,
    header: bool | None,
    time: Column | None = None,
) -> Layout:
    """Guess the layout of a file from its first lines, given with their numbers."""
    number, line = sample[0]
    if "\r" in line:
        raise ValueError(f"{where}, line {number}: {RETURN}")
    if delimiter is None:
        delimiter = max(DELIMITERS, key=lambda x: _agreement(sample, x))
        if not _agreement(sample, delimiter):
            raise ValueError(
                f"{where}, line {number}: no tab, comma, semicolon, bar or blank divides the line; "
                f"the text is {show(line)}"
            )
    elif len(delimiter) != 1 or delimiter in '"\r\n':
        raise ValueError(f"delimiter is {delimiter!r}; it must be one character, a blank for runs of blanks")
    rows = [row for _, text in sample if (row := fields_or_none(text, delimiter))]
    first = fields_or_none(line, delimiter) or [""]
    by_name = any(isinstance(column, str) for column in (*(columns or ()), time))
    has_header = (by_name or _is_header(first, rows[1:])) if header is None else header
    words = first if has_header else None
    width = len(first)
    if columns is None and not (words and named_ends(words)) and sign_between(rows[1:] or rows):
        has_header |= header is None and first[1].lower() not in SIGNS  # else the first line is an edge too
        words, columns = first if has_header else None, (0, 2)
    if columns is None and width < 2:
        raise ValueError(
            f"{where}, line {number}: 1 field, but at least 2 are needed {named(delimiter)}; "
            f"the text is {show(line)}"
        )
    used, signs, said_of_signs = without_signs(
        where, pick(where, words, width, columns, time), words, rows[has_header:], width
    )
    plain = first[:2] == ["source", "target"]  # as our own files begin: nothing to remark
    said = f"line {number} read as a header: {show(', '.join(first))[1:-1]}"
    remarks = [said] if has_header and not plain else []
    remarks += said_of_signs + unread(words, width, (*used, *signs))
    remarks += _relation_hint(rows[has_header:]) if columns is None and used[:2] == (0, 1) else []
    return Layout(delimiter, width, used, number if has_header else 0, tuple(remarks))


def _relation_hint(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a remark if lines look like `source relation target`, as in Cytoscape's SIF."""
    first, middle, last = ({row[i] for row in rows if len(row) == 3} for i in range(3))
    few = 1 <= len(middle) <= max(1, len(rows) // 10) and not middle & (first | last)
    if not few or len(last) < 3 * len(middle) or any(NUMBER.fullmatch(text) for text in last):
        return []
    words = " or ".join(show(word) for word in sorted(middle))
    return [f"the target is {words} in all of the first lines; if that is a relation, use columns 0,2"]


def _agreement(sample: Sequence[tuple[int, str]], delimiter: str) -> int:
    """Return how many lines the delimiter splits into the same number of fields, two or more."""
    widths = Counter(len(fields_or_none(line, delimiter) or ()) for _, line in sample)
    return max((count for width, count in widths.items() if width > 1), default=0)


def fields_or_none(line: str, delimiter: str) -> list[str] | None:
    """Split a line; None if a quote is open."""
    try:
        return fields(line, delimiter)
    except csv.Error:
        return None


def _is_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the line names a source and a target, or is text above columns of numbers.

    Those are the first two columns, both of whole numbers, or any later column of numbers.
    """
    if named_ends(first) is not None:
        return True
    whole = [all(WHOLE.fullmatch(x) for x in row[:2]) for row in rows]
    if whole and all(whole) and not any(WHOLE.fullmatch(x) for x in first[:2]):
        return True
    if any(NUMBER.fullmatch(x) for x in first):
        return False
    full = [row for row in rows if len(row) == len(first)]
    later = [i for i in range(2, len(first)) if first[i].lower() not in MISSING]
    columns = ([row[i] for row in full if row[i].lower() not in MISSING] for i in later)
    return any(column and all(NUMBER.fullmatch(x) for x in column) for column in columns)
