"""A sweep that several workers share, on any machines: Optuna keeps its trials in a file or a database.

A trial is one combination of the grid, with all its seeds. A worker takes a waiting trial; the storage gives
it to one worker only. While that works, a counter of the trial goes on. Where it stands still for too long,
the worker is gone, and another puts its trial back among the waiting ones.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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

#: Seconds between two counts of a worker, and of silence after which it is gone.
COUNTS, SILENCE = 5.0, 60.0

#: How often a database is opened while others make its tables, and seconds in between.
TRIES, PAUSE = 10, 0.5

Rows = list[dict[str, Any]]


class SharedSweep:
    """The trials of one sweep in a storage: a file on a folder that all workers see, or a database.

    `about` says what is swept: workers with other settings have trials of their own.
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
        self._optuna, self._state = optuna, optuna.trial.TrialState
        self._storage = _storage(optuna, storage)
        told = json.dumps([self.grid, about], sort_keys=True, default=str)
        self.name = f"timelike-{hashlib.sha256(told.encode()).hexdigest()[:16]}"
        self._seen: dict[int, tuple[Any, float]] = {}
        self._study = self._open()

    def work(self, train: Callable[[dict[str, float]], Rows]) -> Rows:
        """Take trials until none is left, here or elsewhere; the rows of all, in the order of the grid."""
        while len(self._done()) < len(self.grid):
            number = self._take()
            if number is None:
                self._put_back_silent()
                time.sleep(min(1.0, self.silence / 10))
                continue
            point = self._trial(number).user_attrs["point"]
            with self._counting(number):
                rows = train(self.grid[point])
                score = median(row["valid_ap"] for row in rows)
                self._set(number, "rows", rows)
                score = score if score == score else -1.0  # NaN: nothing to validate on
                self._storage.set_trial_state_values(self._id(number), self._state.COMPLETE, [score])
        return [row for _, rows in sorted(self._done().items()) for row in rows]

    def _open(self) -> Any:
        """The study of this sweep; whoever makes it puts in the trials, and the others wait for that."""
        optuna = self._optuna
        try:
            study = optuna.create_study(storage=self._storage, study_name=self.name, direction="maximize")
        except optuna.exceptions.DuplicatedStudyError:
            study = optuna.load_study(storage=self._storage, study_name=self.name)
            end = time.monotonic() + self.silence
            while "points" not in study.user_attrs:
                if time.monotonic() > end:
                    raise ValueError(
                        f"storage has a sweep that was not begun in full ({self.name}); delete it there"
                    ) from None
                time.sleep(0.1)
            return study
        for number, point in enumerate(self.grid):
            study.enqueue_trial(point, user_attrs={"point": number})
        study.set_user_attr("points", len(self.grid))
        return study

    def _done(self) -> dict[int, Rows]:
        """Finished rows by point."""
        trials = self._study.get_trials(deepcopy=False, states=(self._state.COMPLETE,))
        return {trial.user_attrs["point"]: trial.user_attrs["rows"] for trial in trials}

    def _take(self) -> int | None:
        """The number of a waiting trial that is this worker's from now on."""
        for trial in self._study.get_trials(deepcopy=False, states=(self._state.WAITING,)):
            with contextlib.suppress(self._optuna.exceptions.UpdateFinishedTrialError):
                if self._storage.set_trial_state_values(self._id(trial.number), self._state.RUNNING):
                    return int(trial.number)
        return None

    def _put_back_silent(self) -> None:
        """Trials whose counter has stood still, as seen from here, wait again."""
        now = time.monotonic()
        for trial in self._study.get_trials(deepcopy=False, states=(self._state.RUNNING,)):
            count = trial.user_attrs.get("count")
            before, since = self._seen.setdefault(trial.number, (count, now))
            if count != before:
                self._seen[trial.number] = (count, now)
            elif now - since >= self.silence:
                self._put_back(trial)

    def _put_back(self, trial: Any) -> None:
        """Fail a trial and queue another for its point; of several workers that try, one does."""
        try:
            self._storage.set_trial_state_values(self._id(trial.number), self._state.FAIL)
        except self._optuna.exceptions.UpdateFinishedTrialError:
            return
        point = trial.user_attrs["point"]
        self._study.enqueue_trial(self.grid[point], user_attrs={"point": point, "again": trial.number})

    @contextlib.contextmanager
    def _counting(self, number: int) -> Iterator[None]:
        """Let the counter of a trial go on; a trial that raises waits again at once."""
        done = threading.Event()

        def count() -> None:
            value = 0
            while not done.wait(min(COUNTS, self.silence / 4)):
                value += 1
                with contextlib.suppress(self._optuna.exceptions.UpdateFinishedTrialError):
                    self._set(number, "count", value)

        thread = threading.Thread(target=count, daemon=True)
        thread.start()
        try:
            yield
        except BaseException:
            self._put_back(self._trial(number))
            raise
        finally:
            done.set()
            thread.join()

    def _trial(self, number: int) -> Any:
        return self._storage.get_trial(self._id(number))

    def _id(self, number: int) -> int:
        study = self._storage.get_study_id_from_name(self.name)
        return int(self._storage.get_trial_id_from_study_id_trial_number(study, number))

    def _set(self, number: int, key: str, value: Any) -> None:
        self._storage.set_trial_user_attr(self._id(number), key, value)


def _storage(optuna: Any, where: str) -> Any:
    """A database by its address, or a file."""
    if "://" in where:
        try:
            return _database(optuna, where)
        except Exception as error:
            first = str(error).splitlines()[0]
            raise ValueError(f"storage is {where!r}; it cannot be opened: {first}") from None
    if not Path(where).absolute().parent.is_dir():
        raise FileNotFoundError(f"storage is {where!r}; there is no folder {Path(where).parent}")
    backend = optuna.storages.journal.JournalFileBackend(where)
    return optuna.storages.JournalStorage(backend)


def _database(optuna: Any, where: str) -> Any:
    """A database with the tables that are needed; if others are just making them, it is tried again."""
    from sqlalchemy.exc import IntegrityError, ProgrammingError

    for _ in range(TRIES - 1):
        try:
            return optuna.storages.RDBStorage(where)
        except (IntegrityError, ProgrammingError):
            time.sleep(PAUSE)
    return optuna.storages.RDBStorage(where)


def share(
    storage: str,
    graph: DiGraph,
    model: Model,
    config: Config,
    grid: Mapping[str, Sequence[float]],
    seeds: int,
    valid: LabelledPairs | None,
) -> tuple[Rows, Callable[[Mapping[str, Any]], Embedding]]:
    """Train every combination of the grid together with whoever does the same.

    Returns all rows, those of `timelike.sweep`, and a way to train one of them: another may have trained it.
    """
    plan, data = prepare(graph, model, config, valid, None, None)
    about = {**settings_of(graph, model, config, plan, data), "seeds": seeds}
    names = list(grid)
    points = [dict(zip(names, values, strict=True)) for values in itertools.product(*grid.values())]
    first = config.seed

    def run(settings: Sequence[Mapping[str, Any]]) -> Sweep:
        return sweep(graph, model, config, settings, valid=valid, progress=False)

    def train(point: dict[str, float]) -> Rows:
        found = run([{**point, "seed": first + i} for i in range(seeds)]).rows
        return [{**point, **row} for row in found]

    rows = SharedSweep(storage, points, about).work(train)
    return rows, lambda row: run([{name: row[name] for name in (*names, "seed")}]).best
