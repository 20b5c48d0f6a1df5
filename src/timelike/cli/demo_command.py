"""`timelike demo`: a graph with cycles in a spacetime and in Euclidean space."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from timelike._util.atomic_files import replacing
from timelike._util.checks import output_path
from timelike._version import __version__
from timelike.cli.printing import print_json

#: Endings of picture files, and so their formats.
PICTURES = (".png", ".pdf", ".svg")


@dataclasses.dataclass(frozen=True)
class Demo:
    """Embed a small graph with cycles in a spacetime and in Euclidean space, and compare.

    Example: timelike demo --out demo.png
    """

    out: Path = Path("demo.png")
    """The picture to write; its ending (.png, .pdf, .svg) is the format."""

    seeds: int = 5
    """How many random starts."""

    json: bool = False
    """Print the result as JSON."""

    def run(self) -> None:
        """Train both models, write the picture and print their scores."""
        from statistics import median

        from timelike.cli.demonstration import RANDOM, demonstrate, picture

        output_path("--out", self.out, PICTURES)
        if self.seeds < 1:
            raise ValueError(f"--seeds is {self.seeds}; it must be ≥ 1")
        result = demonstrate(self.seeds)
        with replacing(self.out) as part:
            picture(result).savefig(part, dpi=160)
        scores = {name: round(median(values), 4) for name, values in result.scores().items()}
        if self.json:
            graph = {"nodes": result.graph.num_nodes, "edges": result.graph.num_edges}
            found = {"average_precision": scores, "random": RANDOM, "seeds": self.seeds, "graph": graph}
            print_json({"version": __version__, **found, "picture": str(self.out)})
            return
        print(f"Duplication-divergence graph with cycles: {result.graph}")
        print(f"Average precision on held-out edges (median of {self.seeds} seeds; guessing: {RANDOM}):")
        for name, score in scores.items():
            print(f"  {name:<30}{score:.3f}")
        print(f"Picture: {self.out}")
