"""A sweep that several workers share, on any machines; Optuna keeps its trials in a file or a database.

A trial trains one grid point with all its seeds. The storage numbers trials in order, so the i-th new trial
of any worker is grid point i. While a worker trains, it increments the `beat` of its trial. If the beat
stops, another worker fails the trial and queues its grid point again.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from timelike.core.model import Model
from timelike.embedding.embedding import Embedding
from timelike.engine.config import Config
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.graphs.digraph import DiGraph
from timelike.training.prepare import prepare, settings_of
from timelike.training.sweeps import Sweep, sweep

#: Seconds between two beats of a worker, and without a beat until its trial is queued again.
BEAT, SILENCE = 5.0, 60.0

#: Attempts to open a database while other workers create its tables, and seconds between them.
TRIES, PAUSE = 10, 0.5

Rows = list[dict[str, Any]]


class SharedSweep:
    """One sweep in a storage that all workers see: a file, or the URL of a database.

    `about` identifies the sweep: workers with other settings do not share its trials.
    """

    def __init__(
        self,
        storage: str,
        grid: Sequence[Mapping[str, float]],
        about: Mapping[str, Any],
        silence: float = SILENCE,
    ):
        try:
            import optuna
        except ImportError:
            raise ImportError('storage needs Optuna: pip install "timelike[scale]"') from None
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.grid, self.silence = [dict(point) for point in grid], silence
        self._state, self._finished = optuna.trial.TrialState, optuna.exceptions.UpdateFinishedTrialError
        identity = json.dumps([self.grid, about], sort_keys=True, default=str)
        name = f"timelike-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"
        self._study = optuna.create_study(
            storage=_open(optuna, storage), study_name=name, direction="maximize", load_if_exists=True
        )
        self._first_seen: dict[tuple[int, int | None], float] = {}

    def work(self, train: Callable[[dict[str, float]], Rows]) -> Rows:
        """Train grid points until all are done, here or elsewhere; return all rows in the grid's order."""
        while True:
            trials = self._trials()
            done = {point: x for point, x in trials.items() if x.state == self._state.COMPLETE}
            if len(done) == len(self.grid):
                return [row for point in sorted(done) for row in done[point].user_attrs["rows"]]
            if len(trials) < len(self.grid) or any(x.state == self._state.WAITING for x in trials.values()):
                self._train_next(train)
            else:
                self._requeue_silent(trials)
                time.sleep(min(1.0, self.silence / 10))

    def _trials(self) -> dict[int, Any]:
        """The latest trial of each grid point that has one; a queued trial names its point."""
        new, latest = itertools.count(), {}
        for trial in self._study.get_trials(deepcopy=False):
            named = trial.user_attrs.get("point")
            latest[next(new) if named is None else named] = trial
        return {point: trial for point, trial in latest.items() if point < len(self.grid)}

    def _train_next(self, train: Callable[[dict[str, float]], Rows]) -> None:
        """Take a trial, which the storage gives to one worker only, and train its grid point."""
        trial = self._study.ask()
        point = next((p for p, latest in self._trials().items() if latest.number == trial.number), None)
        if point is None:  # another worker took the last grid point first
            self._study.tell(trial, state=self._state.FAIL)
            return
        done = threading.Event()
        thread = threading.Thread(target=self._beat, args=(trial, done), daemon=True)
        thread.start()
        try:
            rows = train(self.grid[point])
        except BaseException:
            self._requeue(point, trial.number)
            raise
        finally:
            done.set()
            thread.join()
        score = median(row["valid_ap"] for row in rows)
        with contextlib.suppress(self._finished):  # another worker has requeued the trial
            trial.set_user_attr("rows", rows)
            self._study.tell(trial, score if score == score else -1.0)  # NaN: no validation pairs

    def _beat(self, trial: Any, done: threading.Event) -> None:
        for count in itertools.count():
            if done.wait(min(BEAT, self.silence / 4)):
                return
            with contextlib.suppress(self._finished):
                trial.set_user_attr("beat", count)

    def _requeue_silent(self, trials: Mapping[int, Any]) -> None:
        """Requeue running trials whose beat has not changed for `silence` seconds on this worker's clock."""
        now = time.monotonic()
        for point, trial in trials.items():
            since = self._first_seen.setdefault((trial.number, trial.user_attrs.get("beat")), now)
            if trial.state == self._state.RUNNING and now - since >= self.silence:
                self._requeue(point, trial.number)

    def _requeue(self, point: int, number: int) -> None:
        """Fail a trial and queue its grid point again, unless another worker does."""
        with contextlib.suppress(self._finished, ValueError):  # it was finished, during this call or before
            self._study.tell(number, state=self._state.FAIL)
            self._study.enqueue_trial({}, user_attrs={"point": point})


def _open(optuna: Any, where: str, tries: int = TRIES) -> Any:
    """The storage at a database URL, or in a file."""
    if "://" not in where:
        if not Path(where).absolute().parent.is_dir():
            raise FileNotFoundError(f"storage is {where!r}; there is no folder {Path(where).parent}")
        return optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(where))
    try:
        return optuna.storages.RDBStorage(where)
    except Exception as error:
        # These two classes of SQLAlchemy may mean that another worker is creating the tables.
        if tries == 1 or type(error).__name__ not in ("IntegrityError", "ProgrammingError"):
            first = str(error).splitlines()[0]
            raise ValueError(f"storage is {where!r}; it cannot be opened: {first}") from None
    time.sleep(PAUSE)
    return _open(optuna, where, tries - 1)


def share(
    storage: str,
    graph: DiGraph,
    model: Model,
    config: Config,
    grid: Mapping[str, Sequence[float]],
    seeds: int,
    valid: LabelledPairs | None,
) -> tuple[Rows, Callable[[Mapping[str, Any]], Embedding]]:
    """Train every combination of the grid, together with all workers that use the same storage.

    Returns all rows, as `timelike.sweep` does, and a function that trains the run of a row again, because
    another worker may have trained it.
    """
    plan, data = prepare(graph, model, config, valid, None, None)
    about = {**settings_of(graph, model, config, plan, data), "seeds": seeds}
    points = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]

    def run(settings: Sequence[Mapping[str, Any]]) -> Sweep:
        return sweep(graph, model, config, settings, valid=valid, progress=False)

    def train(point: dict[str, float]) -> Rows:
        runs = [{**point, "seed": config.seed + i} for i in range(seeds)]
        return [{**point, **row} for row in run(runs).rows]

    rows = SharedSweep(storage, points, about).work(train)
    return rows, lambda row: run([{name: row[name] for name in (*grid, "seed")}]).best
