"""How each WordNet row was trained: steps, negatives and selection, computed from the stored results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from paper.reports.tables import markdown
from paper.reports.wordnet_rivals import untrained
from paper.tasks import Result

#: A cell counts as reproduced if its F1 is at most this many points below the published one.
NEAR = 3.0
#: Marks cells and rows further below.
LOW = "†"
#: The end of the title of a row with its authors' training.
AUTHORS = ", their authors' training"
#: Negatives that are as easy as a random node, or as a random edge's end.
PLAIN = {"uniform", "same_source", "same_target", "degree"}


def is_low(result: Result) -> bool:
    """Whether the median lies more than `NEAR` points below the published F1."""
    published = result.about["published"]
    return bool(published) and result.found["median"] < published[0] - NEAR


def training_table(results: Sequence[Result], searched: str = "") -> str:
    """A line for each row: its training, how its settings were chosen, and how far it is below published.

    `searched` is the number of settings that a search tried, for rows that compare none themselves and have
    no published counterpart.
    """
    body = []
    for title, some in by_row(results).items():
        line = [
            f"{title} {LOW}" if not searched and any(map(is_low, some)) else title,
            _range(steps(r) for r in some),
            _range(r.about["batch_size"] for r in some),
            _range(steps(r) * r.about["batch_size"] / 1e6 for r in some),
            " or ".join(dict.fromkeys(_optimizer(r) for r in some)),
            _kinds([r for r in some if r.about["percent"] == 0]),
            _kinds([r for r in some if r.about["percent"] > 0]),
            searched or _range(max(len(r.found["tried"]), 1) for r in some),
        ]
        body.append(line if searched else [*line, _gap(some)])
    head = ["", "steps", "batch", "edges seen, millions", "optimiser", "negatives an edge, 0 %"]
    head += ["negatives an edge, 10 to 50 %", "settings compared"]
    return markdown(head if searched else [*head, f"more than {NEAR:g} points below published"], body)


def authors_training(results: Sequence[Result]) -> str:
    """What the training of a model's authors changes against that of the other rows; empty if none ran."""
    lines = []
    for title, some in by_row(results).items():
        base = title.removesuffix(AUTHORS)
        if base == title:
            continue
        other = {(r.about["dim"], r.about["percent"]): r for r in results if r.about["title"] == base}
        pairs = [(r, other[case]) for r in some if (case := (r.about["dim"], r.about["percent"])) in other]
        gaps = [r.found["median"] - r.about["published"][0] for r in some]
        near = sum(gap >= -NEAR for gap in gaps)
        gains = [r.found["median"] - one.found["median"] for r, one in pairs]
        higher = (
            f" F1 is higher than with that of the other rows in {sum(gain > 0 for gain in gains)} of "
            f"{len(gains)} cells ({min(gains):+.1f} to {max(gains):+.1f} points), and"
            if gains
            else " F1 is"
        )
        lines.append(
            f"- {base}:{higher} {min(gaps):+.1f} to {max(gaps):+.1f} points from the published one; "
            f"{near} of {len(gaps)} cells are at most {NEAR:g} points below it."
        )
    return "\n".join(["What the training of their authors changes:\n", *lines]) if lines else ""


def _gap(results: Sequence[Result]) -> str:
    """In how many cells the row is marked, and the largest distance from the published F1."""
    known = [r for r in results if r.about["published"]]
    low = [r.about["published"][0] - r.found["median"] for r in known if is_low(r)]
    if not known:
        return "–"
    return f"{len(low)} of {len(known)}, by up to {max(low):.1f}" if low else f"0 of {len(known)}"


def by_row(results: Iterable[Result]) -> dict[str, list[Result]]:
    """The results by title; rows that share a title but differ in training are told apart by d."""
    found: dict[str, dict[str, list[Result]]] = {}
    for r in results:
        row = r.about["row"] if r.about.get("dataset") != "wordnet" else r.about["title"]
        found.setdefault(r.about["title"], {}).setdefault(row, []).append(r)
    return {
        f"{title} (d = {some[0].about['dim']})" if len(rows) > 1 else title: some
        for title, rows in found.items()
        for some in rows.values()
    }


def harder(results: Sequence[Result]) -> list[str]:
    """The rows that drew harder negatives than ends of random edges."""
    return [
        title
        for title, some in by_row(results).items()
        if any(set(_drawn(r)) - PLAIN - {"weights"} for r in some)
    ]


def steps(result: Result) -> int:
    """The steps of one run; epochs count as often as the training edges fill a batch."""
    about = result.about
    if about["more"]["steps"]:
        return int(about["more"]["steps"])
    edges = untrained()[about["percent"]].found["edges"]
    return int(about["epochs"] * math.ceil(edges / about["batch_size"]))


def _drawn(result: Result) -> dict[str, Any]:
    more = result.about["more"]
    return dict(more.get("negatives_at", {}).get(str(result.about["percent"]), more["negatives"]))


def _kinds(results: Sequence[Result]) -> str:
    """The negatives of an edge, by kind."""
    texts: dict[str, None] = {}
    for r in results:
        drawn = _drawn(r)
        weighted = ", weighted" if drawn.pop("weights", None) else ""
        texts[", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in drawn.items()) + weighted] = None
    return " or ".join(texts) or "–"


def _optimizer(result: Result) -> str:
    warm = result.about["more"].get("warm")
    if not warm:
        return str(result.about["more"]["optimizer"])
    long = f"{warm['steps']:,} steps" if warm["steps"] else f"{warm['epochs']} epochs"
    return f"{result.about['more']['optimizer']}, after {long} as Poincaré Embeddings"


def _range(values: Iterable[float]) -> str:
    found = sorted({round(value) for value in values})
    return f"{found[0]:,}" if len(found) == 1 else f"{found[0]:,} to {found[-1]:,}"
