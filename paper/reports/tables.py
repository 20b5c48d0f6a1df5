"""Markdown tables of scores: models as rows, dimensions as columns, published values beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from paper.tasks import Result


def markdown(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A table; the first column holds text, the others numbers."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *body))


def gathered(columns: Iterable[str], cells: Iterable[tuple[str, str, object]]) -> str:
    """A table of (row, column, value) triples; a cell lists all values with its row and column."""
    found: dict[str, dict[str, list[str]]] = {}
    for row, column, value in cells:
        found.setdefault(row, {}).setdefault(column, []).append(str(value))
    used = [column for column in columns if any(column in line for line in found.values())]
    body = [[row, *(", ".join(line.get(column, [])) for column in used)] for row, line in found.items()]
    return markdown(["", *used], body)


def score(found: dict[str, Any], best: bool = False) -> str:
    """Median ± spread; the best of a column is bold."""
    text = f"{found['median']:.1f} ± {found['spread']:.1f}"
    return f"**{text}**" if best else text


def by_dimension(results: Sequence[Result], mark: Callable[[Result], str] = lambda result: "") -> str:
    """A table of results that differ in title and dimension only; published values in brackets.

    The best of several rows is bold; `mark` follows a score.
    """
    dims = sorted({r.about["dim"] for r in results})
    titles = list(dict.fromkeys(r.about["title"] for r in results))
    cell = {(r.about["title"], r.about["dim"]): r for r in results}
    top = {d: max(r.found["median"] for r in results if r.about["dim"] == d) for d in dims}
    body = []
    for title in titles:
        line = [title]
        for d in dims:
            result = cell.get((title, d))
            if result is None:
                line.append("–")
                continue
            text = score(result.found, len(titles) > 1 and result.found["median"] == top[d])
            text += mark(result)
            known = result.about["published"]
            line.append(f"{text} [{known[0]:.1f} ± {known[1]:.1f}]" if known else text)
        body.append(line)
    return markdown(["", *(f"d = {d}" for d in dims)], body)


def choices(results: Sequence[Result]) -> str:
    """A table of the choices among the candidates."""
    dims = sorted({r.about["dim"] for r in results})
    body = []
    for title in dict.fromkeys(r.about["title"] for r in results):
        line = {r.about["dim"]: r for r in results if r.about["title"] == title}
        body.append([title, *(_choice(line[d]) if d in line else "–" for d in dims)])
    return markdown(["", *(f"d = {d}" for d in dims)], body)


def _choice(result: Result) -> str:
    """The chosen kind of training negatives and settings, and the best epoch.

    Under the paper's protocol, where test scores choose, the best score of each kind.
    """
    about, found = result.about, result.found
    kinds = about["training_negatives"]
    words = []
    if len(kinds) > 1 and about["protocol"] != "paper":
        words.append(found["training_negatives"])
    elif len(kinds) > 1:
        best = {k: max(t["median"] for t in found["tried"] if t["training_negatives"] == k) for k in kinds}
        words.append(" / ".join(f"{kind} {score:.1f}" for kind, score in best.items()))
    several = [name for name, values in about["candidates"].items() if len(values) > 1]
    words += [f"{name.replace('_', ' ')} {found['settings'][name]:g}" for name in several]
    return ", ".join([*words, f"epoch {found['best_epoch']:g}"])


def flat(result: Result) -> dict[str, Any]:
    """A result as one row of a CSV file."""
    about, found = result.about, result.found
    published = about["published"] or [None, None]
    names = ("dataset", "title", "dim", "protocol", "negatives", "seeds")
    return {
        **{name: about[name] for name in names},
        **{name: found[name] for name in ("median", "spread", "best_epoch", "diverged")},
        "published": published[0],
        "published_spread": published[1],
        "settings": " ".join(f"{k}={v:g}" for k, v in found["settings"].items()),
        "seconds": result.made["seconds"],
        "cpu_seconds": result.made["cpu_seconds"],
    }


def is_riemannian(result: Result) -> bool:
    """Whether this is a row without time, which spacetimes are to beat."""
    return bool(result.about["likelihood"] == "fermi-dirac")


def below_published(results: Iterable[Result]) -> list[Result]:
    """The spacetimes below the published median minus its spread."""
    compared = [r for r in results if r.about["published"] and not is_riemannian(r)]
    return [r for r in compared if r.found["median"] < r.about["published"][0] - r.about["published"][1]]


def trained_with(kind: str, result: Result) -> Result | None:
    """The result with the best candidate that drew these training negatives; None if none did."""
    medians = [t["median"] for t in result.found["tried"] if t["training_negatives"] == kind]
    return result._replace(found={**result.found, "median": max(medians)}) if medians else None


def against_riemannian(results: Sequence[Result]) -> tuple[int, list[Result]]:
    """How many spacetimes of a table have both Riemannian rows beside them, and which do not beat both."""
    rivals: dict[int, dict[str, float]] = {}
    for r in filter(is_riemannian, results):
        rivals.setdefault(r.about["dim"], {})[r.about["title"]] = r.found["median"]
    compared = [r for r in results if not is_riemannian(r) and len(rivals.get(r.about["dim"], ())) == 2]
    beaten = [r for r in compared if r.found["median"] <= max(rivals[r.about["dim"]].values())]
    return len(compared), beaten
