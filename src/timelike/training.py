"""Training: one compiled program per epoch, and around it checkpoints, progress and diagnosis."""

from __future__ import annotations

import functools
import hashlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from timelike import checkpoint as checkpoints
from timelike._struct import numbers_of
from timelike.config import Config
from timelike.embedding import Embedding
from timelike.engine import Data, Numbers, Plan, Report, State, init_state, run_epoch
from timelike.evaluate import LabelledPairs
from timelike.graph import DiGraph
from timelike.model import Model
from timelike.sampling import EdgeTable

SELECTED_BY = {
    "valid": "best validation AP",
    "test": "best test AP (the paper's protocol)",
    "last": "last epoch",
}


class Checkpointing(NamedTuple):
    """Where to keep a run between epochs, and how often: every n epochs or every so many seconds."""

    path: str | os.PathLike
    every_epochs: int | None = None
    every_seconds: float = 30.0
    resume: bool = True


class DivergedError(ArithmeticError):
    """Training met a number that is not finite; `embedding` holds the last good state."""

    def __init__(self, message: str, epoch: int, embedding: Embedding):
        super().__init__(message)
        self.epoch = epoch
        self.embedding = embedding


class InterruptedTraining(KeyboardInterrupt):
    """A signal stopped training at the end of an epoch; `embedding` holds what was learned so far."""

    def __init__(self, message: str, embedding: Embedding):
        super().__init__(message)
        self.embedding = embedding


def train(
    graph: DiGraph,
    model: Model,
    config: Config | None = None,
    *,
    valid: LabelledPairs | None = None,
    test: LabelledPairs | None = None,
    non_edges: np.ndarray | None = None,
    checkpoint: Checkpointing | None = None,
    progress: bool | None = None,
) -> Embedding:
    """Learn a point for every node of `graph` by pseudo-Riemannian descent on the likelihood `model`.

    `valid` pairs choose the epoch that is kept; `test` pairs are only scored, unless the config
    says otherwise. `non_edges` is an (n, 2) array to draw `Negatives(listed=…)` from. `progress`
    shows a bar on stderr (None: if it is a terminal).
    """
    config = config or Config()
    plan = config.plan(valid is not None, test is not None)
    data = make_data(graph, plan, valid, test, non_edges)
    numbers = make_numbers(model, config)
    state = _initial(plan, graph.num_nodes)(numbers)
    history: list[Report] = []
    settings = _settings(graph, model, config)
    if checkpoint is not None and checkpoint.resume and Path(checkpoint.path).exists():
        state, stored = checkpoints.read(Path(checkpoint.path), state, settings)
        history = [Report(*(stored[name][i] for name in Report._fields)) for i in range(len(stored["loss"]))]

    def finish() -> Embedding:
        return make_embedding(graph, model, config.to_dict(), plan, state, stack_history(history))

    epoch_of = _compiled(plan)
    saver = _Saver(checkpoint, settings)
    bar = tqdm(
        total=config.epochs,
        initial=len(history),
        desc="training",
        unit="epoch",
        disable=None if progress is None else not progress,
    )
    with bar, _signals() as caught:
        while len(history) < config.epochs and bool(state.alive):
            state, report = epoch_of(numbers, data, state)
            history.append(jax.device_get(report))
            _show(bar, graph, history)
            if diverged(history[-1].loss, history[-1].culprits):
                saver.save(state, history[:-1])
                raise DivergedError(_diagnosis(graph, model, config, history), len(history), finish())
            if caught:
                saver.save(state, history)
                raise InterruptedTraining(saver.farewell(caught[0], len(history), config.epochs), finish())
            saver.save_if_due(state, history)
    saver.save(state, history)
    return finish()


def make_data(
    graph: DiGraph,
    plan: Plan,
    valid: LabelledPairs | None,
    test: LabelledPairs | None,
    non_edges: np.ndarray | None,
) -> Data:
    """Check what is to be learned and copy it to the device."""
    if graph.num_edges == 0:
        raise ValueError(f"{graph} has no edges to learn from")
    if plan.negatives.listed and (non_edges is None or len(non_edges) == 0):
        raise ValueError("Negatives: listed is set but no non_edges were given to draw from")
    for name, pairs in (("valid", valid), ("test", test)):
        if pairs is not None and not (bool(pairs.labels.any()) and not bool(pairs.labels.all())):
            raise ValueError(f"{name} must hold at least one positive and one negative pair")
    return Data(EdgeTable.build(graph, non_edges, plan.negatives), valid, test)


def make_numbers(model: Model, config: Config) -> Numbers:
    """The continuous settings as arrays: another value is not another compilation."""
    f = partial(jnp.asarray, dtype=jnp.result_type(float))
    return Numbers(
        jax.tree.map(f, model),
        f(config.learning_rate),
        f(config.init_scale),
        f(config.clip),
        jnp.asarray(config.seed),
    )


@functools.cache
def _compiled(plan: Plan) -> Any:
    return jax.jit(partial(run_epoch, plan), donate_argnums=2)


@functools.cache
def _initial(plan: Plan, num_nodes: int) -> Any:
    return jax.jit(partial(init_state, plan, num_nodes=num_nodes))


def stack_history(history: list[Report]) -> dict[str, np.ndarray]:
    """One array per quantity, an entry per epoch."""
    return {name: np.stack([getattr(r, name) for r in history]) for name in Report._fields} if history else {}


def make_embedding(
    graph: DiGraph,
    model: Model,
    settings: dict[str, Any],
    plan: Plan,
    state: State,
    history: dict[str, np.ndarray],
) -> Embedding:
    """The result of one run, from its last state and its history."""
    columns = {name: values for name, values in history.items() if name != "culprits"}
    best = int(state.best_epoch)
    info = {
        "config": settings,
        "selected_by": SELECTED_BY[plan.select],
        "best_epoch": best,
        "graph": repr(graph),
    }
    for name in ("valid_ap", "test_ap"):
        if best and not np.isnan(columns[name][best - 1]):
            info[name] = float(columns[name][best - 1])
    return Embedding(model, np.asarray(state.best_points), graph.names, columns, info)


def _show(bar: Any, graph: DiGraph, history: list[Report]) -> None:
    report = history[-1]
    rate = bar.format_dict["rate"]
    shown = {"loss": f"{report.loss / graph.num_edges:.3f}"}
    if not np.isnan(report.valid_ap):
        shown["valid AP"] = f"{report.valid_ap:.3f}"
    if rate:
        shown["edges/s"] = f"{rate * graph.num_edges:,.0f}"
    bar.set_postfix(shown, refresh=False)
    bar.update()


def diverged(loss: np.ndarray, culprits: np.ndarray) -> np.ndarray:
    """Whether an epoch met a number that is not finite, by what it reports."""
    return (culprits[..., 0] >= 0) | ~np.isfinite(loss)


def _diagnosis(graph: DiGraph, model: Model, config: Config, history: list[Report]) -> str:
    """What happened, where, and what to change."""
    nodes = [str(graph.name(i)) for i in history[-1].culprits if i >= 0]
    where = f" in the points of {', '.join(nodes)}" if nodes else ""
    temperatures = {k: float(np.min(v)) for k, v in numbers_of(model).items() if k.startswith("tau")}
    coldest = min(temperatures, key=temperatures.get, default=None)  # type: ignore[arg-type]
    if coldest is not None and temperatures[coldest] < 0.01:
        cure = f"{coldest} = {temperatures[coldest]:g} is very cold: raise it, or set clip (say 10)"
    else:
        rate = config.learning_rate
        cure = f"the learning rate {rate:g} is most likely too high: try {rate / 4:g}, or set clip (say 10)"
    return f"training diverged in epoch {len(history)}: not-finite numbers{where}; {cure}"


def _settings(graph: DiGraph, model: Model, config: Config) -> dict[str, Any]:
    """What must be the same for a checkpoint to be continued."""
    digest = hashlib.sha256()
    for array in (graph.sources, graph.targets, graph.weights):
        digest.update(b"" if array is None else np.ascontiguousarray(array).tobytes())
    return {
        **config.to_dict(),
        "model": repr(model),
        "nodes": graph.num_nodes,
        "edges": digest.hexdigest()[:16],
    }


class _Saver:
    """Writes checkpoints when they are due, and at the end."""

    def __init__(self, plan: Checkpointing | None, settings: dict[str, Any]):
        self.plan, self.settings = plan, settings
        self.epoch, self.time = 0, time.monotonic()

    def save_if_due(self, state: State, history: list[Report]) -> None:
        if self.plan is None:
            return
        late = time.monotonic() - self.time >= self.plan.every_seconds
        if self.plan.every_epochs is not None:
            late = len(history) % self.plan.every_epochs == 0
        if late:
            self.save(state, history)

    def save(self, state: State, history: list[Report]) -> None:
        if self.plan is None or not history:
            return
        checkpoints.write(Path(self.plan.path), state, stack_history(history), self.settings)
        self.time = time.monotonic()

    def farewell(self, name: str, epoch: int, epochs: int) -> str:
        done = f"{name}: stopped after epoch {epoch} of {epochs}"
        if self.plan is None:
            return f"{done}; nothing was saved (no checkpoint was asked for)"
        return f"{done}; saved to {self.plan.path}, run the same again to resume"


@contextmanager
def _signals() -> Iterator[list[str]]:
    """Collect SIGINT and SIGTERM instead of dying in the middle of an epoch; a second one dies."""
    caught: list[str] = []
    if threading.current_thread() is not threading.main_thread():
        yield caught
        return

    def note(number: int, _: FrameType | None) -> None:
        if caught:
            raise KeyboardInterrupt
        caught.append(signal.Signals(number).name)

    old = {s: signal.signal(s, note) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield caught
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
