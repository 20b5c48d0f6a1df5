"""Comments that look like edges: they are skipped, but never in silence."""

from __future__ import annotations

from timelike._util.checks import show
from timelike.io.columns import named_ends
from timelike.io.line_layout import BLANKS, Layout, fields_or_none


class DoubtfulComments:
    """Counts comments such as `#4⇥recA`, with text right behind the mark and as many fields as an edge."""

    def __init__(self) -> None:
        self.count, self._number, self._line = 0, 0, ""

    def see(self, number: int, line: str, layout: Layout) -> None:
        """Look at a comment, the line of this number."""
        mark, behind = line[:1], line[1:2]
        if mark not in "#%" or not behind.strip(BLANKS + mark):
            return
        row = fields_or_none(line, layout.delimiter) or []
        if len(row) != layout.width or named_ends([word.lstrip("#% ") for word in row]) is not None:
            return
        if not self.count:
            self._number, self._line = number, line
        self.count += 1

    def remarks(self) -> list[str]:
        """A remark on their number and on the first one, if there are any."""
        if not self.count:
            return []
        what = "lines that look like edges" if self.count > 1 else "line that looks like an edge"
        return [
            f"{self.count:,} {what} skipped as comments; the first is line {self._number}, "
            f"{show(self._line)}: quote such names, or set comment to '', to read them"
        ]
