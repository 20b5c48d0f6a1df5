"""Edges as `timelike predict` lists them: the best of all, of one node, of each node, or pairs of a file."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from timelike.cli.answer_tables import DIGITS, name_column, nodes_in, table_of
from timelike.cli.printing import Take, note
from timelike.cli.reading_options import PairOptions
from timelike.cli.saved_models import Fitted

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

#: Scoring more pairs than this takes long: a note says so.
MANY = 10**9


@dataclasses.dataclass(frozen=True)
class PredictedEdges:
    """Answers of a model, handed to `take` as tables.

    `why` adds what each kind of evidence says; `skip_missing` leaves out unknown names in files of nodes.
    """

    fitted: Fitted
    take: Take
    why: bool = False
    skip_missing: bool = False

    @cached_property
    def names(self) -> pl.Series:
        """The names of the nodes, by number."""
        return name_column(self.fitted)

    @property
    def columns(self) -> list[str]:
        """The columns of every table."""
        return ["source", "target", "probability", *["spread"] * (self.fitted.answers.members > 1)]

    def best(self, top: int, sources: Path | None, targets: Path | None) -> None:
        """The most likely missing edges, between the nodes in two files if they are given."""
        fitted = self.fitted
        ends = [nodes_in(fitted, file, self.skip_missing) for file in (sources, targets)]
        pairs = math.prod(len(fitted.embedding.points) if end is None else len(end) for end in ends)
        if pairs > MANY:
            note(f"scoring {pairs:.1e} pairs; use --source, --sources or --targets to score fewer")
        edges = fitted.answers.top_edges(top, sources=ends[0], targets=ends[1], exclude=fitted.known)
        self._take_best(edges)
        if fitted.joint is not None and ends == [None, None] and edges:
            note(_precision(fitted.joint.precision_at(len(edges)), [edge[2] for edge in edges]))

    def best_of_node(self, text: str, top: int, *, incoming: bool) -> None:
        """The most likely edges out of a node, or into it."""
        fitted = self.fitted
        node = fitted.node(text, "--target" if incoming else "--source")
        strangers = fitted.embedding.strangers(fitted.known, incoming)
        if node in map(fitted.embedding.name, strangers):
            others = "sources" if incoming else "targets"
            note(f"{text} has no known {others}, and training did not learn any for such nodes")
        rank = fitted.answers.top_sources if incoming else fitted.answers.top_targets
        self._take_best(rank(node, top, exclude=fitted.known))

    def best_of_each(self, count: int, file: Path | None) -> None:
        """The most likely edges of every source, or of those in a file, in pieces."""
        import numpy as np
        import polars as pl

        from timelike.graphs.digraph import node_numbers

        fitted, answers = self.fitted, self.fitted.answers
        nodes = nodes_in(fitted, file, self.skip_missing)
        if nodes is None:
            strangers = fitted.embedding.strangers(fitted.known)
            sources = np.delete(np.arange(len(answers.points)), strangers)
        else:
            every = node_numbers([*dict.fromkeys(nodes)], len(answers.points), answers.names, "--sources")
            sources = np.asarray(every, np.int64)
        if not len(sources):
            self.take(table_of([], self.columns, self.names.dtype))
        for s, t, *numbers in answers.best_of_each(sources, count, fitted.known):
            table = {"source": self.names.gather(s), "target": self.names.gather(t)}
            for column, values in zip(self.columns[2:], numbers, strict=True):
                table[column] = pl.Series(values, dtype=pl.Float64).round_sig_figs(DIGITS).cast(pl.Float32)
            self.take(pl.DataFrame(table))
        if fitted.joint is not None and (recall := fitted.joint.recall(count, sources, fitted.known)):
            note(recall.text)

    def score(self, file: str, reading: PairOptions, top: int | None) -> None:
        """The pairs of a file in its order, or the best of them."""
        import numpy as np
        import polars as pl

        from timelike.evaluation.pair_evaluation import score_pairs

        answers, best = self.fitted.answers, None

        def add(pairs: np.ndarray) -> None:
            nonlocal best
            scores = [np.exp(score_pairs(answers, *pairs.T))]
            scores += [answers.spread_by_number(*pairs.T)] if answers.members > 1 else []
            values = [*(self.names.gather(end) for end in pairs.T), *(x.astype(np.float32) for x in scores)]
            frame = pl.DataFrame(dict(zip(self.columns, values, strict=True)))
            if top is None:
                self.take(frame)
                return
            frame = frame if best is None else pl.concat([best, frame])
            best = frame.sort("probability", descending=True, maintain_order=True).head(top)

        reading.each_pairs(file, len(answers.points), answers.names, add)
        if best is not None:
            self.take(best)

    def _take_best(self, edges: Sequence[Any]) -> None:
        """The table of edges, with `why` the contributions of each group of evidence."""
        table, joint = table_of(edges, self.columns, self.names.dtype), self.fitted.joint
        if self.why and joint is not None:
            import polars as pl

            reasons = [joint.why(edge[0], edge[1])[1] for edge in edges]
            rows = [{one.group: one.contribution for one in row} for row in reasons]
            groups = dict.fromkeys(joint.combiner.groups)
            added = (
                pl.Series(f"why: {group}", [round(row[group], 2) + 0.0 for row in rows]) for group in groups
            )
            table = table.with_columns(added)
        self.take(table)


def _precision(found: float, listed: Sequence[float]) -> str:
    """How many of the first edges were right in validation, and whether these are as likely."""
    mean = sum(listed) / len(listed)
    text = f"in validation, about {100 * found:.0f} % of the top {len(listed):,} were edges"
    if mean >= found / 2:
        return text
    return f"{text}; those listed here are less likely, {100 * mean:.2g} % on average"
