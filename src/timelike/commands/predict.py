"""`timelike predict`: likely edges of a model, or the probabilities of listed ones."""

from __future__ import annotations

import dataclasses
import io
import sys
from collections.abc import Hashable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal, get_args

import tyro

from timelike.checks import output_path
from timelike.commands.models import Fitted, ModelFolder, load
from timelike.commands.options import optional
from timelike.commands.printing import note
from timelike.commands.reading import PairOptions
from timelike.files import replacing, write_rows

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from timelike.embedding import Embedding

Format = Literal["tsv", "csv", "parquet", "json"]
Node = Annotated[str | None, optional("NODE")]

#: Edges that are printed unless --top says otherwise.
TOP = 10


@dataclasses.dataclass(frozen=True)
class Predict:
    """List the likeliest missing edges of a node or of the whole graph, or score listed pairs.

    Columns: source, target, probability, and of a model with several members spread: the standard deviation
    of the probability over them. Edges that the model was trained or validated on are not listed, unless they
    are among --pairs.

    Example: timelike predict model --source lexA --top 5
    """

    model: ModelFolder
    """A model folder, as `timelike fit` writes it."""

    pairs: Annotated[str | None, optional("FILE")] = None
    """Score the pairs of this file (`-`: standard input), in its order."""

    source: Node = None
    """Where do edges out of this node lead?"""

    target: Node = None
    """From where do edges come into this node?"""

    all: bool = False
    """The likeliest edges of all pairs of nodes."""

    sources: Annotated[Path | None, optional("FILE")] = None
    """With --all: only edges that leave the nodes of this file, one name a line."""

    targets: Annotated[Path | None, optional("FILE")] = None
    """With --all: only edges that enter the nodes of this file, one name a line."""

    top: Annotated[int | None, optional("K")] = None
    """How many edges, best first; 10, but with --pairs all, in the order of the file."""

    format: Annotated[Format | None, optional("{tsv,csv,parquet,json}")] = None
    """The form of the table; if not given, the ending of --out, or tsv."""

    out: Annotated[Path | None, optional("FILE")] = None
    """The file to write instead of standard output."""

    reading: tyro.conf.OmitArgPrefixes[PairOptions] = dataclasses.field(default_factory=PairOptions)

    def run(self) -> None:
        """Predict, and write the table."""
        asked = {"--pairs": self.pairs, "--source": self.source, "--target": self.target, "--all": self.all}
        chosen = [option for option, value in asked.items() if value not in (None, False)]
        if len(chosen) != 1:
            given = " and ".join(chosen) or "none"
            raise ValueError(f"one of {', '.join(asked)} must be given; there is {given}")
        if not self.all and (self.sources is not None or self.targets is not None):
            wrong = "--targets" if self.sources is None else "--sources"
            raise ValueError(f"{wrong} goes with --all, not with {chosen[0]}")
        if self.top is not None and self.top < 1:
            raise ValueError(f"--top is {self.top}; it must be ≥ 1")
        form = self._format()
        fitted = load(self.model, "its training edges are among the predictions")
        frame = self._table(fitted)
        note(str(fitted.embedding.info.get("calibration", "the probabilities are not calibrated")))
        if self.out is None:
            _write(frame, form, sys.stdout.buffer)
        else:
            with replacing(self.out) as part, open(part, "wb") as file:
                _write(frame, form, file)

    def _format(self) -> str:
        """What was asked for; better checked before the work than after it."""
        if self.out is not None:
            output_path("--out", self.out)
        ending = "tsv" if self.out is None else self.out.suffix.removeprefix(".").lower()
        form = self.format or ending
        if form not in get_args(Format):
            known = ", ".join(get_args(Format))
            raise ValueError(f"--out is {self.out}; its ending must be one of {known}, or give --format")
        if form == "parquet" and self.out is None and sys.stdout.isatty():
            raise ValueError("--format is parquet, which is not for a terminal; give --out")
        return form

    def _table(self, fitted: Fitted) -> pl.DataFrame:
        import polars as pl

        from timelike.store import name_columns

        embedding, known = fitted.embedding, fitted.known
        top = TOP if self.top is None else self.top
        if self.pairs is not None:
            return self._scored(
                fitted, self.reading.pairs(self.pairs, len(embedding.points), embedding.names)
            )
        if self.source is not None:
            rows = embedding.top_targets(fitted.node(self.source, "--source"), top, known)
        elif self.target is not None:
            rows = embedding.top_sources(fitted.node(self.target, "--target"), top, known)
        else:
            ends = [_nodes_in(fitted, file) for file in (self.sources, self.targets)]
            rows = embedding.top_edges(top, known, *ends)
        columns = {
            name: name_columns([row[i] for row in rows])[0] for i, name in enumerate(("source", "target"))
        }
        numbers = {name: _rounded([row[i] for row in rows]) for i, name in enumerate(_numbers(embedding), 2)}
        return pl.DataFrame({**columns, **numbers})

    def _scored(self, fitted: Fitted, pairs: np.ndarray) -> pl.DataFrame:
        """The pairs in their order, or the best of them."""
        import numpy as np
        import polars as pl

        from timelike.evaluation import score_pairs

        names, embedding = _names(fitted), fitted.embedding
        scores = [np.exp(score_pairs(embedding, *pairs.T))]
        scores += [embedding.spread_by_number(*pairs.T)] if embedding.members > 1 else []
        ends = {"source": names.gather(pairs[:, 0]), "target": names.gather(pairs[:, 1])}
        numbers = dict(zip(_numbers(embedding), map(_rounded, scores), strict=True))
        frame = pl.DataFrame({**ends, **numbers})
        if self.top is None:
            return frame
        return frame.sort("probability", descending=True, maintain_order=True).head(self.top)


def _nodes_in(fitted: Fitted, file: Path | None) -> list[Hashable] | None:
    from timelike.io import names_in

    return None if file is None else [fitted.node(name, str(file)) for name in names_in(file)]


def _names(fitted: Fitted) -> pl.Series:
    """What the nodes are called, by number."""
    import polars as pl

    from timelike.store import name_columns

    columns = name_columns(fitted.embedding.names)
    return columns[0] if columns else pl.Series(range(len(fitted.embedding.points)))


def _numbers(embedding: Embedding) -> list[str]:
    """The columns of a table of predictions after source and target."""
    return ["probability"] if embedding.members == 1 else ["probability", "spread"]


def _rounded(probabilities: Any) -> pl.Series:
    """In the precision that they were computed in."""
    import polars as pl

    return pl.Series(probabilities, dtype=pl.Float64).cast(pl.Float32)


def _write(frame: pl.DataFrame, form: str, file: IO[bytes]) -> None:
    if form == "parquet":
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        file.write(buffer.getvalue())
    elif form == "json":
        file.write(frame.write_json().encode() + b"\n")
    else:
        write_rows(frame, file, separator="," if form == "csv" else "\t")
