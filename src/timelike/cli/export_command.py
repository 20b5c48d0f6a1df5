"""`timelike export`: the points of a model for other programs."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, get_args

from timelike._util.checks import output_path
from timelike._util.choices import ExportFormat
from timelike.cli.options import optional
from timelike.cli.printing import print_json
from timelike.cli.saved_models import ModelFolder, load

#: What is added to the name of the model where that is not the format.
ENDINGS = {"word2vec": "vec"}


@dataclasses.dataclass(frozen=True)
class Export:
    """Write the points of a model for other programs.

    npz, tsv and parquet hold a row per node: its name, its coordinates (t0 … timelike, x0 …
    spacelike) and its time. word2vec is read by gensim, tensorboard is a folder for the projector,
    graphml holds nodes and training edges with their probabilities for Gephi or Cytoscape.

    Example: timelike export model --format tsv --out points.tsv
    """

    model: ModelFolder
    """A model folder, as `timelike fit` writes it."""

    format: Annotated[ExportFormat | None, optional(f"{{{','.join(get_args(ExportFormat))}}}")] = None
    """What to write; if not given, what the ending of --out says."""

    out: Annotated[Path | None, optional("FILE")] = None
    """Where; beside the model if not given: model.tsv, model.vec, …"""

    json: bool = False
    """Print the result as JSON."""

    def run(self) -> None:
        """Write, and say where."""
        form = self._format()
        folder = self.model if self.model.name not in ("", "..") else self.model.resolve()
        name = f"{folder.name}.{ENDINGS.get(form, form)}"
        out = folder.with_name(name) if self.out is None else self.out
        output_path("--out", out)
        fitted = load(self.model, "it holds the likeliest edges" if form == "graphml" else "")
        graph = None if fitted.trained_on is None else fitted.trained_on.graph
        fitted.embedding.export(out, form, graph)
        if self.json:
            count = len(fitted.embedding.points)
            print_json({"model": str(self.model), "format": form, "out": str(out), "nodes": count})
        else:
            print(out)

    def _format(self) -> str:
        """What is asked for, or what the ending of the file stands for."""
        if self.format is not None:
            return self.format
        known = {f".{ENDINGS.get(form, form)}": form for form in get_args(ExportFormat)}
        if self.out is None or self.out.suffix.lower() not in known:
            forms = ", ".join(get_args(ExportFormat))
            given = "there is none" if self.out is None else f"the ending of {self.out.name} is none of them"
            raise ValueError(f"--format must be one of {forms}; {given}")
        return known[self.out.suffix.lower()]
