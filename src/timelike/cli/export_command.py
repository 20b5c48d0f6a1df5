"""`timelike export`: the points of a model, for other programs."""

from __future__ import annotations

import dataclasses
from typing import Annotated, get_args

from timelike._util.checks import output_path
from timelike._util.choices import ExportFormat
from timelike.cli.options import File, Json, chosen
from timelike.cli.printing import note, print_json
from timelike.cli.saved_models import Loading, LoadingOptions, ModelFolder

#: File endings that differ from the name of the format.
ENDINGS = {"word2vec": "vec"}

#: What is lost in formats whose readers compare vectors in their own way.
WITHOUT_GEOMETRY = {
    "word2vec": "cosine neighbours are not those of most_similar, and say nothing about edges",
    "tensorboard": "neighbours in the projector are not those of most_similar, and say nothing about edges",
}


@dataclasses.dataclass(frozen=True)
class Export:
    """Write the points of a model for other programs.

    npz, tsv, csv and parquet have one row per node: its name, coordinates (t0 … timelike, x0 … spacelike)
    and time; npy has the coordinates alone. npz, parquet and lancedb keep the geometry too. gensim reads
    word2vec. tensorboard is a folder for the projector. graphml has nodes and training edges with their
    probabilities, for Gephi or Cytoscape.

    Example: timelike export model --format tsv --out points.tsv
    """

    model: ModelFolder

    format: Annotated[ExportFormat | None, chosen(ExportFormat)] = None
    """Format; default: the ending of --out."""

    out: File = None
    """File to write; default: beside the model, as model.tsv, model.vec, …"""

    json: Json = False

    loading: Loading = dataclasses.field(default_factory=LoadingOptions)

    def run(self) -> None:
        """Write the file and print its path."""
        form = self._format()
        folder = self.model if self.model.name not in ("", "..") else self.model.resolve()
        name = f"{folder.name}.{ENDINGS.get(form, form)}"
        out = folder.with_name(name) if self.out is None else self.out
        output_path("--out", out)
        without = "the file has the most likely edges instead" if form == "graphml" else ""
        fitted = self.loading.load(self.model, without)
        fitted.embedding.export(out, form, fitted.graph)
        if form in WITHOUT_GEOMETRY:
            note(f"{form} keeps coordinates without their geometry: {WITHOUT_GEOMETRY[form]}")
        if self.json:
            count = len(fitted.embedding.points)
            print_json({"model": str(self.model), "format": form, "out": str(out), "nodes": count})
        else:
            print(out)

    def _format(self) -> str:
        """The format of --format, or of the ending of --out."""
        if self.format is not None:
            return self.format
        known = {f".{ENDINGS.get(form, form)}": form for form in get_args(ExportFormat)}
        if self.out is None or self.out.suffix.lower() not in known:
            seen = f"--out is {self.out}, whose ending is unknown" if self.out else "--format is missing"
            raise ValueError(f"{seen}; --format must be one of {', '.join(known.values())}")
        return known[self.out.suffix.lower()]
