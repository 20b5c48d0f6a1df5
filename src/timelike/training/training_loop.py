"""The training loop: one compiled program per epoch, with checkpoints, progress and diagnosis around it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from timelike._util.interrupts import note_signals
from timelike._util.threads import made_once
from timelike.core.model import Model
from timelike.core.struct import numbers_of, with_numbers, with_reals
from timelike.embedding.embedding import Embedding
from timelike.engine.config import Config, EpochPlan
from timelike.engine.epoch import Report, State, compiled, compiled_once, init_state, run_epoch
from timelike.engine.padded_edges import Room
from timelike.engine.table_storage import narrow, wide
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.graphs.node_names import Names
from timelike.io.edge_shards import AnyGraph, EdgeShards
from timelike.training.checkpoint import Checkpointing, History, Saver
from timelike.training.prepare import checked_start, digest, edges_of, make_numbers, prepare, settings_of
from timelike.training.stream import Stream

SELECTED_BY = {
    "valid": "best validation AP",
    "test": "best test AP (the paper's protocol)",
    "last": "last epoch",
}

#: Temperatures below COLD, and learning rates outside LOW … HIGH, are unusual.
COLD, LOW, HIGH = 0.01, 1e-4, 1.0


class DivergedError(ArithmeticError):
    """Training met a non-finite number; `embedding` holds the best epoch before that."""

    def __init__(self, message: str, epoch: int, embedding: Embedding):
        super().__init__(message)
        self.epoch = epoch
        self.embedding = embedding


class InterruptedTraining(KeyboardInterrupt):
    """A signal stopped training at the end of an epoch.

    `embedding` holds the best epoch so far; it is None after runs side by side or on many processes.
    """

    def __init__(self, message: str, embedding: Embedding | None):
        super().__init__(message)
        self.embedding = embedding


def train(
    graph: AnyGraph,
    model: Model,
    config: Config | None = None,
    *,
    valid: LabelledPairs | None = None,
    test: LabelledPairs | None = None,
    listed: np.ndarray | None = None,
    start: np.ndarray | None = None,
    room: Room | None = None,
    checkpoint: Checkpointing | str | os.PathLike | None = None,
    progress: bool | None = None,
    on_epoch: Callable[[int, np.ndarray], None] | None = None,
) -> Embedding:
    """Learn a point for every node of `graph` by pseudo-Riemannian descent on the likelihood `model`.

    `EdgeShards` are streamed to the device in parts. `valid` pairs choose the epoch to keep; `test` pairs are
    only scored, unless `config.select` is "test". `Negatives(listed=…)` draws from `listed`, an (n, 2) array.
    `start` has an initial point for every node, instead of random ones around the origin. Runs on graphs of
    the same nodes in the same `room` share a compiled program. `checkpoint` names a file to save the run to
    and resume from. `progress` shows a bar on stderr (default: if it is a terminal). `on_epoch` is called
    with the number of finished epochs, from 0 on, and the points.
    """
    config = Config() if config is None else config
    plan, data = prepare(graph, model, config, valid, test, listed, alone=True, room=room)
    numbers = make_numbers(model, config)
    state = _initial(plan, graph.num_nodes)(numbers)
    if start is not None:
        state = started(state, checked_start(start, model, (graph.num_nodes,)))
    history: list[Report] = []
    settings = {} if checkpoint is None else settings_of(graph, model, config, plan, data, listed)
    saver = Saver(checkpoint, settings if start is None else {**settings, "start": digest(start)})
    stored = saver.load(state, Report._fields)
    if stored is not None:
        state, history = stored[0], unstack_history(stored[1])

    def finish() -> Embedding:
        return embedding_of(graph, model, config, plan, state, stack_history(history))

    epoch_of = Stream(plan, graph, listed) if isinstance(graph, EdgeShards) else _compiled(plan)
    if on_epoch is not None:
        on_epoch(len(history), np.asarray(wide(state.points)))
    bar = epochs_bar(config.last_epoch, "training", progress, len(history))
    if isinstance(epoch_of, Stream):
        epoch_of.on_part = lambda begun, of: bar.set_postfix_str(f"part {begun} of {of}")
    with bar, note_signals(saver.last_words) as caught:
        while len(history) < config.last_epoch and bool(state.alive):
            state, report = epoch_of(numbers, data, state)
            history.append(jax.device_get(report))
            _show(bar, graph, history)
            if diverged(history[-1].loss, history[-1].culprits):
                saver.save(state._replace(alive=jnp.ones((), bool)), stack_history(history[:-1]))
                nodes = [str(graph.name(i)) for i in history[-1].culprits if i >= 0]
                began = bool(np.isfinite(wide(state.points)).all())
                message = diagnosis(nodes, model, config, len(history), began)
                raise DivergedError(message, len(history), finish())
            if on_epoch is not None:
                on_epoch(len(history), np.asarray(wide(state.points)))
            if caught or saver.due(len(history)):
                saver.save(state, stack_history(history))
            if caught:
                stopped = saver.farewell(caught[0], len(history), config.last_epoch)
                raise InterruptedTraining(stopped, finish())
    saver.save(state, stack_history(history))
    return finish()


def epochs_bar(epochs: int, text: str, progress: bool | None, done: int = 0) -> Any:
    """A progress bar on stderr (default: if it is a terminal)."""
    hidden = None if progress is None else not progress
    return tqdm(total=epochs, initial=done, desc=text, unit="epoch", disable=hidden)


def started(state: State, start: np.ndarray) -> State:
    """The same state with `start` as points, of one run or of several side by side."""
    points, best = (narrow(jnp.array(start, state.best_score.dtype), state.points.dtype) for _ in range(2))
    return state._replace(points=points, best_points=best)


@made_once
def _compiled(plan: EpochPlan) -> Any:
    return compiled(partial(run_epoch, plan))


@made_once
def _initial(plan: EpochPlan, num_nodes: int) -> Any:
    return compiled_once(partial(init_state, plan, num_nodes=num_nodes))


def stack_history(history: list[Report]) -> History:
    """One array per quantity, an entry per epoch."""
    return {name: np.stack([getattr(r, name) for r in history]) for name in Report._fields} if history else {}


def unstack_history(columns: History) -> list[Report]:
    """The inverse of `stack_history`."""
    return [Report(*(columns[name][i] for name in Report._fields)) for i in range(len(columns["loss"]))]


def embedding_of(
    graph: AnyGraph, model: Model, config: Config, plan: EpochPlan, state: State, history: History
) -> Embedding:
    """The result of one run, from its last state and its history."""
    checksum = graph.checksum if isinstance(graph, EdgeShards) else digest(*edges_of(graph)[:2])
    info = {"graph": repr(graph), "checksum": checksum}
    history = {name: values[: int(state.epoch)] for name, values in history.items()}  # without a failed epoch
    points, best = np.asarray(wide(state.best_points)), int(state.best_epoch)
    return make_embedding(model, config, plan, points, graph.names, history, best, state.best_reals, info)


def make_embedding(
    model: Model,
    config: Config,
    plan: EpochPlan,
    points: np.ndarray,
    names: Names | None,
    history: History,
    best: int,
    reals: Any,
    about: dict[str, Any],
) -> Embedding:
    """The points and learned numbers of epoch `best`, with what is known `about` the run."""
    columns = {name: values for name, values in history.items() if name != "culprits"}
    info = {"config": config.to_dict(), "selected_by": SELECTED_BY[plan.select], "best_epoch": best, **about}
    if plan.learn:
        numbers = numbers_of(with_reals(model, reals))
        info["learned"] = {name: float(numbers[name]) for name in plan.learn}
        model = with_numbers(model, info["learned"])
    for name in ("valid_ap", "test_ap"):
        if best and not np.isnan(columns[name][best - 1]):
            info[name] = float(columns[name][best - 1])
    return Embedding(model, points, names, columns, info)


def _show(bar: Any, graph: AnyGraph, history: list[Report]) -> None:
    report = history[-1]
    rate = bar.format_dict["rate"]
    shown = {"loss": f"{report.loss / graph.num_edges:.3f}"}
    if not np.isnan(report.valid_ap):
        shown["valid AP"] = f"{report.valid_ap:.3f}"
    if rate:
        shown["edges/s"] = f"{rate * graph.num_edges:,.0f}"
    bar.set_postfix(shown, refresh=False)
    bar.update()


def diverged(loss: Any, culprits: Any) -> np.ndarray:
    """Whether an epoch met a non-finite number, according to its report."""
    return (culprits[..., 0] >= 0) | ~np.isfinite(loss)


def diagnosis(nodes: list[str], model: Model, config: Config, epoch: int, began: bool = True) -> str:
    """What happened, where, and what to change; `began`: the epoch began with finite points."""
    where = f" in the points of {', '.join(nodes)}" if nodes else ""
    return f"training diverged in epoch {epoch}: non-finite numbers{where}; {_cure(model, config, began)}"


def _cure(model: Model, config: Config, began: bool) -> str:
    rate, clip = config.learning_rate, ", or set clip (for example 10)" if np.isinf(config.clip) else ""
    if not began:
        return f"the initial points are already non-finite: set init_scale below {config.init_scale:g}"
    temperatures = {k: float(np.min(v)) for k, v in numbers_of(model).items() if k.startswith("tau")}
    coldest = min(temperatures, key=temperatures.get, default=None)  # type: ignore[arg-type]
    if rate < HIGH and coldest is not None and temperatures[coldest] < COLD:
        return f"{coldest} = {temperatures[coldest]:g} is very low: raise it{clip}"
    if rate < LOW:
        return f"the learning rate {rate:g} is low: check for very large weights, radius or start points"
    return f"the learning rate {rate:g} is probably too high: try {min(rate / 4, HIGH):g}{clip}"
