"""The models of the cyclic table in ten dimensions with the paper's batches of two or four edges.

python -m paper.studies.paper_batch [--jobs 12] [--out OUT]    # train what is missing, then print the table

Everything but the batch is as in the table, which has batches of 16 or 32.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import Any

from paper.groups.cyclic import DATA
from paper.reports.tables import markdown, score
from paper.runner.reproduction import load_results
from paper.studies import measuring
from paper.table_rows import ROWS, Row, load_rows
from paper.tasks import Options, Result, Task
from paper.training.link_prediction import PROTOCOLS, Case, describe, run

DIM = 10
TABLE = ROWS.parent / "results" / "cyclic.json"


def tasks(data_dir: str | None) -> Iterator[Task]:
    """Every row under both protocols, against the kind of non-edges that is compared with the paper."""
    for row in load_rows("cyclic"):
        small = dataclasses.replace(row, batch_size=papers_batch(row))
        for protocol in PROTOCOLS:
            case = Case.of(
                small, DIM, protocol, next(iter(row.more["negatives"])), Options(data_dir=data_dir)
            )
            yield Task(f"{row.name}/{protocol}", describe(case), functools.partial(run, case))


def papers_batch(row: Row) -> int:
    """The batch of the paper's table of hyperparameters."""
    four = row.dataset == "duplication-divergence" and row.likelihood == "fermi-dirac"
    return 4 if four else 2


def report(results: list[Result]) -> str:
    """For each protocol, the AP with batches of two and that of the table; then what the batch moves."""
    table = {_cell(r): r for r in load_results(TABLE) if r.about["title"] != "baselines"}
    titles = list(dict.fromkeys(row.title for row in load_rows("cyclic")))
    seeds = " or ".join(map(str, sorted({r.about["seeds"] for r in results})))
    parts = [
        "Test AP in percent with the paper's batches of 2 edges, or 4 for the Riemannian models on "
        "duplication-divergence (in brackets: with those of the tables above, 16 or 32); "
        f"d = {DIM}, median ± standard deviation over {seeds} seeds:"
    ]
    for protocol, name in PROTOCOLS.items():
        some = {(r.about["title"], r.about["dataset"]): r for r in results if r.about["protocol"] == protocol}
        body = [[title, *(_shown(some.get((title, data)), table) for data in DATA)] for title in titles]
        parts.append(markdown([name, *DATA.values()], body))
    return "\n\n".join([*parts, _verdict(results, table)])


def _cell(result: Result) -> tuple[Any, ...]:
    return tuple(result.about[name] for name in ("row", "dim", "protocol", "negatives"))


def _shown(result: Result | None, table: dict[tuple[Any, ...], Result]) -> str:
    if result is None:
        return "–"
    other = table.get(_cell(result))
    return f"{score(result.found)} [{other.found['median']:.1f}]" if other else score(result.found)


def _verdict(results: Sequence[Result], table: dict[tuple[Any, ...], Result]) -> str:
    """How far the batch moves the cells, and whether the best model of a graph changes."""
    pairs = [(r, table[_cell(r)]) for r in results if _cell(r) in table]
    if not pairs:
        return ""
    moves = [r.found["median"] - other.found["median"] for r, other in pairs]
    near = sum(
        abs(move) <= max(r.found["spread"], other.found["spread"])
        for move, (r, other) in zip(moves, pairs, strict=True)
    )
    columns = sorted({(r.about["dataset"], r.about["protocol"]) for r, _ in pairs})
    same = 0
    for column in columns:
        own = [pair for pair in pairs if (pair[0].about["dataset"], pair[0].about["protocol"]) == column]
        small, large = ([pair[i].found["median"] for pair in own] for i in (0, 1))
        same += small.index(max(small)) == large.index(max(large))
    return (
        f"The batch moves a cell by {min(moves):+.1f} to {max(moves):+.1f} points; {near} of {len(pairs)} "
        f"cells move by no more than the larger of both spreads. The best model is the same in {same} of "
        f"{len(columns)} columns."
    )


if __name__ == "__main__":
    measuring.measure("paper_batch", __doc__, tasks, report)
