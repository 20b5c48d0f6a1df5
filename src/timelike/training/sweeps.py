"""Many runs in one program: seeds and continuous settings are one more axis of the arrays."""

from __future__ import annotations

import dataclasses
import math
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from timelike._util.checks import positive_number, whole_number
from timelike._util.hardware import cores
from timelike._util.html_tables import html_table
from timelike._util.interrupts import note_signals
from timelike._util.progress import EpochBar
from timelike._util.threads import made_once
from timelike.core.model import Model
from timelike.embedding.embedding import Embedding
from timelike.engine.config import Config, EpochPlan, Numbers
from timelike.engine.epoch import Data, Report, State, compiled, compiled_once, init_state, run_epoch
from timelike.engine.negatives import PAIRS_PER_BLOCK, Negatives
from timelike.engine.passes import MANY
from timelike.engine.table_storage import wide
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.graphs.digraph import MOST_NODES, DiGraph
from timelike.training.checkpoint import Checkpointing, History, Saver, beside
from timelike.training.cost_model import WORD, workload_of
from timelike.training.grid import one_run, runs_of
from timelike.training.prepare import checked_start, digest, plain_numbers, prepare, settings_of
from timelike.training.training_loop import (
    InterruptedTraining,
    advance,
    diverged,
    embedding_of,
    stack_history,
    started,
    unstack_history,
)

#: Threads synchronise about every 0.1 seconds, and at least after every epoch.
#: Several short epochs make one turn.
TURN = 0.1

#: Bytes per drawn pair: nodes, weights and intermediate results.
DRAWN = 64


@dataclasses.dataclass(frozen=True, eq=False)
class Sweep:
    """A tidy table with one row per run, and the embedding of the best run by the selection score.

    Each row has the settings that vary, `status` ("finished", "stopped early" or "diverged in epoch n"),
    `best_epoch`, and `loss`, `valid_ap` and `test_ap` of that epoch; `best_test_ap` is the highest over all
    epochs, the paper's protocol. `runs` has the embedding of every row if `keep_all` was set.
    """

    rows: list[dict[str, Any]]
    best: Embedding
    runs: list[Embedding] = dataclasses.field(default_factory=list)

    def to_columns(self) -> dict[str, list[Any]]:
        """The table by columns, ready for `pandas.DataFrame` or `polars.DataFrame`."""
        return {name: [row[name] for row in self.rows] for name in self.rows[0]}

    def _repr_html_(self) -> str:
        return html_table(([i, *row.values()] for i, row in enumerate(self.rows)), ["", *self.rows[0]])


def sweep(
    graph: DiGraph,
    model: Model,
    config: Config | None = None,
    grid: Mapping[str, Sequence[float]] | Sequence[Mapping[str, Any]] | None = None,
    seeds: int | Iterable[int] = 1,
    *,
    valid: LabelledPairs | None = None,
    test: LabelledPairs | None = None,
    listed: np.ndarray | None = None,
    start: np.ndarray | None = None,
    keep_all: bool = False,
    memory: float = 2**31,
    threads: int | None = None,
    checkpoint: Checkpointing | str | os.PathLike | None = None,
    progress: bool | None = None,
    on_epoch: Callable[[range, int, np.ndarray], None] | None = None,
) -> Sweep:
    """Train every combination of `grid` with every seed, in as few programs as fit into `memory` bytes.

    A grid may vary learning_rate, final_rate, anneal, init_scale, clip and every number of the model: tau1,
    tau2, alpha, r, k, circumference, radius, … `grid` may also be a list of runs, each a dictionary of the
    same settings, which may include the seed. `start` holds initial points for every run, (runs, nodes,
    coordinates), instead of random ones around the origin. `keep_all` keeps the embeddings of all runs, for
    example as members of an `ensemble`, not only the best. `checkpoint` names a file to save the runs to and
    resume from; several programs get a file each. After every epoch of a program, `on_epoch` receives the
    rows of its runs, the number of epochs done, and the points of these runs. On a CPU, the runs of a program
    are divided among `threads` (default: one for each core), which may change the last digits.
    """
    config = Config() if config is None else config
    plan, data = prepare(graph, model, config, valid, test, listed)
    settings = runs_of(model, config, {} if grid is None else grid, seeds)
    if threads is not None:
        whole_number("threads", threads, 1)
    if start is not None:
        start = checked_start(start, model, (len(settings), graph.num_nodes))
    room = positive_number("memory", memory, finite=False) / _bytes_per_run(graph, model, config)
    size = max(1, int(min(room, MOST_NODES // graph.num_nodes)))
    chunks = [settings[i : i + size] for i in range(0, len(settings), size)]
    rows: list[dict[str, Any]] = []
    best: tuple[float, Embedding] | None = None
    runs: list[Embedding] = []
    for number, chunk in enumerate(chunks):
        text = f"{len(chunk)} runs" + f", part {number + 1} of {len(chunks)}" * (len(chunks) > 1)
        bar = EpochBar(config.last_epoch, text, progress)
        lanes = [one_run(model, config, run) for run in chunk]
        numbers = [plain_numbers(*lane) for lane in lanes]
        about = {**settings_of(graph, model, config, plan, data, listed), "runs": repr(chunk)}
        at = range(len(rows), len(rows) + len(chunk))
        begin = None if start is None else start[at.start : at.stop]
        if begin is not None:
            about["start"] = digest(begin)
        saver = Saver(beside(checkpoint, [str(number)] * (len(chunks) > 1)), about)
        watch = None if on_epoch is None else partial(on_epoch, at)
        state, history = _run_chunk(
            plan, numbers, data, graph, config.last_epoch, saver, bar, threads, begin, watch
        )
        new_rows = _rows(config, chunk, state, history)
        scores = [merit(plan.select, row) for row in new_rows]
        first = int(np.argmax(scores))
        rows += new_rows
        wanted = range(len(chunk)) if keep_all else [first]
        by_run = state, {name: np.moveaxis(values, 1, 0) for name, values in history.items()}
        embeddings = {
            i: embedding_of(graph, *lanes[i], plan, *jax.tree.map(lambda x, i=i: x[i], by_run))
            for i in wanted
        }
        if best is None or scores[first] > best[0]:
            best = (float(scores[first]), embeddings[first])
        runs += embeddings.values() if keep_all else []
    assert best is not None
    return Sweep(rows, best[1], runs)


def _bytes_per_run(graph: DiGraph, model: Model, config: Config) -> int:
    """Memory that runs do not share: tables, the rows of a step, and the pairs drawn together."""
    work = workload_of(graph, model, config)
    needed = work.nodes * work.bytes_per_node() + work.bytes_per_step() + DRAWN * PAIRS_PER_BLOCK
    return needed * jnp.result_type(float).itemsize // WORD


def _run_chunk(
    plan: EpochPlan,
    lanes: list[Numbers],
    data: Data,
    graph: DiGraph,
    epochs: int,
    saver: Saver,
    bar: EpochBar,
    threads: int | None = None,
    begin: np.ndarray | None = None,
    on_epoch: Callable[[int, np.ndarray], None] | None = None,
) -> tuple[State, History]:
    """Train the runs of a chunk side by side until all are done.

    The steps of small graphs are too short for XLA to use several cores. On a CPU, the chunk is therefore
    cut into one part per core, each with its own thread.
    """
    together = stack(lanes)
    cut = partial(_cut, count=threads or (cores() if jax.default_backend() == "cpu" else 1))
    parts, history = cut(together), []
    start, epoch_of = programs(plan, graph.num_nodes)
    stored = saver.load(jax.eval_shape(start, together), Report._fields)
    if stored is None:
        states = [start(numbers) for numbers in parts]
        if begin is not None:
            states = [started(state, some) for state, some in zip(states, cut(begin), strict=True)]
    else:
        states, history = cut(stored[0]), unstack_history(stored[1])
        bar.continue_after(len(history))

    double = jnp.result_type(float) == jnp.float64  # new threads do not inherit this setting

    def trained(count: int, numbers: Numbers, state: State) -> tuple[State, list[Any]]:
        reports = []
        with jax.enable_x64(double):
            for _ in range(count):
                state, report = epoch_of(numbers, data, state)
                reports.append(report)
            return state, jax.device_get(reports)

    def whole() -> State:
        return _join([jax.device_get(state) for state in states], len(lanes))

    turn = 1
    with bar, note_signals(saver.last_words) as caught, ThreadPoolExecutor(len(parts)) as pool:
        while len(history) < epochs and any(np.asarray(state.alive).any() for state in states):
            began = time.perf_counter()
            turn = saver.before_due(len(history), min(turn, epochs - len(history)))
            results = list(pool.map(partial(trained, turn), parts, states))
            states = [state for state, _ in results]
            history += [_join(list(both), len(lanes)) for both in zip(*(r for _, r in results), strict=True)]
            advance(bar, graph.num_edges, history[-turn:])
            turn = max(1, int(turn * TURN / (time.perf_counter() - began)))
            if on_epoch is not None:
                turn = 1
                on_epoch(
                    len(history), _join([np.asarray(wide(state.points)) for state in states], len(lanes))
                )
            if caught or saver.due(len(history)):
                saver.save(whole(), stack_history(history))
            if caught:
                raise InterruptedTraining(saver.farewell(caught[0], len(history), epochs), None)
    state = whole()
    saver.save(state, stack_history(history))
    return state, stack_history(history)


def stack(trees: list[Any]) -> Any:
    """Stack runs on the device: every array gets a leading axis."""
    return jax.device_put(jax.tree.map(lambda *xs: np.stack(xs), *trees))


def _cut(together: Any, count: int) -> list[Any]:
    """Cut stacked runs into `count` parts of one size and compilation; the last may repeat runs."""
    lanes = len(jax.tree.leaves(together)[0])
    size = -(-lanes // count)
    parts = [np.minimum(np.arange(i, i + size), lanes - 1) for i in range(0, lanes, size)]
    return [jax.tree.map(lambda x, part=part: jnp.array(np.asarray(x)[part]), together) for part in parts]


def _join(trees: list[Any], lanes: int) -> Any:
    return jax.tree.map(lambda *xs: np.concatenate(xs)[:lanes], *trees)


@made_once
def programs(plan: EpochPlan, num_nodes: int) -> tuple[Any, Any]:
    """Programs for stacked runs: numbers → states, and (numbers, data, states) → (states, reports)."""
    epoch_of: Any = partial(run_epoch, plan, lanes=MANY)
    if not plan.in_one_kernel:  # all runs take their steps at once
        epoch_of = jax.vmap(partial(run_epoch, plan), in_axes=(0, None, 0))
    return _starting(plan.optimizer, plan.learn, plan.tables, num_nodes), compiled(epoch_of)


@made_once
def _starting(optimizer: str, learn: tuple[str, ...], tables: str, num_nodes: int) -> Any:
    """Numbers → states; plans with the same start share it."""
    plan = EpochPlan(1, Negatives(uniform=1), optimizer, "last", learn, tables)
    return compiled_once(jax.vmap(partial(init_state, plan, num_nodes=num_nodes)))


def _rows(
    config: Config, chunk: list[dict[str, Any]], state: State, history: History
) -> list[dict[str, Any]]:
    rows = []
    broken = ~np.asarray(state.alive) & diverged(history["loss"], history["culprits"]).any(axis=0)
    for lane, settings in enumerate(chunk):
        reached, best = int(state.epoch[lane]), int(state.best_epoch[lane])
        status = "finished" if reached == config.last_epoch else "stopped early"
        if broken[lane]:
            status = f"diverged in epoch {reached + 1}"
        scores = {
            name: float(history[name][best - 1, lane]) if best else math.nan
            for name in ("loss", "valid_ap", "test_ap")
        }
        best_test = float(np.max(history["test_ap"][:reached, lane], initial=-np.inf))  # NaN if one is
        scores["best_test_ap"] = best_test if best_test > -np.inf else math.nan
        rows.append({**settings, "status": status, "best_epoch": best, **scores})
    return rows


def merit(select: str, row: Mapping[str, Any]) -> float:
    """The score that ranks rows: the selection score, or minus the loss if the last epoch is kept.

    By loss, a run that diverged ranks last: its loss is that of an early epoch and means nothing.
    """
    value = -row["loss"] if select == "last" else row[f"{select}_ap"]
    lost = math.isnan(value) or (select == "last" and row["status"].startswith("diverged"))
    return -math.inf if lost else value
