"""Many runs in one program: seeds and continuous settings are one more axis of its arrays."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from timelike._struct import numbers_of, with_numbers
from timelike.checkpoint import Checkpointing, Saver, beside
from timelike.checks import show, whole_number
from timelike.config import Config
from timelike.embedding import Embedding
from timelike.engine import Data, Report, State, compiled, init_state, run_epoch
from timelike.evaluation import LabelledPairs
from timelike.graph import DiGraph
from timelike.machine import cores
from timelike.model import Model
from timelike.negatives import Negatives
from timelike.passes import MANY, PAIRS_PER_BLOCK
from timelike.plan import Numbers, Plan
from timelike.preparing import plain_numbers, prepare, settings_of
from timelike.signals import note_signals
from timelike.training import InterruptedTraining, diverged, make_embedding, stack_history, unstack_history

#: What of the config a grid may vary, besides the numbers of the model.
SWEPT = ("learning_rate", "anneal", "init_scale", "clip", "seed")

#: Threads wait for each other after so many seconds, or an epoch: short ones are taken several in a turn.
TURN = 0.1

#: Tables a run holds at once: the points, their last good and best copies, and one in transit.
TABLES = 4


@dataclasses.dataclass(frozen=True, eq=False)
class Sweep:
    """A tidy table, one row per run, and the embedding of the best run by the score of the selection.

    Each row has the settings that were varied, `status` ("finished", "stopped early" or "diverged
    in epoch n"), `best_epoch`, `loss`, and `valid_ap` and `test_ap` of that epoch; `best_test_ap`
    is the highest over all epochs, the paper's protocol. `runs` has the embedding of every row, if all were
    to be kept.
    """

    rows: list[dict[str, Any]]
    best: Embedding
    runs: list[Embedding] = dataclasses.field(default_factory=list)

    def to_columns(self) -> dict[str, list[Any]]:
        """The table by columns, ready for `pandas.DataFrame` or `polars.DataFrame`."""
        return {name: [row[name] for row in self.rows] for name in self.rows[0]}


def sweep(
    graph: DiGraph,
    model: Model,
    config: Config | None = None,
    grid: Mapping[str, Sequence[float]] | Sequence[Mapping[str, Any]] | None = None,
    seeds: int | Iterable[int] = 1,
    *,
    valid: LabelledPairs | None = None,
    test: LabelledPairs | None = None,
    non_edges: np.ndarray | None = None,
    keep_all: bool = False,
    memory: float = 2**31,
    checkpoint: Checkpointing | str | os.PathLike | None = None,
    progress: bool | None = None,
) -> Sweep:
    """Train every combination of `grid` with every seed, as few programs as fit into `memory` bytes.

    Grid names are learning_rate, anneal, init_scale, clip and every number inside the model: tau1, tau2,
    alpha, r, k, circumference, radius, … Instead of a grid, a list of runs: what each changes, its seed
    too; all name the same. `keep_all` keeps the embeddings of all runs, such as the members of an
    `ensemble`, not of the best alone. `checkpoint` names a file to keep the runs in and to resume
    from; with several programs, a file for each.
    """
    config = Config() if config is None else config
    plan, data = prepare(graph, model, config, valid, test, non_edges)
    settings = _settings(model, config, grid or {}, seeds)
    needed = _bytes_per_run(plan, plain_numbers(model, config), graph.num_nodes)
    size = max(1, min(int(memory // needed), (2**31 - 1) // graph.num_nodes))
    chunks = [settings[i : i + size] for i in range(0, len(settings), size)]
    rows: list[dict[str, Any]] = []
    best: tuple[float, Embedding] | None = None
    runs: list[Embedding] = []
    bar = tqdm(
        total=len(chunks) * config.last_epoch,
        desc=f"{len(settings)} runs",
        unit="epoch",
        disable=None if progress is None else not progress,
    )
    with bar:
        for number, chunk in enumerate(chunks):
            lanes = [one_run(model, config, one) for one in chunk]
            numbers = [plain_numbers(*lane) for lane in lanes]
            about = {**settings_of(graph, model, config, plan, data), "runs": repr(chunk)}
            saver = Saver(beside(checkpoint, [str(number)] * (len(chunks) > 1)), about)
            state, history = _run_chunk(plan, numbers, data, graph.num_nodes, config.last_epoch, saver, bar)
            rows += _rows(config, chunk, state, history)
            scores = _scores(plan, state, history)
            first = int(np.argmax(scores))
            wanted = range(len(chunk)) if keep_all else [first]
            made = {i: _of_lane(graph, plan, lanes[i], state, history, i) for i in wanted}
            if best is None or scores[first] > best[0]:
                best = (float(scores[first]), made[first])
            runs += made.values() if keep_all else []
    assert best is not None
    return Sweep(rows, best[1], runs)


def _of_lane(
    graph: DiGraph,
    plan: Plan,
    run: tuple[Model, Config],
    state: State,
    history: dict[str, np.ndarray],
    lane: int,
) -> Embedding:
    """What one of the runs side by side has learned."""
    mine = jax.tree.map(lambda x: x[lane], state)
    columns = {name: values[:, lane] for name, values in history.items()}
    return make_embedding(graph, run[0], run[1].to_dict(), plan, mine, columns)


def _scores(plan: Plan, state: State, history: dict[str, np.ndarray]) -> np.ndarray:
    """What the best run has most of: the score it was selected by, or, without one, the lowest last loss."""
    if plan.select != "last":
        return np.where(np.isfinite(state.best_score), state.best_score, -np.inf)
    last = history["loss"][np.maximum(state.epoch - 1, 0), np.arange(len(state.epoch))]
    return np.where(np.isfinite(last), -last, -np.inf)


def one_run(model: Model, config: Config, settings: Mapping[str, Any]) -> tuple[Model, Config]:
    """The model and the config of one point of the grid, checked like any other."""
    of_config = {k: v for k, v in settings.items() if k in SWEPT}
    return with_numbers(model, settings), dataclasses.replace(config, **of_config)


def _bytes_per_run(plan: Plan, base: Numbers, num_nodes: int) -> int:
    points = jax.eval_shape(programs(plan, num_nodes)[0], stack([base]))
    tables = TABLES * points.points.size + sum(x.size for x in jax.tree.leaves(points.optimizer))
    batch = TABLES * 2 * (1 + plan.negatives.total) * plan.batch_size * points.points.shape[-1]
    return int(points.points.dtype.itemsize * (tables + batch) + 4 * num_nodes + 64 * PAIRS_PER_BLOCK)


def _settings(
    model: Model,
    config: Config,
    grid: Mapping[str, Sequence[float]] | Sequence[Mapping[str, Any]],
    seeds: int | Iterable[int],
) -> list[dict[str, Any]]:
    """Every combination of the grid with every seed; of a list of runs, these."""
    listed = not isinstance(grid, Mapping)
    known = [*(SWEPT if listed else SWEPT[:-1]), *numbers_of(model)]
    for name in itertools.chain(*grid) if listed else grid:
        if name not in known:
            raise ValueError(f"grid: {name!r} is not a number of this run; there are {', '.join(known)}")
    if not isinstance(grid, Mapping):
        return [{"seed": config.seed, **run} for run in grid]
    for name, values in grid.items():
        if np.ndim(values) != 1 or len(values) == 0:
            raise ValueError(f"grid: {name!r} is {show(values)}; it must be a list of values")
    if not isinstance(seeds, Iterable):
        seeds = range(config.seed, config.seed + whole_number("seeds", seeds, 1))
    starts = list(seeds)
    if not starts:
        raise ValueError("seeds is empty; there must be at least one")
    names = [*grid, "seed"]
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*grid.values(), starts)]


def _run_chunk(
    plan: Plan, lanes: list[Numbers], data: Data, num_nodes: int, epochs: int, saver: Saver, bar: Any
) -> tuple[State, dict[str, np.ndarray]]:
    """Train the runs of a chunk side by side until the last one is done.

    The steps of small graphs are too short for XLA to share between cores, so on a CPU the chunk is
    cut into one part per core, each run by a thread of its own.
    """
    size = -(-len(lanes) // _cores())
    full = lanes + lanes[-1:] * (-len(lanes) % size)  # equal parts are one compilation
    parts = [stack(full[i : i + size]) for i in range(0, len(full), size)]
    start, epoch_of = programs(plan, num_nodes)
    states, history = [start(numbers) for numbers in parts], []
    stored = saver.load(states, Report._fields)
    if stored is not None:
        states, history = stored.state, unstack_history(stored.history)
        bar.update(len(history))

    double = jnp.result_type(float) == jnp.float64  # a setting that a new thread does not inherit

    def advance(count: int, numbers: Numbers, state: State) -> tuple[State, list[Any]]:
        reports = []
        with jax.enable_x64(double):
            for _ in range(count):
                state, report = epoch_of(numbers, data, state)
                reports.append(report)
            return state, jax.device_get(reports)

    turn = 1
    with note_signals() as caught, ThreadPoolExecutor(len(parts)) as pool:
        while len(history) < epochs and any(np.asarray(state.alive).any() for state in states):
            started = time.perf_counter()
            turn = saver.before_due(len(history), min(turn, epochs - len(history)))
            results = list(pool.map(partial(advance, turn), parts, states))
            states = [state for state, _ in results]
            history += [_join(list(both), len(lanes)) for both in zip(*(r for _, r in results), strict=True)]
            bar.update(turn)
            turn = max(1, int(turn * TURN / (time.perf_counter() - started)))
            if caught:
                saver.save(states, stack_history(history))
                raise InterruptedTraining(saver.farewell(caught[0], len(history), epochs), None)
            saver.save_if_due(states, history, stack_history)
    bar.update(epochs - len(history))
    saver.save(states, stack_history(history))
    return _join([jax.device_get(state) for state in states], len(lanes)), stack_history(history)


def _cores() -> int:
    if jax.default_backend() != "cpu":
        return 1
    return cores()


def stack(trees: list[Any]) -> Any:
    """Runs side by side, on the device: every array with a leading axis."""
    return jax.device_put(jax.tree.map(lambda *xs: np.stack(xs), *trees))


def _join(trees: list[Any], lanes: int) -> Any:
    return jax.tree.map(lambda *xs: np.concatenate(xs)[:lanes], *trees)


@functools.cache
def programs(plan: Plan, num_nodes: int) -> tuple[Any, Any]:
    """Programs for runs side by side: numbers → states, and (numbers, data, states) → (states, reports)."""
    epoch_of: Any = partial(run_epoch, plan, lanes=MANY)
    if not plan.in_one_kernel:  # steps are taken at once, too
        epoch_of = jax.vmap(partial(run_epoch, plan), in_axes=(0, None, 0))
    return _starting(plan.optimizer, plan.learn, plan.tables, num_nodes), compiled(epoch_of)


@functools.cache
def _starting(optimizer: str, learn: tuple[str, ...], tables: str, num_nodes: int) -> Any:
    """Numbers → states; it takes as long to compile as an epoch, so plans share it that begin alike."""
    plan = Plan(1, Negatives(uniform=1), optimizer, "last", learn, tables)
    return jax.jit(jax.vmap(partial(init_state, plan, num_nodes=num_nodes)))


def _rows(
    config: Config, chunk: list[dict[str, Any]], state: State, history: dict[str, np.ndarray]
) -> list[dict[str, Any]]:
    rows = []
    for lane, settings in enumerate(chunk):
        reached, best = int(state.epoch[lane]), int(state.best_epoch[lane])
        status = "finished" if reached == config.last_epoch else "stopped early"
        if not state.alive[lane] and diverged(history["loss"], history["culprits"])[:, lane].any():
            status = f"diverged in epoch {reached + 1}"
        at = max(best - 1, 0)
        scores = {name: float(history[name][at, lane]) for name in ("loss", "valid_ap", "test_ap")}
        over_all = history["test_ap"][: max(reached, 1), lane]
        best_test = float(np.max(over_all)) if not np.isnan(over_all).all() else float("nan")
        rows.append({**settings, "status": status, "best_epoch": best, **scores, "best_test_ap": best_test})
    return rows
