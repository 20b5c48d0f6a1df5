"""`timelike predict`: the most likely edges, or the probabilities of listed pairs."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import tyro

from timelike._util.checks import output_path
from timelike._util.choices import TableFormat
from timelike.cli.options import File, Flag, chosen, optional
from timelike.cli.printing import note
from timelike.cli.reading_options import PairOptions
from timelike.cli.saved_models import Fitted, Loading, LoadingOptions, ModelFolder
from timelike.cli.table_output import Take, writing

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from timelike.embedding.embedding import Embedding

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
                take(_nearest(fitted, fitted.node(self.similar, "--similar"), self.top or TOP))
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
        embedding, known, kind = fitted.embedding, fitted.known, _names(fitted).dtype
        top = TOP if self.top is None else self.top
        if self.pairs is not None:
            self._score(self.pairs, fitted, take)
        elif self.each is not None:
            self._predict_each(self.each, fitted, take, kind)
        elif self.source is not None:
            source = fitted.node(self.source, "--source")
            if source in map(embedding.name, embedding.strangers(known)):
                note(f"{self.source} has no known targets, and training did not learn any for such nodes")
            take(_table(fitted, kind, embedding.top_targets(source, top, exclude=known)))
        elif self.target is not None:
            target = fitted.node(self.target, "--target")
            if target in map(embedding.name, embedding.strangers(known, incoming=True)):
                note(f"{self.target} has no known sources, and training did not learn any for such nodes")
            take(_table(fitted, kind, embedding.top_sources(target, top, exclude=known)))
        else:
            ends = [_nodes_in(fitted, file) for file in (self.sources, self.targets)]
            pairs = math.prod(len(embedding.points) if end is None else len(end) for end in ends)
            if pairs > MANY:
                note(f"scoring {pairs:.1e} pairs; use --source, --sources or --targets to score fewer")
            edges = embedding.top_edges(top, sources=ends[0], targets=ends[1], exclude=known)
            take(_table(fitted, kind, edges))

    def _predict_each(self, count: int, fitted: Fitted, take: Take, kind: Any) -> None:
        """Write the most likely edges of every source, in pieces."""
        import numpy as np
        from tqdm import tqdm

        from timelike._util.progress import SHOWN

        embedding, known = fitted.embedding, fitted.known
        listed = _nodes_in(fitted, self.sources)
        numbers = np.delete(np.arange(len(embedding.points)), embedding.strangers(known))
        sources: Iterable[Hashable] = map(embedding.name, map(int, numbers)) if listed is None else listed
        total = len(numbers if listed is None else listed)
        rows: list[Any] = []
        for source in tqdm(sources, "sources", total, unit="node", **SHOWN):
            rows += embedding.top_targets(source, count, exclude=known)
            if len(rows) >= ROWS:
                take(_table(fitted, kind, rows))
                rows = []
        take(_table(fitted, kind, rows))

    def _score(self, file: str, fitted: Fitted, take: Take) -> None:
        """Score the pairs of a file and write them in its order, or the best of them."""
        import numpy as np
        import polars as pl

        from timelike.evaluation.pair_evaluation import score_pairs

        embedding, names, best = fitted.embedding, _names(fitted), None

        def score(pairs: np.ndarray) -> None:
            nonlocal best
            scores = [np.exp(score_pairs(embedding, *pairs.T))]
            scores += [embedding.spread_by_number(*pairs.T)] if embedding.members > 1 else []
            ends = {"source": names.gather(pairs[:, 0]), "target": names.gather(pairs[:, 1])}
            numbers = dict(zip(_numbers(embedding), map(_rounded, scores), strict=True))
            frame = pl.DataFrame({**ends, **numbers})
            if self.top is None:
                take(frame)
                return
            frame = frame if best is None else pl.concat([best, frame])
            best = frame.sort("probability", descending=True, maintain_order=True).head(self.top)

        self.reading.each_pairs(file, len(embedding.points), embedding.names, score)
        if best is not None:
            take(best)


def _table(fitted: Fitted, kind: Any, rows: Sequence[Any]) -> pl.DataFrame:
    """A table of predictions with node names; `kind` is the column type of the names."""
    import polars as pl

    ends = {name: _column([row[i] for row in rows], kind) for i, name in enumerate(("source", "target"))}
    numbers = enumerate(_numbers(fitted.embedding), 2)
    scores = {name: _rounded([row[i] for row in rows]) for i, name in numbers}
    return pl.DataFrame({**ends, **scores})


def _nearest(fitted: Fitted, node: Hashable, count: int) -> pl.DataFrame:
    """The nodes nearest to this one, with their distances."""
    import polars as pl

    rows = fitted.embedding.most_similar(node, count)
    names = _column([row.node for row in rows], _names(fitted).dtype)
    return pl.DataFrame({"node": names, "distance": _rounded([row.distance for row in rows])})


def _column(names: Sequence[Hashable], kind: Any) -> pl.Series:
    """Node names as a column of type `kind`: text if the names have several types."""
    import polars as pl

    texts = [x if isinstance(x, str) else repr(x) for x in names] if kind == pl.String else names
    return pl.Series(texts, dtype=kind)


def _nodes_in(fitted: Fitted, file: Path | None) -> list[Hashable] | None:
    from timelike.io import names_in

    return None if file is None else fitted.nodes(names_in(file), str(file))


def _names(fitted: Fitted) -> pl.Series:
    """The names of the nodes, by number."""
    import polars as pl

    from timelike.embedding.model_folder import name_columns

    columns = name_columns(fitted.embedding.names)
    return columns[0] if columns else pl.Series(range(len(fitted.embedding.points)))


def _numbers(embedding: Embedding) -> list[str]:
    """The columns of a table of predictions after source and target."""
    return ["probability"] if embedding.members == 1 else ["probability", "spread"]


def _rounded(numbers: Any) -> pl.Series:
    """Numbers in the precision of the computation."""
    import polars as pl

    return pl.Series(numbers, dtype=pl.Float64).cast(pl.Float32)
