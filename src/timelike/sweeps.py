"""Many runs in one program: seeds and continuous settings as a vmapped axis."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from timelike.config import Config
from timelike.embedding import Embedding
from timelike.engine import PAIRS_PER_BLOCK, Data, Numbers, Plan, State, init_state, run_epoch
from timelike.evaluate import LabelledPairs
from timelike.graph import DiGraph
from timelike.model import Model
from timelike.training import SELECTED_BY, make_data, make_numbers, stack_history

#: Tables a run holds at once: the points, their last good and best copies, and one in transit.
TABLES = 4


@dataclasses.dataclass(frozen=True, eq=False)
class Sweep:
    """A tidy table, one row per run, and the embedding of the best run.

    Each row has the settings that were varied, `status` ("finished", "stopped early" or "diverged
    in epoch n"), `best_epoch`, `loss`, and `valid_ap` and `test_ap` of that epoch; `best_test_ap`
    is the highest over all epochs, the paper's protocol.
    """

    rows: list[dict[str, Any]]
    best: Embedding

    def to_columns(self) -> dict[str, list[Any]]:
        """The table by columns, ready for `pandas.DataFrame` or `polars.DataFrame`."""
        return {name: [row[name] for row in self.rows] for name in self.rows[0]}


def sweep(
    graph: DiGraph,
    model: Model,
    config: Config | None = None,
    grid: Mapping[str, Sequence[float]] | None = None,
    seeds: int | Iterable[int] = 1,
    *,
    valid: LabelledPairs | None = None,
    test: LabelledPairs | None = None,
    non_edges: np.ndarray | None = None,
    memory: float = 2**31,
    progress: bool | None = None,
) -> Sweep:
    """Train every combination of `grid` with every seed, as few programs as fit into `memory` bytes.

    Grid names are learning_rate, init_scale, clip and every number inside the model: tau1, tau2,
    alpha, r, k, circumference, radius, …
    """
    config = config or Config()
    plan = config.plan(valid is not None, test is not None)
    data = make_data(graph, plan, valid, test, non_edges)
    base = make_numbers(model, config)
    seed_list = range(config.seed, config.seed + seeds) if isinstance(seeds, int) else list(seeds)
    names = [*(grid or {}), "seed"]
    runs = list(itertools.product(*(grid or {}).values(), seed_list))
    settings = [dict(zip(names, values, strict=True)) for values in runs]
    size = max(1, int(memory // _bytes_per_run(plan, base, graph.num_nodes)))
    chunks = [settings[i : i + size] for i in range(0, len(settings), size)]
    rows: list[dict[str, Any]] = []
    best: tuple[float, Embedding] | None = None
    bar = tqdm(
        total=len(chunks) * config.epochs,
        desc=f"{len(settings)} runs",
        unit="epoch",
        disable=None if progress is None else not progress,
    )
    with bar:
        for chunk in chunks:
            state, history = _run_chunk(plan, base, data, chunk, graph.num_nodes, bar)
            rows += _rows(plan, chunk, state, history)
            lane = int(np.argmax(np.where(np.isfinite(state.best_score), state.best_score, -np.inf)))
            score = float(state.best_score[lane])
            if best is None or score > best[0]:
                best = score, _lane(graph, plan, config, model, chunk[lane], state, history, lane)
    assert best is not None
    return Sweep(rows, best[1])


def with_numbers(base: Numbers, settings: Mapping[str, Any]) -> Numbers:
    """`base` with some numbers replaced, by name, wherever in the model they are."""
    leaves, structure = jax.tree_util.tree_flatten_with_path(base)
    known = [path[-1].name for path, _ in leaves]
    unknown = sorted(set(settings) - set(known))
    if unknown:
        raise ValueError(f"grid: {unknown[0]!r} is not a number of this run; there are {', '.join(known)}")
    values = [
        jnp.asarray(settings.get(k, x), jnp.asarray(x).dtype) for k, (_, x) in zip(known, leaves, strict=True)
    ]
    return jax.tree.unflatten(structure, values)


def _bytes_per_run(plan: Plan, base: Numbers, num_nodes: int) -> int:
    points = jax.eval_shape(partial(init_state, plan, num_nodes=num_nodes), base)
    tables = TABLES * points.points.size + sum(x.size for x in jax.tree.leaves(points.optimizer))
    return int(points.points.dtype.itemsize * tables + 4 * num_nodes + 64 * PAIRS_PER_BLOCK)


def _run_chunk(
    plan: Plan, base: Numbers, data: Data, chunk: list[dict[str, Any]], num_nodes: int, bar: Any
) -> tuple[State, dict[str, np.ndarray]]:
    """Train the runs of a chunk side by side until the last one is done.

    The steps of small graphs are too short for XLA to share between cores, so on a CPU the chunk is
    cut into one part per core; they run at the same time, being dispatched before any is waited for.
    """
    lanes = [with_numbers(base, settings) for settings in chunk]
    cores = (os.cpu_count() or 1) if jax.default_backend() == "cpu" else 1
    size = -(-len(lanes) // cores)
    parts = [_stack(lanes[i : i + size]) for i in range(0, len(lanes), size)]
    start, epoch_of = _vmapped(plan, num_nodes)
    states, history = [start(numbers) for numbers in parts], []
    for epoch in range(plan.epochs):
        results = [epoch_of(numbers, data, state) for numbers, state in zip(parts, states, strict=True)]
        states = [state for state, _ in results]
        history.append(_join([jax.device_get(report) for _, report in results]))
        bar.update()
        if not any(np.asarray(state.alive).any() for state in states):
            bar.update(plan.epochs - epoch - 1)
            break
    return _join([jax.device_get(state) for state in states]), stack_history(history)


def _stack(trees: list[Any]) -> Any:
    return jax.tree.map(lambda *xs: jnp.stack(xs), *trees)


def _join(trees: list[Any]) -> Any:
    return jax.tree.map(lambda *xs: np.concatenate(xs), *trees)


@functools.cache
def _vmapped(plan: Plan, num_nodes: int) -> tuple[Any, Any]:
    start = jax.jit(jax.vmap(partial(init_state, plan, num_nodes=num_nodes)))
    epoch_of = jax.vmap(partial(run_epoch, plan), in_axes=(0, None, 0))
    return start, jax.jit(epoch_of, donate_argnums=2)


def _rows(
    plan: Plan, chunk: list[dict[str, Any]], state: State, history: dict[str, np.ndarray]
) -> list[dict[str, Any]]:
    rows = []
    for lane, settings in enumerate(chunk):
        reached, best = int(state.epoch[lane]), int(state.best_epoch[lane])
        status = "finished" if reached == plan.epochs else "stopped early"
        if not state.alive[lane] and (history["culprits"][:, lane, 0] >= 0).any():
            status = f"diverged in epoch {reached + 1}"
        at = max(best - 1, 0)
        scores = {name: float(history[name][at, lane]) for name in ("loss", "valid_ap", "test_ap")}
        over_all = history["test_ap"][: max(reached, 1), lane]
        best_test = float(np.max(over_all)) if not np.isnan(over_all).all() else float("nan")
        rows.append({**settings, "status": status, "best_epoch": best, **scores, "best_test_ap": best_test})
    return rows


def _lane(
    graph: DiGraph,
    plan: Plan,
    config: Config,
    model: Model,
    settings: dict[str, Any],
    state: State,
    history: dict[str, np.ndarray],
    lane: int,
) -> Embedding:
    chosen = with_numbers(make_numbers(model, config), settings).model
    columns = {name: values[:, lane] for name, values in history.items() if name != "culprits"}
    info = {
        "config": {**config.to_dict(), **settings},
        "selected_by": SELECTED_BY[plan.select],
        "best_epoch": int(state.best_epoch[lane]),
        "graph": repr(graph),
    }
    return Embedding(
        jax.tree.map(float, chosen), np.asarray(state.best_points[lane]), graph.names, columns, info
    )
