"""`timelike plot`: a picture of a model."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import tyro

from timelike._util.checks import output_path
from timelike._util.choices import PictureKind
from timelike.cli.options import optional
from timelike.cli.printing import print_json
from timelike.cli.saved_models import ModelFolder, load

ENDINGS = (".png", ".svg", ".pdf", ".html")


@dataclasses.dataclass(frozen=True)
class Plot:
    """Draw a model: nodes as events, time up, training edges coloured by their probability.

    Example: timelike plot model --out picture.png
    """

    model: ModelFolder
    """A model folder, as `timelike fit` writes it."""

    out: Annotated[Path, tyro.conf.arg(metavar="FILE")]
    """The picture; its ending is the format: .png, .svg, .pdf, or .html to explore in a browser."""

    kind: PictureKind = "auto"
    """What to draw; auto is what suits the geometry."""

    nodes: Annotated[tuple[str, ...], optional("NODE …")] = ()
    """Nodes whose light cones (or landscape) to draw; if none are given, the one with most edges."""

    json: bool = False
    """Print the result as JSON."""

    def run(self) -> None:
        """Draw, and say where the picture is."""
        from timelike import plot

        output_path("--out", self.out, ENDINGS)
        fitted = load(self.model, "the likeliest edges are drawn instead")
        nodes = fitted.nodes(self.nodes, "--nodes")
        graph = None if fitted.trained_on is None else fitted.trained_on.graph
        plot.save(fitted.embedding, self.out, graph, self.kind, nodes=nodes or None)
        if self.json:
            print_json({"model": str(self.model), "kind": self.kind, "out": str(self.out)})
        else:
            print(self.out)
