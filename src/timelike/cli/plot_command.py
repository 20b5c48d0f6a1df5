"""`timelike plot`: a picture of a model."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import tyro

from timelike._util.checks import output_path
from timelike._util.choices import PictureKind
from timelike.cli.options import Json, optional
from timelike.cli.printing import print_json
from timelike.cli.saved_models import Loading, LoadingOptions, ModelFolder


@dataclasses.dataclass(frozen=True)
class Plot:
    """Draw a model: nodes as events, time upwards, training edges coloured by probability.

    Example: timelike plot model --out picture.png
    """

    model: ModelFolder

    out: Annotated[Path, tyro.conf.arg(metavar="FILE")]
    """Picture to write; its ending is the format: .png, .svg, .pdf, or .html for an interactive one."""

    kind: PictureKind = "auto"
    """Kind of picture; auto picks one that suits the geometry."""

    nodes: Annotated[tuple[str, ...], optional("NODE …")] = ()
    """Nodes whose light cones or landscape to draw; default: the node with the most edges."""

    json: Json = False

    loading: Loading = dataclasses.field(default_factory=LoadingOptions)

    def run(self) -> None:
        """Draw the picture and print its path."""
        from timelike import plot

        output_path("--out", self.out, plot.ENDINGS)
        fitted = self.loading.load(self.model, "the most likely edges are drawn instead")
        nodes = fitted.nodes(self.nodes, "--nodes")
        plot.save(fitted.embedding, self.out, fitted.graph, self.kind, nodes=nodes or None)
        if self.json:
            print_json({"model": str(self.model), "kind": self.kind, "out": str(self.out)})
        else:
            print(self.out)
