"""`timelike predict`: the most likely edges, or the probabilities of listed pairs."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import tyro

from timelike._util.checks import output_path
from timelike._util.choices import TableFormat
from timelike.cli.options import File, Flag, chosen, optional
from timelike.cli.printing import Take, note, writing
from timelike.cli.reading_options import PairOptions
from timelike.cli.saved_models import Fitted, Loading, LoadingOptions, ModelFolder

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

Node = Annotated[str | None, optional("NODE")]

#: Default of --top, and rows per piece of output.
TOP, ROWS = 10, 1 << 16

#: Scoring more pairs than this takes long: a note says so.
MANY = 10**9


@dataclasses.dataclass(frozen=True)
class Predict:
    """List the most likely missing edges of a node or of the whole graph, or score listed pairs.

    Columns: source, target, probability; for an ensemble also spread, the standard deviation of the
    probability over its members. Edges of training and validation are excluded, except from --pairs. --pairs
    and --each write row by row, so the table may be larger than memory.

    Example: timelike predict model --source lexA --top 5
    """

    model: ModelFolder

    pairs: Annotated[str | None, optional("FILE")] = None
    """Score the pairs in this file, in its order; `-` reads standard input."""

    source: Node = None
    """List the most likely edges out of this node."""

    target: Node = None
    """List the most likely edges into this node."""

    all: Flag = False
    """List the most likely edges among all pairs of nodes."""

    each: Annotated[int | None, optional("K")] = None
    """List the K most likely edges out of every node."""

    similar: Node = None
    """List the nearest nodes, which have nearly the same edges. Columns: node, distance."""

    sources: File = None
    """With --all or --each: only edges out of the nodes in this file, one name per line."""

    targets: File = None
    """With --all: only edges into the nodes in this file, one name per line."""

    top: Annotated[int | None, optional("K")] = None
    """Number of edges, best first; default: 10, with --pairs all in the order of the file."""

    format: Annotated[TableFormat | None, chosen(TableFormat)] = None
    """Format of the table; default: the ending of --out, or tsv."""

    out: File = None
    """File to write; default: standard output."""

    reading: tyro.conf.OmitArgPrefixes[PairOptions] = dataclasses.field(default_factory=PairOptions)

    loading: Loading = dataclasses.field(default_factory=LoadingOptions)

    def run(self) -> None:
        """Predict and write the table."""
        form = self._checked()
        without = "" if self.pairs or self.similar else "predictions may include them"
        fitted = self.loading.load(self.model, without)
        with writing(self.out, form) as take:
            if self.similar is not None:
                rows = fitted.embedding.most_similar(fitted.node(self.similar, "--similar"), self.top or TOP)
                take(_table(rows, ("node", "distance"), _names(fitted).dtype))
                return
            self._predict(fitted, take)
            note(str(fitted.embedding.info.get("calibration", "the probabilities are not calibrated")))

    def _checked(self) -> str:
        """Check the options before any work; return the format of the table."""
        modes: dict[str, Any] = {
            "--pairs": self.pairs,
            "--source": self.source,
            "--target": self.target,
            "--all": self.all,
            "--each": self.each,
            "--similar": self.similar,
        }
        used = [option for option, value in modes.items() if value is not None and value is not False]
        if not used:
            raise ValueError(f"predict needs one of {', '.join(modes)}")
        if len(used) > 1:
            raise ValueError(f"{used[0]} cannot be combined with {used[1]}")
        limits = {"--sources": (self.sources, ("--all", "--each")), "--targets": (self.targets, ("--all",))}
        for option, (file, allowed) in limits.items():
            if file is not None and used[0] not in allowed:
                raise ValueError(
                    f"{option} cannot be combined with {used[0]}; it needs {' or '.join(allowed)}"
                )
        if self.each is not None and self.top is not None:
            raise ValueError("--top cannot be combined with --each")
        for option, count in (("--top", self.top), ("--each", self.each)):
            if count is not None and count < 1:
                raise ValueError(f"{option} is {count}; it must be ≥ 1")
        return self._format()

    def _format(self) -> str:
        if self.out is not None:
            output_path("--out", self.out)
        ending = "tsv" if self.out is None else self.out.suffix.removeprefix(".").lower()
        form = self.format or ending
        if form not in get_args(TableFormat):
            known = ", ".join(get_args(TableFormat))
            raise ValueError(f"--out is {self.out}; its ending must be one of {known}; or add --format")
        if form == "parquet" and self.out is None and sys.stdout.isatty():
            raise ValueError("--format is parquet, which a terminal cannot show; add --out")
        return form

    def _predict(self, fitted: Fitted, take: Take) -> None:
        embedding, known, names = fitted.embedding, fitted.known, _names(fitted)
        top = TOP if self.top is None else self.top
        columns = ["source", "target", "probability", *["spread"] * (embedding.members > 1)]
        if self.pairs is not None:
            self._score(self.pairs, fitted, take, names, columns)
        elif self.each is not None:
            self._predict_each(self.each, fitted, lambda rows: take(_table(rows, columns, names.dtype)))
        elif self.all:
            ends = [_nodes_in(fitted, file) for file in (self.sources, self.targets)]
            pairs = math.prod(len(embedding.points) if end is None else len(end) for end in ends)
            if pairs > MANY:
                note(f"scoring {pairs:.1e} pairs; use --source, --sources or --targets to score fewer")
            edges = embedding.top_edges(top, sources=ends[0], targets=ends[1], exclude=known)
            take(_table(edges, columns, names.dtype))
        else:
            incoming = self.source is None
            text, others = (self.target, "sources") if incoming else (self.source, "targets")
            node = fitted.node(str(text), "--target" if incoming else "--source")
            if node in map(embedding.name, embedding.strangers(known, incoming)):
                note(f"{text} has no known {others}, and training did not learn any for such nodes")
            rank = embedding.top_sources if incoming else embedding.top_targets
            take(_table(rank(node, top, exclude=known), columns, names.dtype))

    def _predict_each(self, count: int, fitted: Fitted, take: Callable[[list[Any]], None]) -> None:
        """Write the most likely edges of every source, in pieces."""
        import numpy as np
        from tqdm import tqdm

        from timelike._util.progress import SHOWN

        embedding, known = fitted.embedding, fitted.known
        sources = _nodes_in(fitted, self.sources)
        if sources is None:
            numbers = np.delete(np.arange(len(embedding.points)), embedding.strangers(known))
            sources = [embedding.name(int(number)) for number in numbers]
        rows: list[Any] = []
        for source in tqdm(sources, "sources", unit="node", **SHOWN):
            rows += embedding.top_targets(source, count, exclude=known)
            if len(rows) >= ROWS:
                take(rows)
                rows = []
        take(rows)

    def _score(self, file: str, fitted: Fitted, take: Take, names: pl.Series, columns: list[str]) -> None:
        """Score the pairs of a file and write them in its order, or the best of them."""
        import numpy as np
        import polars as pl

        from timelike.evaluation.pair_evaluation import score_pairs

        embedding, best = fitted.embedding, None

        def score(pairs: np.ndarray) -> None:
            nonlocal best
            scores = [np.exp(score_pairs(embedding, *pairs.T))]
            scores += [embedding.spread_by_number(*pairs.T)] if embedding.members > 1 else []
            values = [*(names.gather(end) for end in pairs.T), *(x.astype(np.float32) for x in scores)]
            frame = pl.DataFrame(dict(zip(columns, values, strict=True)))
            if self.top is None:
                take(frame)
                return
            frame = frame if best is None else pl.concat([best, frame])
            best = frame.sort("probability", descending=True, maintain_order=True).head(self.top)

        self.reading.each_pairs(file, len(embedding.points), embedding.names, score)
        if best is not None:
            take(best)


def _table(rows: Sequence[Any], columns: Sequence[str], kind: Any) -> pl.DataFrame:
    """Rows as a table, numbers in the precision of the computation.

    `kind` is the type of the columns of nodes: text if their names have several types.
    """
    import polars as pl

    table = {}
    for i, column in enumerate(columns):
        values = [row[i] for row in rows]
        if column not in ("source", "target", "node"):
            table[column] = pl.Series(values, dtype=pl.Float64).cast(pl.Float32)
        elif kind == pl.String:
            table[column] = pl.Series([x if isinstance(x, str) else repr(x) for x in values], dtype=kind)
        else:
            table[column] = pl.Series(values, dtype=kind)
    return pl.DataFrame(table)


def _nodes_in(fitted: Fitted, file: Path | None) -> list[Hashable] | None:
    from timelike.io import names_in

    return None if file is None else fitted.nodes(names_in(file), str(file))


def _names(fitted: Fitted) -> pl.Series:
    """The names of the nodes, by number."""
    import polars as pl

    from timelike.embedding.model_folder import name_columns

    columns = name_columns(fitted.embedding.names)
    return columns[0] if columns else pl.Series(range(len(fitted.embedding.points)))
