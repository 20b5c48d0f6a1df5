"""`timelike predict`: likely edges of a model, or the probabilities of listed ones."""

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
from timelike.cli.options import chosen, optional
from timelike.cli.printing import note
from timelike.cli.reading_options import PairOptions
from timelike.cli.saved_models import Fitted, ModelFolder, load
from timelike.cli.table_output import Take, writing

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from timelike.embedding.embedding import Embedding

Node = Annotated[str | None, optional("NODE")]

#: Edges that are printed unless --top says otherwise, and rows that are written at once.
TOP, ROWS = 10, 1 << 16

#: So many pairs take long to score, and what they are is worth a word.
MANY = 10**9


@dataclasses.dataclass(frozen=True)
class Predict:
    """List the likeliest missing edges of a node or of the whole graph, or score listed pairs.

    Columns: source, target, probability, and of a model with several members spread: the standard deviation
    of the probability over them. Edges that the model was trained or validated on are not listed, unless they
    are among --pairs. What --pairs and --each find is written as it is found, more than memory holds too.

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

    each: Annotated[int | None, optional("K")] = None
    """The K likeliest edges out of every node, node by node."""

    similar: Node = None
    """Which nodes lie nearest to this one, with nearly the same edges? Columns: node, distance."""

    sources: Annotated[Path | None, optional("FILE")] = None
    """With --all or --each: only edges that leave the nodes of this file, one name a line."""

    targets: Annotated[Path | None, optional("FILE")] = None
    """With --all: only edges that enter the nodes of this file, one name a line."""

    top: Annotated[int | None, optional("K")] = None
    """How many edges, best first; 10, but with --pairs all, in the order of the file."""

    format: Annotated[TableFormat | None, chosen(TableFormat)] = None
    """The form of the table; if not given, the ending of --out, or tsv."""

    out: Annotated[Path | None, optional("FILE")] = None
    """The file to write instead of standard output."""

    reading: tyro.conf.OmitArgPrefixes[PairOptions] = dataclasses.field(default_factory=PairOptions)

    def run(self) -> None:
        """Predict, and write the table."""
        form = self._checked()
        unlisted = "" if self.pairs or self.similar else "its training edges are among the predictions"
        fitted = load(self.model, unlisted)
        with writing(self.out, form) as take:
            if self.similar is not None:
                take(_nearest(fitted, fitted.node(self.similar, "--similar"), self.top or TOP))
                return
            self._predict(fitted, take)
            note(str(fitted.embedding.info.get("calibration", "the probabilities are not calibrated")))

    def _checked(self) -> str:
        """The form of the table; what is asked for is better checked before the work than after it."""
        asked: dict[str, Any] = {
            "--pairs": self.pairs,
            "--source": self.source,
            "--target": self.target,
            "--all": self.all,
            "--each": self.each,
            "--similar": self.similar,
        }
        chosen = [option for option, value in asked.items() if value is not None and value is not False]
        if len(chosen) != 1:
            given = " and ".join(chosen) or "none"
            raise ValueError(f"one of {', '.join(asked)} must be given; there is {given}")
        limits = {"--sources": (self.sources, ("--all", "--each")), "--targets": (self.targets, ("--all",))}
        for option, (file, modes) in limits.items():
            if file is not None and chosen[0] not in modes:
                raise ValueError(f"{option} goes with {' or '.join(modes)}, not with {chosen[0]}")
        if self.each is not None and self.top is not None:
            raise ValueError("--top and --each exclude each other; leave one out")
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
            raise ValueError(f"--out is {self.out}; its ending must be one of {known}, or give --format")
        if form == "parquet" and self.out is None and sys.stdout.isatty():
            raise ValueError("--format is parquet, which is not for a terminal; give --out")
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
                note(f"{self.source} has no edge to another node; what such nodes point to was not learned")
            take(_table(fitted, kind, embedding.top_targets(source, top, exclude=known)))
        elif self.target is not None:
            target = fitted.node(self.target, "--target")
            if target in map(embedding.name, embedding.strangers(known, incoming=True)):
                note(f"{self.target} has no edge from another node; what points to such was not learned")
            take(_table(fitted, kind, embedding.top_sources(target, top, exclude=known)))
        else:
            ends = [_nodes_in(fitted, file) for file in (self.sources, self.targets)]
            pairs = math.prod(len(embedding.points) if end is None else len(end) for end in ends)
            if pairs > MANY:
                note(f"{pairs:.1e} pairs are scored; --source, or --sources and --targets ask about fewer")
            take(
                _table(
                    fitted, kind, embedding.top_edges(top, sources=ends[0], targets=ends[1], exclude=known)
                )
            )

    def _predict_each(self, count: int, fitted: Fitted, take: Take, kind: Any) -> None:
        """The likeliest of every source, in pieces."""
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
        """The pairs in their order, as they are read; or the best of them."""
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
    """Predictions by the names of their nodes, in columns of the kind that all names have."""
    import polars as pl

    ends = {name: _column([row[i] for row in rows], kind) for i, name in enumerate(("source", "target"))}
    numbers = enumerate(_numbers(fitted.embedding), 2)
    scores = {name: _rounded([row[i] for row in rows]) for i, name in numbers}
    return pl.DataFrame({**ends, **scores})


def _nearest(fitted: Fitted, node: Hashable, count: int) -> pl.DataFrame:
    """The nodes nearest to this one, and how far away they are."""
    import polars as pl

    rows = fitted.embedding.most_similar(node, count)
    names = _column([row.node for row in rows], _names(fitted).dtype)
    return pl.DataFrame({"node": names, "distance": _rounded([row.distance for row in rows])})


def _column(names: Sequence[Hashable], kind: Any) -> pl.Series:
    """Names of nodes in a column of the kind that all have: text, if they are of several."""
    import polars as pl

    texts = [x if isinstance(x, str) else repr(x) for x in names] if kind == pl.String else names
    return pl.Series(texts, dtype=kind)


def _nodes_in(fitted: Fitted, file: Path | None) -> list[Hashable] | None:
    from timelike.io import names_in

    return None if file is None else fitted.nodes(names_in(file), str(file))


def _names(fitted: Fitted) -> pl.Series:
    """What the nodes are called, by number."""
    import polars as pl

    from timelike.embedding.model_folder import name_columns

    columns = name_columns(fitted.embedding.names)
    return columns[0] if columns else pl.Series(range(len(fitted.embedding.points)))


def _numbers(embedding: Embedding) -> list[str]:
    """The columns of a table of predictions after source and target."""
    return ["probability"] if embedding.members == 1 else ["probability", "spread"]


def _rounded(numbers: Any) -> pl.Series:
    """In the precision that they were computed in."""
    import polars as pl

    return pl.Series(numbers, dtype=pl.Float64).cast(pl.Float32)
