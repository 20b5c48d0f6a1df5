"""The five-node cycle of figure 4, tuned alike in every geometry: which one fits it best?

python -m paper.studies.cycle [--out OUT]    # measure what is missing, then print the table

Every geometry gets the same number of random settings from the same ranges. The toy asks how well a geometry
can represent a graph, so the training NLL chooses: the best settings of the first round run again with other
seeds, and the best of these with fresh ones, which the table reports.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from paper.reports.tables import markdown
from paper.studies import measuring
from paper.tasks import Result, Task
from paper.training.toy_runs import K, Toy, probabilities

#: Geometry → title and likelihood.
MODELS = {
    "euclidean": ("Euclidean + FD", "fermi-dirac"),
    "hyperboloid": ("Hyperboloid + FD", "fermi-dirac"),
    "minkowski": ("Minkowski + TFD", "triple-fermi-dirac"),
    "anti-de-sitter": ("Anti-de Sitter + TFD", "triple-fermi-dirac"),
    "cylindrical-minkowski": ("Cylindrical Minkowski + TFD", "triple-fermi-dirac"),
}
#: The NLL that the paper prints.
PUBLISHED = {"euclidean": 17.24, "hyperboloid": 13.89}
#: The ranges of all settings; logarithmic ones begin above 0. A model takes those that it has.
RANGES = {
    "learning_rate": (0.003, 1.0), "tau": (0.02, 2.0), "tau1": (0.02, 2.0), "tau2": (0.02, 2.0),
    "alpha": (0.001, 1.0), "r": (-1.0, 2.0), "circumference": (3.0, 15.0),
}  # fmt: skip
NAMES: dict[str, tuple[str, ...]] = {"fermi-dirac": ("learning_rate", "tau", "r")}
NAMES["triple-fermi-dirac"] = ("learning_rate", "tau1", "tau2", "alpha", "r")
#: Settings and seeds of each round, and the first seed of its runs.
ROUNDS = ({"settings": 512, "seeds": 3, "first": 1000}, {"settings": 16, "seeds": 11, "first": 2000})
SEEDS, EPOCHS = 40, 600


def tasks(data_dir: str | None) -> Iterator[Task]:
    """A task for each geometry."""
    for geometry, (title, likelihood) in MODELS.items():
        about: dict[str, Any] = {"title": title, "geometry": geometry, "likelihood": likelihood}
        about |= {"ranges": {name: RANGES[name] for name in _names(geometry, likelihood)}}
        about |= {"rounds": ROUNDS, "seeds": SEEDS, "epochs": EPOCHS, "published": PUBLISHED.get(geometry)}
        yield Task(geometry, about, functools.partial(run, about))


def _names(geometry: str, likelihood: str) -> tuple[str, ...]:
    return (*NAMES[likelihood], *(["circumference"] if geometry.startswith("cylindrical") else []))


def drawn(ranges: dict[str, tuple[float, float]], count: int) -> list[dict[str, float]]:
    """Random settings: uniform in the logarithm, or in the value where the range includes 0."""
    rng = np.random.default_rng(0)
    columns = {}
    for name, (low, high) in ranges.items():
        where = rng.random(count)
        columns[name] = low + (high - low) * where if low < 0 else low * (high / low) ** where
    return [{name: round(float(x[i]), 5) for name, x in columns.items()} for i in range(count)]


def run(about: dict[str, Any]) -> dict[str, Any]:
    """The settings with the lowest median NLL, and the NLL of every fresh seed with them."""
    toy = Toy.load("cycle")
    settings = drawn(about["ranges"], about["rounds"][0]["settings"])
    for one in about["rounds"]:
        medians = [float(np.median(x)) for x in _nlls(about, toy, settings, one["first"], one["seeds"])[0]]
        order = np.argsort(medians, kind="stable")
        settings = [settings[i] for i in order[: about["rounds"][1]["settings"]]]
    (nlls,), (probs,) = _nlls(about, toy, settings[:1], 0, about["seeds"])
    middle = probs[int(np.argsort(nlls)[(len(nlls) - 1) // 2])]
    return {
        "settings": settings[0],
        "nlls": [round(x, 2) for x in nlls],
        "searched": round(min(medians), 2),
        "weakest_edge": round(float(middle[toy.edge].min()), 4),
        "strongest_non_edge": round(float(middle[~toy.edge].max()), 4),
    }


def _nlls(
    about: dict[str, Any], toy: Toy, settings: Sequence[dict[str, float]], first: int, seeds: int
) -> tuple[list[list[float]], list[list[np.ndarray]]]:
    """For each setting, the NLL and the probabilities of every seed."""
    fixed = {"k": K} if about["likelihood"] == "triple-fermi-dirac" else {}
    runs = [{**fixed, **one, "seed": first + seed} for one in settings for seed in range(seeds)]
    probs = probabilities(toy, about["geometry"], about["likelihood"], runs, about["epochs"])
    parts = [probs[i : i + seeds] for i in range(0, len(probs), seeds)]
    return [[_finite(toy.nll(p)) for p in part] for part in parts], parts


def _finite(nll: float) -> float:
    """A run that diverged counts as very bad."""
    return nll if np.isfinite(nll) else 1e6


def report(results: list[Result]) -> str:
    """A row for each geometry, best first, and how they compare with each other and with the paper."""
    ranked = sorted(results, key=_median)
    body = []
    for about, found, _ in ranked:
        nlls, published = found["nlls"], about["published"]
        settings = ", ".join(f"{name.replace('_', ' ')} {x:.3g}" for name, x in found["settings"].items())
        edges = f"{found['weakest_edge']:.2f} / {found['strongest_non_edge']:.2f}"
        line = [f"{np.median(nlls):.2f}", f"{min(nlls):.2f} to {max(nlls):.2f}"]
        body.append([about["title"], *line, f"{published:g}" if published else "", edges, settings])
    about = results[0].about
    first, second = about["rounds"]
    head = ["", "median NLL", "lowest to highest", "paper", "weakest edge / strongest non-edge", "settings"]
    text = (
        f"NLL of all pairs over {about['seeds']} fresh seeds, {about['epochs']} epochs. For every geometry: "
        f"{first['settings']} random settings from the same ranges with {first['seeds']} seeds each, the "
        f"best {second['settings']} with {second['seeds']} others, and the best of these. Probabilities are "
        "those of the median run."
    )
    return "\n\n".join((text, markdown(head, body), _claims(ranked)))


def _median(result: Result) -> float:
    return float(np.median(result.found["nlls"]))


def _claims(ranked: Sequence[Result]) -> str:
    """The paper's claims about the cycle, and the bounds of models without direction."""
    times = [r for r in ranked if r.about["likelihood"] == "triple-fermi-dirac"]
    rivals = [r for r in ranked if r not in times]
    best = min(map(_median, rivals))
    above = [r for r in times if _median(r) < best]
    others = [r for r in times if r not in above]
    words = f"{len(above)} of {len(times)} spacetimes fit the cycle better than both Riemannian spaces, "
    words += f"whose best has {best:.2f}: {_named(above) or 'none'}."
    if others:
        words += f" Not so {_named(others)}, although the paper says that all spacetimes do."
    flat = next((r for r in times if r.about["geometry"] == "minkowski"), None)
    if flat is not None:
        low = flat.found["weakest_edge"]
        words += (
            " The paper's embedding in Minkowski spacetime has one edge with a very low probability; in the "
            f"median run here, the least probable edge has {low:.2f}."
        )
    collapsed, published = 20 * np.log(2), [r.about["published"] for r in rivals if r.about["published"]]
    worse = sum(nll > collapsed for nll in published)
    return (
        f"{words} A symmetric model cannot be below 10 log 2 = {10 * np.log(2):.2f}; one that has collapsed "
        f"to a point has 20 log 2 = {collapsed:.2f}, and {worse} of the {len(published)} published values "
        "are above that."
    )


def _named(results: Sequence[Result]) -> str:
    return ", ".join(f"{r.about['title']} ({_median(r):.2f})" for r in results)


if __name__ == "__main__":
    measuring.measure("cycle", __doc__, tasks, report)
