"""Best and last epochs: which scores are those of a model that has hardly been trained?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paper.reports.tables import is_riemannian, markdown
from paper.table_rows import load_rows
from paper.tasks import Result
from paper.training.link_prediction import PROTOCOLS

#: Marks a score whose median best epoch lies in the burn-in.
MARK = " †"
#: A fall from the best to the last epoch of more than this many points is counted.
FALL = 5.0


def in_burn_in(result: Result) -> bool:
    """Whether the median best epoch lies in the burn-in, at a hundredth of the learning rate."""
    return bool(result.found["best_epoch"] <= result.about["burn_in"])


def burn_in_counts(results: Sequence[Result]) -> str:
    """How many cells are best within the burn-in, by protocol, kind of non-edges and kind of model."""
    kinds = {"Riemannian": True, "spacetimes": False}
    cases = sorted({_case(r) for r in results}, key=lambda case: (case[2] == "DREAM5", case[1], case[0]))
    body = []
    for protocol, negatives, source in cases:
        some = [r for r in results if _case(r) == (protocol, negatives, source)]
        cells = []
        for riemannian in kinds.values():
            own = [r for r in some if is_riemannian(r) == riemannian]
            cells.append(f"{sum(map(in_burn_in, own))} of {len(own)}" if own else "–")
        body.append([f"{source}, {negatives} non-edges, {protocol} protocol", *cells])
    early = sum(map(in_burn_in, results))
    text = (
        f"{MARK.strip()}: the median best epoch lies in the burn-in, the first epochs at a hundredth of the "
        f"learning rate. Such a model has hardly been trained. {early} of {len(results)} cells have the mark:"
    )
    return f"{text}\n\n{markdown(['', *kinds], body)}"


def _source(result: Result) -> str:
    return "DREAM5" if result.about["dataset"].startswith("dream5") else "duplication-divergence"


def _case(result: Result) -> tuple[str, str, str]:
    return result.about["protocol"], result.about["negatives"], _source(result)


def best_and_last(results: Sequence[Result], names: Mapping[str, str]) -> str:
    """The score at the best and at the last epoch of every model, a column for each graph."""
    known = [r for r in results if "last" in r.found]
    if not known:
        return ""
    dims, seeds = (sorted({r.about[name] for r in known}) for name in ("dim", "seeds"))
    parts = [
        f"d = {_either(dims)}, median over {_either(seeds)} seeds: AP at the best epoch (the median of that "
        f"epoch) → AP at the last. {MARK.strip()}: in the burn-in."
    ]
    for protocol, title in PROTOCOLS.items():
        some = [r for r in known if (r.about["protocol"], _first(r)) == (protocol, r.about["negatives"])]
        columns = [c for c in names if any(r.about["dataset"] == c for r in some)]
        body = []
        order = [row.title for row in load_rows("cyclic")]
        lines = {(r.about["title"], r.about["dim"]) for r in some}
        for name, dim in sorted(lines, key=lambda line: (order.index(line[0]), line[1])):
            cell = {r.about["dataset"]: r for r in some if (r.about["title"], r.about["dim"]) == (name, dim)}
            cells = (_cell(cell[column]) if column in cell else "–" for column in columns)
            body.append([f"{name}, d = {dim}" if len(dims) > 1 else name, *cells])
        if body:
            parts.append(markdown([title, *(names[column] for column in columns)], body))
    return "\n\n".join([*parts, _falls(known)])


def _first(result: Result) -> str:
    """The kind of non-edges that is compared with the paper."""
    rows = {row.name: row for row in load_rows("cyclic")}
    return str(next(iter(rows[result.about["row"]].more["negatives"])))


def _either(values: Sequence[int]) -> str:
    return " or ".join(map(str, values))


def _cell(result: Result) -> str:
    found = result.found
    mark = MARK * in_burn_in(result)
    return f"{found['median']:.1f} ({found['best_epoch']:g}{mark}) → {found['last']:.1f}"


def _falls(results: Sequence[Result]) -> str:
    words = []
    for protocol in PROTOCOLS:
        some = [r for r in results if r.about["protocol"] == protocol and not is_riemannian(r)]
        falls = [r.found["median"] - r.found["last"] for r in some]
        if some:
            words.append(
                f"{sum(fall > FALL for fall in falls)} of {len(some)} spacetime cells (paper's protocol)"
                if protocol == "paper"
                else f"{sum(fall > FALL for fall in falls)} of {len(some)} (honest protocol)"
            )
    return (
        f"From the best to the last epoch, the AP falls by more than {FALL:g} points in {', '.join(words)}."
    )
