"""Columns that say whether an edge activates or represses: signs are neither nodes nor weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from timelike._util.checks import show

#: Word, in lower case → what it says of an edge: 1 activates, −1 represses, 0 both or unknown.
SIGNS = {
    **dict.fromkeys(
        ("+", "1", "+1", "1.0", "activator", "activation", "activates", "positive", "stimulation", "up"), 1
    ),
    **dict.fromkeys(
        ("-", "−", "-1", "-1.0", "repressor", "repression", "represses", "negative", "inhibitor"), -1
    ),
    **dict.fromkeys(("inhibition", "inhibits", "down"), -1),
    **dict.fromkeys(("+-", "-+", "+/-", "-/+", "±", "?", "0", "dual", "unknown", "both", "unspecified"), 0),
}
#: Words that may as well be numbers: a name, a weight or a score.
NUMBERS = {word for word in SIGNS if any(x.isdecimal() for x in word)}


def is_sign(values: Iterable[object]) -> bool:
    """Whether a column holds signs only, in words or as 1 and −1; a column of 0 and 1 may be anything."""
    words = {str(value).strip().lower() for value in values if value is not None} - {""}
    if not words or not words <= SIGNS.keys():
        return False
    return not words <= NUMBERS or any(SIGNS[word] < 0 for word in words)


def sign_between(rows: Sequence[Sequence[object]]) -> bool:
    """Whether all rows are like `lexA + recA` or `lexA 1 recA`, with a sign between the ends."""
    if not rows or any(len(row) < 3 for row in rows) or not is_sign(row[1] for row in rows):
        return False
    first, middle, last = ({str(row[i]).strip().lower() for row in rows} for i in range(3))
    if middle & (first | last):
        return False
    return not middle <= NUMBERS or not all(_is_number(word) for word in last)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def remark(column: object, values: Iterable[object]) -> str:
    """What is said of a column of signs."""
    words = sorted({str(value).strip() for value in values if value is not None} - {""})
    return (
        f"column {show(column)} holds signs ({show(', '.join(words))[1:-1]}), which are neither nodes nor "
        "weights: edges of all signs are read alike; `timelike fit --sign` predicts signs too"
    )
