"""What the cyclic grids say, in sentences whose every number is computed from their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paper.groups.grid import Searched, Tried

#: Below this correlation over the settings of a grid, validation is said to tell little about the test.
WEAK = 0.5
RIEMANNIAN = ("Euclidean", "Hyperboloid")
PROTOCOLS = {"paper": "the paper's protocol", "honest": "the honest one"}


def conclusions(grids: Sequence[Searched]) -> str:
    """A list of what all grids together say; parts without results are left out."""
    parts = (bold_values, rates, choosing_by_the_test, same_source, spacetimes)
    return "\n".join(f"- {text}" for part in parts for text in part(grids))


def bold_values(grids: Sequence[Searched]) -> Iterator[str]:
    """How often the best has bold values, and how often a random combination would."""
    best = sum(grid.bold == grid.best for grid in grids)
    words = []
    for protocol, name in PROTOCOLS.items():
        varied = [(grid, x) for grid in grids if grid.about["protocol"] == protocol for x in grid.varied]
        if varied:
            hits = sum(x not in grid.other(grid.best) for grid, x in varied)
            chance = sum(len(grid.about["bold"][x]) / len(grid.about["grid"][x]) for grid, x in varied)
            words.append(
                f"{100 * hits / len(varied):.0f} % of all settings under {name} (a random one: "
                f"{100 * chance / len(varied):.0f} %)"
            )
    if words:
        yield (
            f"*Bold values* are the best of {best} of {len(grids)} grids. The best combination of a grid has "
            f"the bold value in {' and in '.join(words)}."
        )


def rates(grids: Sequence[Searched]) -> Iterator[str]:
    """What another learning rate alone gains."""
    alone, whole, names = [], [], []
    for grid in grids:
        some = [one for one in grid.tried if {*grid.other(one)} <= {"learning_rate"}]
        if grid.about["protocol"] == "honest" and grid.bold and "learning_rate" in grid.varied:
            best = max(some, key=lambda one: one.merit)
            alone.append(best.score - grid.bold.score)
            whole.append(grid.best.score - grid.bold.score)
            names.append(_named(grid))
    if not names:
        return
    most = alone.index(max(alone))
    yield (
        "*Rates.* With all other values bold, the learning rate that validation prefers gains "
        f"{median(alone):+.1f} points of test AP in the median ({min(alone):+.1f} to {max(alone):+.1f}), the "
        f"whole grid {median(whole):+.1f}. It gains most, {alone[most]:+.1f} of {whole[most]:+.1f}, for "
        f"{names[most]}."
    )


def choosing_by_the_test(grids: Sequence[Searched]) -> Iterator[str]:
    """Where validation says little about the test, and where its choice is worse than the bold values."""
    groups: dict[str, Callable[[Searched], bool]] = {
        "duplication-divergence": lambda grid: not _dream5(grid),
        "DREAM5 with same_source negatives": lambda grid: _dream5(grid) and _kind(grid) == "same_source",
        "DREAM5 with uniform negatives": lambda grid: _dream5(grid) and _kind(grid) == "uniform",
    }
    weak, worse = [], []
    for name, belongs in groups.items():
        some = [
            (grid, grid.bold)
            for grid in grids
            if grid.bold and belongs(grid) and grid.about["protocol"] == "honest"
        ]
        if some:
            low = sum(grid.agreement < WEAK for grid, _ in some)
            lost = sum(grid.best.score < bold.score for grid, bold in some)
            weak.append(f"{low} of {len(some)} grids on {name}")
            worse.append(f"{lost} of {len(some)}")
    if weak:
        yield (
            f"*Choosing on validation.* Validation and test AP correlate by less than {WEAK:g} over the "
            f"settings of {_listed(weak)}. Its choice is worse on the test than the bold values in "
            f"{_listed(worse)}. Under the paper's protocol the best of a grid cannot be worse."
        )


def same_source(grids: Sequence[Searched]) -> Iterator[str]:
    """What is chosen on DREAM5 with same-source negatives, by both protocols."""
    some = [grid for grid in grids if _dream5(grid) and _kind(grid) == "same_source"]
    decaying = [grid for grid in some if "alpha" in grid.varied]
    paced = [grid for grid in some if len(grid.about["bold"].get("learning_rate", ())) > 1]
    if not decaying or not paced:
        return
    more = sum(grid.best.settings["alpha"] > max(grid.about["bold"]["alpha"]) for grid in decaying)
    between = sum(
        min(bold) < grid.best.settings["learning_rate"] < max(bold)
        for grid in paced
        for bold in [grid.about["bold"]["learning_rate"]]
    )
    yield (
        "*On DREAM5 with same_source negatives*, the best decay into the future (α) is above every bold one "
        f"in {more} of {len(decaying)} grids of both protocols, and the best rate lies between two bold ones "
        f"in {between} of the {len(paced)} grids that have several."
    )


def spacetimes(grids: Sequence[Searched]) -> Iterator[str]:
    """The best spacetime against the best Riemannian model of a graph, each with its whole grid."""
    words = []
    for protocol, name in PROTOCOLS.items():
        above, total, margins, within = 0, 0, [], 0
        for place in dict.fromkeys(map(_place, grids)):
            best = _best_of_models(grids, protocol, place)
            flat = [one for title, one in best.items() if title.startswith(RIEMANNIAN)]
            times = [one for title, one in best.items() if not title.startswith(RIEMANNIAN)]
            if len(flat) < len(RIEMANNIAN) or not times:
                continue
            rival, top = (max(some, key=lambda one: one.score) for some in (flat, times))
            above += sum(one.score > rival.score for one in times)
            total += len(times)
            margins.append(top.score - rival.score)
            within += abs(margins[-1]) <= max(top.spread, rival.spread)
        if margins:
            words.append(
                f"under {name}, {above} of {total} spacetimes are above both Riemannian models; the best one "
                f"is {min(margins):+.1f} to {max(margins):+.1f} points from the better of them, within the "
                f"spread over seeds on {within} of {len(margins)} graphs"
            )
    if words:
        yield f"*Spacetimes with their whole grid*: {'; '.join(words)}."


def _best_of_models(grids: Sequence[Searched], protocol: str, place: tuple[str, int]) -> dict[str, Tried]:
    """For each model of a graph, the best of its grids by merit."""
    found: dict[str, Tried] = {}
    for grid in grids:
        if grid.about["protocol"] == protocol and _place(grid) == place:
            known = found.get(grid.about["title"], grid.best)
            found[grid.about["title"]] = max(known, grid.best, key=lambda one: one.merit)
    return found


def _place(grid: Searched) -> tuple[str, int]:
    return grid.about["dataset"], grid.about["dim"]


def _kind(grid: Searched) -> str:
    return str(grid.about["training_negatives"])


def _dream5(grid: Searched) -> bool:
    return bool(grid.about["dataset"].startswith("dream5"))


def _named(grid: Searched) -> str:
    """The model and the graph of a grid, in words."""
    about = grid.about
    return f"{about['title']} on {about['dataset']} with {about['training_negatives']} negatives"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
