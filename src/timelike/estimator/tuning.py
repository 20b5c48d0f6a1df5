"""A search for settings within a budget: successive halving, by validation alone.

The discrete choices (geometry, likelihood, kinds of negatives) are *arms*, one compiled program each; the
continuous settings of an arm are lanes of its program. The search screens every arm with random settings
around the start, in short runs. Twice, the best third goes on, in fewer arms and in runs twice as long; free
lanes train more seeds. The finalists and the start are compared with fresh seeds.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import os
from collections.abc import Iterator
from functools import cached_property
from statistics import median, pstdev
from typing import Any, NamedTuple

import jax
import numpy as np

from timelike._util.checks import positive_number, whole_number
from timelike._util.progress import bar
from timelike.core.model import Model
from timelike.embedding.embedding import Embedding
from timelike.embedding.trained_on import TrainedOn
from timelike.engine.config import Config
from timelike.estimator.fit_plan import resolve
from timelike.estimator.journal import Journal
from timelike.estimator.planned_candidates import assemble
from timelike.estimator.recipes import portfolio, shortened
from timelike.estimator.search_space import Arm, arms_around, centre_of, draw, in_arm, with_drawn
from timelike.estimator.settings import FitOptions, Settings, as_settings
from timelike.evaluation.negative_kinds import suitable_negatives
from timelike.io import read
from timelike.training.prepare import prepare, settings_of
from timelike.training.sweeps import sweep
from timelike.training.training_loop import train

#: Runs side by side in a program; small graphs leave a GPU idle, so there are more lanes on it.
LANES = {"cpu": 12}
MORE_LANES = 48
#: A rung: the share of the epochs, of the settings and of the arms that take part, and the share of the
#: budget after which no more of its runs start.
RUNGS = ((1 / 4, 1.0, 1.0, 0.4), (1 / 2, 1 / 3, 1 / 2, 0.6), (1.0, 1 / 3, 1 / 2, 0.8))
FINALISTS = 3
#: Offset of the seeds of the finals from those of the search.
FRESH = 1_000


class Trial(NamedTuple):
    """Drawn settings of an arm, and their median validation AP in the last rung."""

    arm: Arm
    numbers: dict[str, float]
    score: float


@dataclasses.dataclass(frozen=True, eq=False)
class Tuned:
    """The result of a search.

    `settings` of the winner; the `leaderboard` of the finalists, best first (median and standard deviation of
    the validation AP over `seeds` fresh seeds, and their settings); the number of settings tried (`trials`)
    and the `seconds` they took; `trained_on`: training edges and validation pairs.
    """

    settings: Settings
    leaderboard: list[dict[str, Any]]
    trials: int
    seconds: float
    trained_on: TrainedOn

    @cached_property
    def best(self) -> Embedding:
        """The winner, trained with the first of its fresh seeds and calibrated."""
        graph, valid = self.trained_on.graph, self.trained_on.valid
        assert valid is not None
        assert self.settings.geometry is not None
        model, config = assemble(graph, self.settings.geometry, self.settings)
        config = dataclasses.replace(config, seed=self.leaderboard[0]["first_seed"])
        return train(graph, model, config, valid=valid, progress=False).calibrated(valid)


def tune(
    graph: Any,
    start: Settings | str | os.PathLike | None = None,
    *,
    dim: int | None = None,
    budget: float = 5.0,
    trials: int | None = None,
    seeds: int = 3,
    seed: int = 0,
    valid: Any = None,
    valid_fraction: float = 0.1,
    valid_negatives: str | None = None,
    journal: str | os.PathLike | None = None,
    progress: bool | None = None,
) -> Tuned:
    """Search for settings for about `budget` minutes, or until `trials` have been drawn; keep the best.

    `start` is what to search around: settings, a file of settings or the name of a preset. `valid_negatives`
    is the kind of negatives for validation (default: that of the start, or the kind that suits the graph);
    choose the comparison that you will evaluate. `valid` and `valid_fraction` are as in `SpacetimeEmbedding`;
    pass training edges only. `journal` names a file that keeps finished steps; a search with the same
    arguments continues from it. `seeds` are those of the finals. With `trials` the result depends on the seed
    alone, with a budget also on the machine.
    """
    positive_number("budget", budget)
    whole_number("seeds", seeds, 3)
    if trials is not None:
        whole_number("trials", trials, 1)
    base, known = as_settings(start), read(graph)
    base = dataclasses.replace(base, valid_negatives=valid_negatives or base.valid_negatives)
    options = FitOptions(settings=base, dim=dim, seed=seed, valid_fraction=valid_fraction)
    plan = resolve(known, options, valid=valid)
    if plan.valid is None:
        reason = plan.reasons["validation"]
        raise ValueError(f"{reason}: a search needs ten validation edges; hold out more, or pass valid")
    kind = plan.valid_negatives or suitable_negatives(known)
    base = dataclasses.replace(base, dim=plan.candidates[0].model.manifold.dim, valid_negatives=kind)
    search = _Search(base, TrainedOn(plan.graph, plan.valid), journal, seed, progress)  # type: ignore[arg-type]
    return search.run(60 * budget if trials is None else np.inf, trials or np.inf, seeds)


class _Search:
    """The state of a search: its arms, and the journal of finished steps and their seconds."""

    def __init__(
        self,
        base: Settings,
        held: TrainedOn,
        path: str | os.PathLike | None,
        seed: int,
        progress: bool | None,
    ):
        self.held, self.seed = held, seed
        self.lanes = LANES.get(jax.default_backend(), MORE_LANES)
        self.arms = arms_around(base, held.graph)
        first = self.arms[0]
        self.base = dataclasses.replace(base, geometry=first.geometry, likelihood=first.likelihood)
        run = (held.graph, *self._build(first))
        about = settings_of(*run, *prepare(*run, held.valid, None, None))
        self.journal = Journal(path, {**about, "start": repr(base), "search": seed, "lanes": self.lanes})
        self.bar = bar(None, "search", progress, unit="run", delay=0, leave=True)

    def run(self, seconds: float, trials: float, seeds: int) -> Tuned:
        """All rungs and the finals."""
        with self.bar:
            try:
                found, tried = self._halve(seconds, trials)
                board = self._finals(found, seeds)
            except KeyboardInterrupt:
                done, path = len(self.journal.steps), self.journal.path
                kept = f"; {done} steps are in {path}, run the same again to go on" if path and done else ""
                raise KeyboardInterrupt(f"search stopped{kept}") from None
        (first, winner), *_ = board
        about = (
            f"Found by timelike tune: validation AP {first['valid_ap']:.4f} ± {first['spread']:.4f} "
            f"over {first['seeds']} seeds, the best of {tried} settings."
        )
        settings = with_drawn(in_arm(self.base, winner.arm), self.held.graph, winner.numbers)
        settings = dataclasses.replace(settings, about=about)
        return Tuned(settings, [row for row, _ in board], tried, self.journal.seconds, self.held)

    def _halve(self, seconds: float, trials: float) -> tuple[list[Trial], int]:
        """Run the rungs: the trials left after the last, best first, and how many settings were drawn."""
        found: list[Trial] = []
        tried = 0
        for rung, (length, kept, arms, until) in enumerate(RUNGS):
            todo = self._drawn(trials) if rung == 0 else _groups(_best(found, kept, arms))
            results: list[Trial] = []
            for number, group in enumerate(todo):
                if results and self.journal.seconds >= until * seconds:
                    break
                self._show(f"round {rung + 1} of {len(RUNGS)}", group)
                seeds = max(1, self.lanes // len(group))  # free lanes train more seeds
                scores = self._scores(f"rung {rung}, {number}", group, length, seeds, 0)
                pairs = zip(group, scores, strict=True)
                results += [trial._replace(score=median(its)) for trial, its in pairs]
            found = sorted(results, key=lambda trial: -trial.score)
            tried = tried or len(found)
        return found, tried

    def _drawn(self, left: float) -> Iterator[list[Trial]]:
        """Settings to screen, one program of an arm at a time; arms take turns.

        The first ones of an arm are its centre, and the portfolio unless the start fixes numbers.
        """
        turns = ((wave, i, arm) for wave in itertools.count() for i, arm in enumerate(self.arms))
        for wave, i, arm in turns:
            if left <= 0:
                return
            size = int(min(self.lanes, left))
            rng = np.random.default_rng([self.seed, wave, i])
            centre = centre_of(*self._build(arm))
            known = [] if self.base.numbers or self.base.training else portfolio(arm.geometry)
            first = [centre, *({name: run.get(name, x) for name, x in centre.items()} for run in known)]
            drawn = first[:size] if wave == 0 else []
            drawn += [draw(rng, centre) for _ in range(size - len(drawn))]
            yield [Trial(arm, numbers, 0.0) for numbers in drawn]
            left -= size

    def _finals(self, found: list[Trial], seeds: int) -> list[tuple[dict[str, Any], Trial]]:
        """A row for each of the finalists and for the start, trained with fresh seeds, best first."""
        start = Trial(self.arms[0], centre_of(*self._build(self.arms[0])), 0.0)
        finalists = [*[trial for trial in found if trial[:2] != start[:2]][:FINALISTS], start]
        rows = []
        for number, group in enumerate(_groups(finalists)):
            self._show("finals", group)
            scores = self._scores(f"final {number}", group, 1.0, seeds, FRESH)
            for trial, its in zip(group, scores, strict=True):
                row = {
                    "valid_ap": median(its),
                    "spread": pstdev(its),
                    "seeds": seeds,
                    **trial.arm._asdict(),
                    "settings": trial.numbers,
                    "is_start": trial is start,
                    "first_seed": self.seed + FRESH,
                }
                rows.append((row, trial))
        return sorted(rows, key=lambda pair: -pair[0]["valid_ap"])

    def _show(self, stage: str, group: list[Trial]) -> None:
        self.bar.set_description_str(f"search, {stage}, {group[0].arm.geometry}")

    def _scores(
        self, name: str, group: list[Trial], length: float, seeds: int, first: int
    ) -> list[list[float]]:
        """Validation AP of every trial of one arm, a list over seeds each."""
        runs = [{**trial.numbers, "seed": self.seed + first + i} for trial in group for i in range(seeds)]
        digest = hashlib.sha256(repr((group[0].arm, runs, length)).encode()).hexdigest()[:16]
        scores = self.journal.step(f"{name}: {digest}", lambda: self._train(group[0].arm, runs, length))
        self.bar.update(len(runs))
        return [scores[i : i + seeds] for i in range(0, len(runs), seeds)]

    def _train(self, arm: Arm, runs: list[dict[str, Any]], length: float) -> list[float]:
        """Validation AP of each run, 0 if it diverged at once; always with the same number of lanes."""
        model, config = self._build(arm)
        config = shortened(config, max(1, round(length * config.epochs)))
        full = runs + runs[-1:] * (-len(runs) % self.lanes)
        rows = []
        for i in range(0, len(full), self.lanes):
            part = full[i : i + self.lanes]
            rows += sweep(self.held.graph, model, config, part, valid=self.held.valid, progress=False).rows
        return [row["valid_ap"] if np.isfinite(row["valid_ap"]) else 0.0 for row in rows[: len(runs)]]

    def _build(self, arm: Arm) -> tuple[Model, Config]:
        return assemble(self.held.graph, arm.geometry, in_arm(self.base, arm))


def _best(found: list[Trial], kept: float, arms: float) -> list[Trial]:
    """The best share of the trials, out of the best share of the arms."""
    labels = list(dict.fromkeys(trial.arm.label for trial in found))
    labels = labels[: max(1, round(arms * len(labels)))]
    among = [trial for trial in found if trial.arm.label in labels]
    return among[: max(1, round(kept * len(found)))]


def _groups(trials: list[Trial]) -> list[list[Trial]]:
    """Trials by arm, in the order in which the arms first appear."""
    groups: dict[str, list[Trial]] = {}
    for trial in trials:
        groups.setdefault(trial.arm.label, []).append(trial)
    return list(groups.values())
