"""How the lines of an edge list are laid out: delimiter, header, which columns are read."""

from __future__ import annotations

import csv
import dataclasses
import re
from collections.abc import Sequence

from timelike._util.checks import show
from timelike.io.columns import Column, Columns, named_ends, pick, unread
from timelike.io.edge_times import NUMBER

#: In order of preference; " " stands for any run of blanks and tabs.
DELIMITERS = ("\t", ",", ";", "|", " ")
NAMES = {"\t": "a tab", " ": "blanks"}
BLANKS = " \t"
MISSING = ("", "na", "n/a", "nan", "null", "none")
WHOLE = re.compile(r"-?\d+", re.ASCII)
RETURN = "there is a CR within the line; lines must end in LF or CR LF, as a text editor can save them"
#: Lines that the delimiter and the header are guessed from.
SAMPLE = 100


@dataclasses.dataclass(frozen=True)
class Layout:
    """Positions count from 0; `header` is the line it stands on, 0 if there is none."""

    delimiter: str
    width: int
    source: int
    target: int
    weight: int | None
    time: int | None = None
    header: int = 0
    remarks: tuple[str, ...] = ()

    @property
    def reach(self) -> int:
        """How many fields a row must have."""
        return 1 + max(self.source, self.target, self.weight or 0, self.time or 0)


def fields(line: str, delimiter: str) -> list[str]:
    """The fields of a line; those in double quotes may hold the delimiter. An open quote is a `csv.Error`."""
    if '"' in line:
        if delimiter == " ":
            line = line.strip(BLANKS).replace("\t", " ")
        row = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True))
        return [field.strip(BLANKS) for field in row]
    if delimiter == " ":
        return [field for field in line.replace("\t", " ").split(" ") if field]
    return [field.strip(BLANKS) for field in line.split(delimiter)]


def guess(
    where: str,
    sample: Sequence[tuple[int, str]],
    columns: Columns | None,
    delimiter: str | None,
    header: bool | None,
    time: Column | None = None,
) -> Layout:
    """The layout of a file whose first lines, with their numbers, are these."""
    if "\r" in sample[0][1]:
        raise ValueError(f"{where}, line {sample[0][0]}: {RETURN}")
    if delimiter is None:
        delimiter = _likely_delimiter(where, sample)
    elif len(delimiter) != 1 or delimiter in '"\r\n':
        raise ValueError(f"delimiter is {delimiter!r}; it must be one character, blank for runs of blanks")
    rows = [row for _, line in sample if (row := _fields_or_none(line, delimiter))]
    first = _fields_or_none(sample[0][1], delimiter) or [""]
    named = any(isinstance(column, str) for column in (*(columns or ()), time))
    has_header = (named or _is_header(first, rows[1:])) if header is None else header
    words = first if has_header else None
    width = len(first)
    if columns is None and width < 2:
        kind = NAMES.get(delimiter, repr(delimiter))
        raise ValueError(
            f"{where}, line {sample[0][0]}: one field where two or more were expected, with {kind} as "
            f"delimiter; the text is {show(sample[0][1])}"
        )
    used = pick(where, words, width, columns, time)
    remarks = [f"line {sample[0][0]} read as a header: {show(', '.join(first))[1:-1]}"] if has_header else []
    if remark := unread(words, width, used):
        remarks.append(remark)
    if columns is None and (remark := _kind_of_edge(rows[has_header:])):
        remarks.append(remark)
    line = sample[0][0] if has_header else 0
    return Layout(delimiter, width, *used, line, tuple(remarks))


def _kind_of_edge(rows: Sequence[Sequence[str]]) -> str:
    """A remark where lines look like `source kind target`, as those of Cytoscape (SIF) are."""
    first, middle, last = ({row[i] for row in rows if len(row) == 3} for i in range(3))
    few = 1 <= len(middle) <= max(1, len(rows) // 10) and not middle & (first | last)
    if not few or len(last) < 3 * len(middle) or any(NUMBER.fullmatch(text) for text in last):
        return ""
    words = " or ".join(show(word) for word in sorted(middle))
    return f"the first lines all have the target {words}; if that is the kind of edge, say columns 0,2"


def _likely_delimiter(where: str, sample: Sequence[tuple[int, str]]) -> str:
    """The delimiter that splits most lines into the same number of fields, two or more."""
    best, found = 0, ""
    for delimiter in DELIMITERS:
        counts = [len(_fields_or_none(line, delimiter) or ()) for _, line in sample]
        wide = [count for count in counts if count > 1]
        agree = max((wide.count(count) for count in set(wide)), default=0)
        if agree > best:
            best, found = agree, delimiter
    if not found:
        raise ValueError(
            f"{where}, line {sample[0][0]}: no tab, comma, semicolon, bar or blank divides the line; "
            f"the text is {show(sample[0][1])}"
        )
    return found


def _fields_or_none(line: str, delimiter: str) -> list[str] | None:
    try:
        return fields(line, delimiter)
    except csv.Error:
        return None


def _is_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether it names a source and a target, or stands over columns of numbers without holding any.

    Such are the first two together, of whole numbers, or any one after them, of scores, say.
    """
    if named_ends(first) is not None:
        return True
    whole = [all(WHOLE.fullmatch(x) for x in row[:2]) for row in rows]
    if whole and all(whole) and not any(WHOLE.fullmatch(x) for x in first[:2]):
        return True
    full = [row for row in rows if len(row) == len(first)]
    if not full or any(NUMBER.fullmatch(x) for x in first):
        return False
    later = [i for i in range(2, len(first)) if first[i].lower() not in MISSING]
    return any(_is_numbers([row[i] for row in full if row[i].lower() not in MISSING]) for i in later)


def _is_numbers(texts: Sequence[str]) -> bool:
    return bool(texts) and all(NUMBER.fullmatch(text) for text in texts)
