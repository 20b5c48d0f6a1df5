"""The arithmetic of the zoo: cells, margins over the best simple method, and shares of cells that are won."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

#: A model may lie this much below the best simple method and still count as at least as good.
SLACK = 0.005

#: (graph, seed) → what was found there: answers by question.
Answers = Mapping[tuple[str, int], Mapping[str, float]]


class Cell(NamedTuple):
    """One question about one graph, means over its seeds: the model, and the best simple method."""

    graph: str
    question: str
    model: float
    best: float
    method: str
    seeds: int

    @property
    def margin(self) -> float:
        """How far the model lies above the best simple method."""
        return self.model - self.best

    @property
    def good(self) -> bool:
        """Whether the model is at least as good, less the slack."""
        return self.margin >= -SLACK


class Tally(NamedTuple):
    """What the cells of a question, or all, come to."""

    cells: int
    good: int
    margin: float

    @property
    def share(self) -> float:
        """The share of good cells."""
        return self.good / self.cells if self.cells else float("nan")


def cells_of(
    model: Answers, simple: Mapping[str, Answers], questions: Collection[str], elsewhere: bool = False
) -> list[Cell]:
    """One cell per graph and question, over the seeds that the model has answered.

    The best simple method has the highest mean on these test pairs: this choice sees the test, which is kind
    to the simple methods. With `elsewhere`, the best one on the other seeds counts on each seed, which needs
    two seeds or more. A method that does not apply to every seed of a graph cannot be the best there.
    """
    found = []
    for graph in dict.fromkeys(name for name, _ in model):
        for question in questions:
            seeds = [key for key in model if key[0] == graph and question in model[key]]
            scores = {
                name: [answers[key][question] for key in seeds]
                for name, answers in simple.items()
                if all(question in answers.get(key, {}) for key in seeds)
            }
            if not scores or len(seeds) < 1 + elsewhere:
                continue
            best, method = _best_elsewhere(scores) if elsewhere else _best(scores)
            mean = statistics.fmean(model[key][question] for key in seeds)
            found.append(Cell(graph, question, mean, best, method, len(seeds)))
    return found


def _best(scores: Mapping[str, Sequence[float]]) -> tuple[float, str]:
    """The highest mean over the seeds, and its method."""
    return max((statistics.fmean(values), name) for name, values in scores.items())


def _best_elsewhere(scores: Mapping[str, Sequence[float]]) -> tuple[float, str]:
    """The mean over the seeds of the method that is best on the other seeds, and all methods so chosen."""
    count = len(next(iter(scores.values())))
    chosen = [
        _best({name: [*values[:i], *values[i + 1 :]] for name, values in scores.items()})[1]
        for i in range(count)
    ]
    best = statistics.fmean(scores[name][i] for i, name in enumerate(chosen))
    return best, ", ".join(dict.fromkeys(chosen))


def one_seed_each(model: Answers) -> list[Answers]:
    """The same answers seed by seed, so that each seed makes cells of its own."""
    seeds = dict.fromkeys(seed for _, seed in model)
    return [{key: value for key, value in model.items() if key[1] == seed} for seed in seeds]


def tally(cells: Iterable[Cell]) -> Tally:
    """Count cells, good cells, and average the margins."""
    listed = list(cells)
    mean = statistics.fmean(cell.margin for cell in listed) if listed else float("nan")
    return Tally(len(listed), sum(cell.good for cell in listed), mean)


def tallies(cells: Sequence[Cell], questions: Iterable[str]) -> dict[str, Tally]:
    """A tally per question, and of all cells."""
    found = {name: tally(cell for cell in cells if cell.question == name) for name in questions}
    return {**found, "all": tally(cells)}


def means(results: Iterable[Mapping[str, Any]], names: Iterable[str]) -> dict[str, float | None]:
    """The mean of each figure over the results that have it; None if none has."""
    listed, found = list(results), {}
    for name in names:
        values = [result[name] for result in listed if name in result]
        found[name] = statistics.fmean(values) if values else None
    return found
