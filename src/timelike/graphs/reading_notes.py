"""A summary of what a reader found and left out, kept with the graph."""

from __future__ import annotations

import dataclasses
import re

#: A plural that may follow a number.
SINGULAR = re.compile(r"\b(row|self-loop|edge|pair|node|term)s\b")


@dataclasses.dataclass(frozen=True)
class ReadSummary:
    """How many edges a source has and why some of them are not in the graph.

    `missing_weights` counts weights that are empty, NaN or infinite. `kept` tells which of several repeated
    edges the graph keeps: the "first" or the "earliest". `remarks` lists anything else worth knowing, such as
    columns that were not read. `transitive` tells that edges imply others: the relations of an ontology.
    """

    source: str
    rows: int
    bad_rows: int = 0
    self_loops: int = 0
    missing_weights: int = 0
    negative_weights: int = 0
    zero_weights: int = 0
    duplicates: int = 0
    remarks: tuple[str, ...] = ()
    kept: str = "first"
    transitive: bool = False

    def lines(self) -> list[str]:
        """One line per finding; an empty list if every row became an edge."""
        counts = {
            "malformed rows skipped": self.bad_rows,
            "self-loops left out": self.self_loops,
            "edges left out because of a weight that is missing, NaN or infinite": self.missing_weights,
            "edges left out because of a negative weight (for signed edges, name two columns only)": (
                self.negative_weights
            ),
            "edges left out because of the weight 0": self.zero_weights,
            f"repeated edges left out (the {self.kept} is kept)": self.duplicates,
        }
        return [counted(count, what) for what, count in counts.items() if count] + list(self.remarks)

    def __str__(self) -> str:
        return "\n".join(
            [f"{self.source}: {counted(self.rows, 'edges read')}", *(f"  {x}" for x in self.lines())]
        )


def counted(count: int, what: str) -> str:
    """A number and its noun: of one, the first plural in `what` is a singular."""
    return f"{count:,} {what}" if count != 1 else "1 " + SINGULAR.sub(r"\1", what, count=1)
