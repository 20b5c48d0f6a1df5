"""The WordNet table: F1 of is-a prediction from a share of the closure, for all models of the paper."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import timelike as tl
from paper.reports.tables import markdown, score
from paper.reports.wordnet_rivals import above_models, columns, published_table, untrained_lines
from paper.reports.wordnet_training import (
    LOW,
    NEAR,
    PLAIN,
    authors_training,
    by_row,
    harder,
    is_low,
    training_table,
)
from paper.table_rows import Row, load_rows
from paper.tasks import Options, Report, Result, Task

ABOUT = "is-a prediction in the nouns of WordNet from 0 to 50 % of the closure (the paper's WordNet table)"


@dataclasses.dataclass(frozen=True)
class Cell:
    """One cell of the table: a row in one dimension with one share of the closure."""

    row: Row
    dim: int
    percent: int
    seeds: int
    data_dir: str | None
    #: Cells whose runs are the members of this cell's ensembles; empty if it trains runs of its own.
    members: tuple[Cell, ...] = ()

    @property
    def case(self) -> str:
        """The name of its column in the TOML files."""
        return f"{self.dim}, {self.percent}%"

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the row, overridden by those of its column."""
        return {**self.row.settings, **self.row.more.get("cases", {}).get(self.case, {})}


def tasks(options: Options) -> Iterator[Task]:
    """A task for every cell; --quick takes one share of the closure and few steps."""
    for row in load_rows("wordnet"):
        row = shortened(row) if options.quick else row
        for dim in options.dims_of(row):
            for percent in row.more["percents"]:
                cell = Cell(row, dim, percent, options.seeds_of(row), options.data_dir)
                yield Task(f"{row.name}/d{dim}-{percent}", describe(cell), functools.partial(run, cell))


def shortened(row: Row) -> Row:
    """The row with just enough steps to see that it runs."""
    more = {**row.more, "percents": [10], "steps": min(row.more.get("steps", 0), 100)}
    more |= {name: row.more[name][:1] for name in ("tries",) if name in more}
    more |= {name: {**row.more[name], "steps": 50} for name in ("warm",) if name in more}
    return dataclasses.replace(row, epochs=min(row.epochs, 2), more=more)


def describe(cell: Cell) -> dict[str, Any]:
    """What identifies a cell, as plain values."""
    row = cell.row
    kept = {name: value for name, value in row.more.items() if name not in ("cases", "percents")}
    return {
        **row.about("title", "epochs", "batch_size", "burn_in", "init_scale"),
        "dim": cell.dim,
        "percent": cell.percent,
        "seeds": cell.seeds,
        "settings": cell.settings,
        "more": kept,
        "published": row.published.get(cell.case),
    }


def run(cell: Cell) -> dict[str, Any]:
    """Test F1 of every seed, with the settings and the threshold that validation chose."""
    from paper.training.wordnet_cells import train_cell

    return train_cell(cell, load_split(cell.percent, cell.data_dir))


@functools.cache
def load_split(percent: int, data_dir: str | None) -> tl.Split:
    """The published split, with the non-edges of its files."""
    return tl.datasets.wordnet_split(percent, data_dir)


def report(results: list[Result], folder: Path) -> Report:
    """Tables: models by dimension and share, how each was trained, and the strongest published figures."""
    order = [row.name for row in load_rows("wordnet")]
    results = sorted(results, key=lambda r: (order.index(r.about["row"]), r.about["dim"], r.about["percent"]))
    cases = sorted({(r.about["dim"], r.about["percent"]) for r in results})
    body = untrained_lines(cases)
    for title in dict.fromkeys(r.about["title"] for r in results):
        line = {(r.about["dim"], r.about["percent"]): r for r in results if r.about["title"] == title}
        body.append([title, *(_cell(line.get(case)) for case in cases)])
    seeds = sorted({r.about["seeds"] for r in results})
    parts = [
        "# WordNet nouns",
        f"Test F1 in percent, median ± standard deviation over {' or '.join(map(str, seeds))} seeds; "
        "validation chooses threshold and settings, and the test is scored once. In brackets: published. "
        f"{LOW}: more than {NEAR:g} points below published. Methods without training have no dimension.",
        markdown(["", *columns(cases)], body),
        _targets(results),
        "## How the rows were trained",
        _training(results),
        training_table(results),
        authors_training(results),
        "## The strongest published figures",
        published_table(cases),
    ]
    return Report("\n\n".join(filter(None, parts)), [_flat(r) for r in results])


def _cell(result: Result | None) -> str:
    if result is None:
        return "–"
    published = result.about["published"]
    text = f"{score(result.found)}{f' {LOW}' if is_low(result) else ''}"
    return f"{text} [{published[0]:.1f}]" if published else text


def _targets(results: Sequence[Result]) -> str:
    compared = [r for r in results if r.about["published"]]
    if not compared:
        return "None of these cells has a published F1."
    reached = len(compared) - sum(map(is_low, compared))
    top: dict[tuple[int, int], float] = {}
    for r in results:
        case = (r.about["dim"], r.about["percent"])
        top[case] = max(top.get(case, 0.0), r.found["median"])
    text = f"{reached} of {len(compared)} cells are at most {NEAR:g} points below the published F1."
    return f"{text} {_whole_rows(compared)} {above_models(top)} {_cone(results)}".rstrip()


def _whole_rows(compared: Sequence[Result]) -> str:
    """The rows that are near or above their published numbers in every cell."""
    near = [title for title, some in by_row(compared).items() if not any(map(is_low, some))]
    return f"This holds in every cell of {_words(near)}." if near else ""


def _cone(results: Sequence[Result]) -> str:
    """The place of the scale-free cone among the models, with closure pairs and without."""
    places: dict[bool, list[int]] = {}
    for cone in (r for r in results if r.about["row"] == "minkowski-cone"):
        case = cone.about["dim"], cone.about["percent"]
        others = [r for r in results if (r.about["dim"], r.about["percent"]) == case]
        place = 1 + sum(r.found["median"] > cone.found["median"] for r in others)
        places.setdefault(case[1] > 0, []).append(place)
    words = [
        f"{_either(places[closed])} {'from 10 % on' if closed else 'without closure pairs'}"
        for closed in (True, False)
        if closed in places
    ]
    return f"Among the models, Minkowski + cone has place {' and '.join(words)}." if words else ""


def _either(places: Sequence[int]) -> str:
    return " or ".join(map(str, sorted({*places})))


def _training(results: Sequence[Result]) -> str:
    """What all rows share, and which rows had an advantage."""
    checked = {
        r.about["title"]: r.about["more"]["check_every"] for r in results if "check_every" in r.about["more"]
    }
    others = "; ".join(
        f"{title} take the best of every {n}th by validation F1" for title, n in checked.items()
    )
    text = (
        f"All rows take the last epoch{f', but {others}' if others else ''}. Where several settings are "
        "compared, validation F1 after a quarter of the steps chooses, with one seed that no result uses. "
        "Edges seen are steps × batch."
    )
    rows = harder(results)
    if not rows:
        return text
    return (
        f"{text} Only {_words(rows)} drew negatives of harder kinds than {_words(sorted(PLAIN))}. "
        "The rows were not trained alike, so the table compares recipes, not geometries."
    )


def _words(names: Sequence[str]) -> str:
    *most, last = (name.replace("_", " ") for name in names)
    return f"{', '.join(most)} and {last}" if most else last


def _flat(result: Result) -> dict[str, Any]:
    about, found = result.about, result.found
    return {
        **{name: about[name] for name in ("title", "dim", "percent", "seeds")},
        **{name: found[name] for name in ("median", "spread")},
        "published": about["published"][0] if about["published"] else None,
        "settings": " ".join(f"{k}={v:g}" for k, v in found["settings"].items()),
        "seconds": result.made["seconds"],
        "cpu_seconds": result.made["cpu_seconds"],
    }
