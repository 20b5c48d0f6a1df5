"""`timelike predict`: the most likely edges, or the probabilities of listed pairs."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, get_args

import tyro

from timelike._util.checks import output_path
from timelike._util.choices import TableFormat
from timelike.cli.answer_tables import labelling, name_column, table_of
from timelike.cli.label_columns import label_columns
from timelike.cli.options import File, Flag, Json, chosen, optional
from timelike.cli.predicted_edges import PredictedEdges
from timelike.cli.printing import Take, note, print_json, writing
from timelike.cli.reading_options import PairOptions
from timelike.cli.relatives_table import QUESTIONS, Asked, relatives
from timelike.cli.saved_models import Fitted, Loading, LoadingOptions, ModelFolder

Node = Annotated[str | None, optional("NODE")]

#: Default of --top.
TOP = 10


@dataclasses.dataclass(frozen=True)
class Predict:
    """List the most likely missing edges of a node or of the whole graph, or score listed pairs.

    Columns: source, target, probability, and spread, the standard deviation of the probability over the
    members of the model. A model that is geometry alone has one member, and then no spread, unless it was
    fitted with more. Edges of training and validation are excluded, except from --pairs. --pairs and --each
    write row by row, so the table may be larger than memory. If nodes have labels, as in ontologies, the last
    columns hold them; a label may stand for its node. A model that was fitted with --sign or --type adds the
    likeliest sign or type after the probability, and how likely it is if the edge exists.

    In a hierarchy, --ancestors, --descendants and --common read the light cones of the geometry. Columns:
    node, probability, steps (1: parent or child), time (the depth between them), and known: whether edges of
    training and validation lead there. Which end of an edge is the parent is found from the graph.

    Example: timelike predict model --source lexA --top 5

    Example: timelike predict wordnet --common dog.n.01 cat.n.01
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

    ancestors: Node = None
    """List the nodes between this node and the root, nearest first: those whose light cones hold it."""

    descendants: Node = None
    """List the nodes in the light cone of this node, nearest first."""

    common: Annotated[tuple[str, ...], optional("A B")] = ()
    """List the lowest common ancestors of two nodes."""

    threshold: Annotated[float | None, optional("P")] = None
    """With these three: list nodes with at least this probability; default: all in the light cone."""

    sources: File = None
    """With --all or --each: only edges out of the nodes in this file, one name per line."""

    targets: File = None
    """With --all: only edges into the nodes in this file, one name per line."""

    top: Annotated[int | None, optional("K")] = None
    """Number of rows, best first; default: 10, with --pairs, --ancestors and --common all."""

    format: Annotated[TableFormat | None, chosen(TableFormat)] = None
    """Format of the table; default: the ending of --out, or tsv."""

    ratio: Annotated[float | None, optional("R")] = None
    """Probabilities for R non-edges per edge; default: 15 % of all edges are missing from the graph."""

    why: Flag = False
    """With --all, --source or --target: add columns with what each kind of evidence adds to the log-odds."""

    json: Json = False

    out: File = None
    """File to write; default: standard output."""

    reading: tyro.conf.OmitArgPrefixes[PairOptions] = dataclasses.field(default_factory=PairOptions)

    loading: Loading = dataclasses.field(default_factory=LoadingOptions)

    def run(self) -> None:
        """Predict and write the table."""
        form = self._checked()
        kin = self._kin()
        without = "" if self.pairs or self.similar or kin else "predictions may include them"
        fitted = self.loading.load(self.model, without)
        fitted = self._at_ratio(fitted._replace(joint=None) if kin else fitted)
        with self._writing(fitted, form) as take:
            if self.similar is not None:
                near = fitted.embedding.most_similar(fitted.node(self.similar, "--similar"), self.top or TOP)
                take(table_of(near, ("node", "distance"), name_column(fitted).dtype))
                return
            if kin is not None:
                columns, rows, notes = relatives(fitted, kin)
                take(table_of(rows, columns, name_column(fitted).dtype))
                note(*notes, fitted.calibration or "the probabilities are not calibrated")
                return
            self._predict(fitted, take)
        note(fitted.calibration or "the probabilities are not calibrated")

    def _checked(self) -> str:
        """Check the options before any work; return the format of the table."""
        modes: dict[str, Any] = {
            "--pairs": self.pairs,
            "--source": self.source,
            "--target": self.target,
            "--all": self.all,
            "--each": self.each,
            "--similar": self.similar,
            "--ancestors": self.ancestors,
            "--descendants": self.descendants,
            "--common": self.common or None,
        }
        used = [option for option, value in modes.items() if value is not None and value is not False]
        if not used:
            raise ValueError(f"predict needs one of {', '.join(modes)}")
        if len(used) > 1:
            raise ValueError(f"{used[0]} cannot be combined with {used[1]}")
        limits: dict[str, tuple[Any, Sequence[str]]] = {
            "--sources": (self.sources, ("--all", "--each")),
            "--targets": (self.targets, ("--all",)),
            "--threshold": (self.threshold, QUESTIONS),
            "--why": (self.why or None, ("--all", "--source", "--target")),
        }
        for option, (value, allowed) in limits.items():
            if value is not None and used[0] not in allowed:
                raise ValueError(
                    f"{option} cannot be combined with {used[0]}; it needs {' or '.join(allowed)}"
                )
        if self.common and len(self.common) != 2:
            raise ValueError(f"--common has {len(self.common)} nodes; it must be two: --common A B")
        if self.each is not None and self.top is not None:
            raise ValueError("--top cannot be combined with --each")
        for option, count in (("--top", self.top), ("--each", self.each)):
            if count is not None and count < 1:
                raise ValueError(f"{option} is {count}; it must be ≥ 1")
        return self._format()

    def _kin(self) -> Asked | None:
        """What is asked of the hierarchy, if anything."""
        asked = (("--ancestors", self.ancestors), ("--descendants", self.descendants))
        if self.common:
            return Asked("--common", self.common, self.top, self.threshold)
        return next((Asked(name, [x], self.top, self.threshold) for name, x in asked if x is not None), None)

    def _at_ratio(self, fitted: Fitted) -> Fitted:
        """The model with probabilities for --ratio, and --why only where it can be answered."""
        if self.why and fitted.joint is None:
            alone = fitted.embedding.info.get("evidence", "geometry alone")
            raise ValueError(f"--why needs a model with evidence, and this one is {alone}")
        if self.ratio is None:
            return fitted
        if not self.ratio > 0:
            raise ValueError(f"--ratio is {self.ratio:g}; it must be > 0")
        if fitted.joint is not None:
            return fitted._replace(joint=fitted.joint.at_ratio(self.ratio))
        calibration = fitted.embedding.calibration
        if calibration is None:
            raise ValueError("--ratio needs calibrated probabilities; this model has none")
        calibration = calibration.at_ratio(self.ratio)
        info = {**fitted.embedding.info, "calibration": str(calibration)}
        embedding = dataclasses.replace(fitted.embedding, calibration=calibration, info=info)
        return fitted._replace(embedding=embedding)

    @contextmanager
    def _writing(self, fitted: Fitted, form: str) -> Iterator[Take]:
        """Write the table, or with --json one object with its rows and what they mean."""
        if not self.json:
            with writing(self.out, form) as take:
                yield label_columns(fitted, labelling(fitted, take))
            return
        import polars as pl

        pieces: list[pl.DataFrame] = []
        yield label_columns(fitted, labelling(fitted, pieces.append))
        numbers = pl.selectors.float().cast(pl.Float64).round_sig_figs(6)
        rows = pl.concat(pieces).with_columns(numbers).to_dicts() if pieces else []
        of_nodes = self.similar is not None or self._kin() is not None
        result: dict[str, Any] = {"nodes" if of_nodes else "edges": rows}
        if self.all and fitted.joint is not None:
            result["precision_at_k"] = fitted.joint.precision_at(max(len(rows), 1))
        print_json({**result, "calibration": fitted.calibration})

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
        """Write the table of edges that the options ask for."""
        answers = PredictedEdges(fitted, take, self.why, self.reading.missing == "skip")
        top = TOP if self.top is None else self.top
        if self.pairs is not None:
            answers.score(self.pairs, self.reading, self.top)
        elif self.each is not None:
            answers.best_of_each(self.each, self.sources)
        elif self.all:
            answers.best(top, self.sources, self.targets)
        elif self.source is not None:
            answers.best_of_node(self.source, top, incoming=False)
        else:
            answers.best_of_node(str(self.target), top, incoming=True)
