"""A summary of what a reader found and left out, kept with the graph."""

from __future__ import annotations

import dataclasses


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
        signs = "for a negative weight (for signed edges, name two columns only)"
        counts = [
            (self.bad_rows, "malformed row", "skipped"),
            (self.self_loops, "self-loop", "left out"),
            (self.missing_weights, "edge", "left out for a missing, NaN or infinite weight"),
            (self.negative_weights, "edge", f"left out {signs}"),
            (self.zero_weights, "edge", "left out for a weight of 0"),
            (self.duplicates, "repeated edge", f"left out (the {self.kept} is kept)"),
        ]
        found = [f"{n:,} {what}{'s' * (n != 1)} {why}" for n, what, why in counts if n]
        return [*found, *self.remarks]

    def __str__(self) -> str:
        return "\n".join([f"{self.source}: {self.rows:,} edges read", *(f"  {x}" for x in self.lines())])
