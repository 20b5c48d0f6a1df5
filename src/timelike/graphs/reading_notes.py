"""What a reader found: counted, kept with the graph, and printed one line per finding."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class ReadSummary:
    """How many edges a source held and why some of them are not in the graph.

    `missing_weights` were empty, not a number or infinite. `remarks` are other things to know, such
    as which columns were not read. Of repeated edges the first is `kept`, or the earliest.
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

    def lines(self) -> list[str]:
        """One line per finding; none if every row became an edge."""
        found = {
            "malformed rows skipped": self.bad_rows,
            "self-loops left out": self.self_loops,
            "edges left out because their weight is missing, NaN or infinite": self.missing_weights,
            "edges left out because their weight is negative (if it is a sign, name two columns only)": (
                self.negative_weights
            ),
            "edges left out because their weight is 0": self.zero_weights,
            f"repeated edges left out (the {self.kept} is kept)": self.duplicates,
        }
        return [f"{count:,} {what}" for what, count in found.items() if count] + list(self.remarks)

    def __str__(self) -> str:
        return "\n".join([f"{self.source}: {self.rows:,} edges read", *(f"  {x}" for x in self.lines())])
