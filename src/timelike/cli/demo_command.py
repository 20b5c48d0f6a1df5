"""`timelike demo`: a graph with cycles in a spacetime and in Euclidean space."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from statistics import median

import timelike as tl
from timelike._util.checks import output_path, whole_number
from timelike.cli.options import Json
from timelike.cli.printing import print_json

#: Average precision of a random ranking: there are four negatives per held-out edge.
RANDOM = 0.2


@dataclasses.dataclass(frozen=True)
class Demo:
    """Embed a small graph with cycles in a spacetime and in Euclidean space, and compare the two.

    Example: timelike demo --out demo.png
    """

    out: Path = Path("demo.png")
    """Picture of the spacetime to write; its ending (.png, .pdf, .svg) is the format."""

    seeds: int = 5
    """Number of random starts."""

    json: Json = False

    def run(self) -> None:
        """Train both models with the paper's settings in d = 10, draw the spacetime and print the scores.

        The test takes 15 % of the edges, validation 10 % of the rest and chooses the epoch.
        """
        output_path("--out", self.out, (".png", ".pdf", ".svg"))
        whole_number("--seeds", self.seeds, 1)
        from timelike.likelihoods import FermiDirac, TripleFermiDirac
        from timelike.manifolds import CylindricalMinkowski, Euclidean

        spacetime = tl.Model(CylindricalMinkowski(10, 10.0), TripleFermiDirac(0.4, 0.07, 0.09))
        models = {
            "cylindrical Minkowski + TFD": spacetime,
            "Euclidean + FD": tl.Model(Euclidean(10), FermiDirac(0.4)),
        }
        graph = tl.datasets.duplication_divergence(seed=17)
        split, config, scores = tl.split_edges(graph, valid=0.085, test=0.15), tl.Config(epochs=120), {}
        for name, model in models.items():
            runs = tl.sweep(split.train, model, config, seeds=self.seeds, valid=split.valid, test=split.test)
            scores[name] = round(median(row["test_ap"] for row in runs.rows), 4)
            if model is spacetime:
                tl.plot.save(runs.best, self.out, split.train)
        if self.json:
            facts = {"nodes": graph.num_nodes, "edges": graph.num_edges}
            summary = {"average_precision": scores, "random": RANDOM, "seeds": self.seeds, "graph": facts}
            print_json({"version": tl.__version__, **summary, "picture": str(self.out)})
            return
        print(f"Duplication-divergence graph with cycles: {graph}")
        print(f"Average precision on held-out edges, median of {self.seeds} seeds:")
        for name, score in {**scores, "a random ranking": RANDOM}.items():
            print(f"  {name:<30}{score:.3f}")
        print(f"Picture: {self.out}")
