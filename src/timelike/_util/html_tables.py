"""Results as tables of HTML, which notebooks show instead of their text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, TypeVar

#: A named tuple.
Row = TypeVar("Row", bound=Any)


def html_table(rows: Iterable[Sequence[Any]], header: Sequence[str] = (), note: str = "") -> str:
    """A table whose first column names the rows; floats have three digits, None is a dash."""
    head = f"<thead><tr>{''.join(f'<th>{escape(one)}</th>' for one in header)}</tr></thead>" if header else ""
    body = "".join(f"<tr><th>{_cell(first)}</th>{''.join(map(_data, rest))}</tr>" for first, *rest in rows)
    foot = f"<p>{escape(note)}</p>" if note else ""
    return f"<table>{head}<tbody>{body}</tbody></table>{foot}"


def _data(value: Any) -> str:
    return f"<td>{_cell(value)}</td>"


def _cell(value: Any) -> str:
    if value is None or value != value:
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else escape(str(value))


class Rows(list[Row]):
    """A list of named tuples, which notebooks show as a table."""

    def _repr_html_(self) -> str:
        return html_table(self, self[0]._fields) if self else "<p>none</p>"
