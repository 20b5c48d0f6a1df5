"""Training on many processes: `timelike.train` with tables and edges spread over them.

Each process writes its rows of a checkpoint; any number of processes can resume.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np

from timelike._util.interrupts import note_signals
from timelike._util.progress import EpochBar
from timelike.core.hashed_random import Shuffle
from timelike.core.model import Model
from timelike.distributed.node_dealing import places
from timelike.distributed.sharded_edges import edge_sum, over_processes, own_nodes, rows_of, spread
from timelike.distributed.sharded_run import (
    collect,
    drawing,
    drawn_together,
    looking,
    mesh_of_all,
    spread_pairs,
    start,
    stepping,
)
from timelike.embedding.embedding import Embedding
from timelike.engine.config import Config, in_epoch
from timelike.engine.epoch import NAMED_CULPRITS, Report
from timelike.engine.passes import Blocks, Tally
from timelike.engine.table_storage import check_storage
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.graphs.digraph import DiGraph
from timelike.graphs.node_names import Names
from timelike.training.checkpoint import check_settings
from timelike.training.cost_model import rounded_bucket
from timelike.training.prepare import make_numbers
from timelike.training.training_loop import (
    InterruptedTraining,
    advance,
    diagnosis,
    diverged,
    make_embedding,
    stack_history,
    unstack_history,
)

#: Default seconds between checkpoints.
SECONDS = 60.0

#: Number of checkpoints to keep; the one before stays until the new one is written.
KEPT = 1

#: The sums of an epoch before its first block.
NOTHING: Any = Tally(*cast(Any, [np.zeros(())] * 6))


class Best(NamedTuple):
    """The epoch to keep: score, number, points (None if the last epoch is always kept), learned reals."""

    score: float
    epoch: int
    points: jax.Array | None
    reals: dict[str, jax.Array]


class Keeper:
    """A folder that all processes see, with the latest checkpoint of a run."""

    def __init__(self, folder: Path, settings: dict[str, Any]):
        try:
            import orbax.checkpoint as orbax
        except ImportError:
            raise ImportError('several processes need orbax: pip install "timelike[scale]"') from None
        self.folder, self.settings = folder.absolute(), json.loads(json.dumps(settings))
        self._as = orbax.args
        options = orbax.CheckpointManagerOptions(max_to_keep=KEPT, enable_async_checkpointing=False)
        self._manager = orbax.CheckpointManager(self.folder, options=options)

    def save(self, step: int, arrays: Mapping[str, jax.Array], about: dict[str, Any]) -> None:
        """Write the arrays and `about`; all processes must call this at the same step."""
        metadata = self._as.JsonSave({"settings": self.settings, **about})
        items = {"arrays": self._as.StandardSave(dict(arrays)), "about": metadata}
        self._manager.save(step, args=self._as.Composite(**items), force=True)
        self._manager.wait_until_finished()

    def load(self, like: Mapping[str, jax.Array]) -> tuple[dict[str, jax.Array], dict[str, Any]] | None:
        """The latest checkpoint, sharded like these arrays, or None.

        The number of rows past the last node depends on the number of processes: rows are cut or added.
        """
        step = self._manager.latest_step()
        if step is None:
            return None
        only = self._as.Composite(about=self._as.JsonRestore())
        about = self._manager.restore(step, args=only).about
        check_settings(self.folder, about.get("settings"), self.settings)
        wanted = {
            name: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=x.sharding) for name, x in like.items()
        }
        restore = self._as.StandardRestore(wanted, strict=False)
        arrays = self._manager.restore(step, args=self._as.Composite(arrays=restore)).arrays
        return dict(arrays), about


class Run:
    """A run, which all processes make with the same arguments.

    Only the edges of the `dealt` graph (see `node_dealing.dealt`) differ: each process needs those that leave
    its own nodes. `valid` pairs use the original node numbers. `checkpoint` is a folder that all processes
    see, to save the run to and resume from.
    """

    def __init__(
        self,
        dealt: DiGraph,
        model: Model,
        config: Config,
        valid: LabelledPairs | None = None,
        checkpoint: Path | None = None,
        every_seconds: float = SECONDS,
    ):
        self.model, self.config, self.every_seconds = model, config, every_seconds
        self.nodes, self.plan = dealt.num_nodes, config.epoch_plan(valid is not None, False)
        if self.plan.dense:
            raise ValueError(
                f'optimizer is {config.optimizer!r}, which moves every node; several processes need "adam"'
            )
        check_storage(config.tables, model.manifold)
        self.mesh = mesh_of_all()
        rows = rows_of(self.mesh, self.nodes)
        self.edges = spread(self.mesh, dealt, self.plan, rows)
        self.numbers = make_numbers(model, config)
        self.pairs = None if valid is None else spread_pairs(self.mesh, valid, self.nodes)
        self.bucket = 0  # the size that the steps are compiled for
        self.cut = Blocks.of(self.plan, math.prod(Shuffle.grid(self.edges.num_edges)))
        self.blocks = -(-self.cut.blocks // drawn_together(self.cut))  # of an epoch, as drawn
        self.tables = start(self.mesh, self.plan, self.numbers, rows)
        points = jnp.copy(self.tables.points) if self.plan.select != "last" else None
        self.best = Best(-np.inf, 0, points, self.tables.learned.reals)
        self.history: list[Report] = []
        self.block, self.tally = 0, NOTHING
        self.keeper = None
        self.saved = time.monotonic()
        if checkpoint is not None:
            self.keeper = Keeper(checkpoint, self._settings(dealt))
            self._resume()

    def finish(self, names: Names | None = None, progress: bool | None = None) -> Embedding | None:
        """Train to the end; returns the embedding in process 0, None in the others."""
        text = f"training on {jax.process_count()} processes"
        shown = False if jax.process_index() else progress
        bar = EpochBar(self.config.last_epoch, text, shown, len(self.history))
        with bar, note_signals() as caught:
            while len(self.history) < self.config.last_epoch and not self._out_of_patience():
                self.advance()
                advance(bar, self.edges.num_edges, self.history[bar.done :])
                self._keep(caught)
        self.save()
        return self._embedding(names)

    def advance(self) -> None:
        """Train on one block; after the last block of an epoch, report the epoch."""
        epoch, numbers = len(self.history), self.numbers
        key, step, model = in_epoch(numbers, jnp.asarray(epoch), numbers.learning_rate.dtype)
        block, rejected = drawing(self.mesh, self.plan)(self.edges, key, jnp.asarray(self.block))
        needed = int(np.max(block.wanted.most))
        self.bucket = self.bucket if needed <= self.bucket else rounded_bucket(needed)
        program = stepping(self.mesh, self.plan, self.edges.rows, self.bucket)
        self.tables, tally = program(model, step, block, self.tables)
        tally = jax.tree.map(lambda x: x.item(), jax.device_get(tally))._replace(rejected=int(rejected))
        self.tally, self.block = jax.tree.map(lambda a, b: a + b, self.tally, tally), self.block + 1
        if self.block < self.blocks and np.isfinite(tally.loss):
            return
        report = self.report()
        if diverged(report.loss, report.culprits):
            dealt = places(np.arange(self.nodes), self.nodes)
            nodes = [str(np.flatnonzero(dealt == i)[0]) for i in report.culprits if i >= 0]
            raise ArithmeticError(diagnosis(nodes, self.model, self.config, epoch + 1))
        self.history.append(report)
        self.block, self.tally = 0, NOTHING
        self._select(report)

    def report(self) -> Report:
        """The report of an epoch, the same in every process."""
        nodes, tally = self.nodes, self.tally
        first_bad, off_surface, score, learns = looking(self.mesh, nodes, self.edges.rows)(
            self.numbers.model, self.pairs, self.tables.points, self.tables.learned
        )
        culprits = [*np.unique(first_bad[first_bad < nodes]), *[-1] * NAMED_CULPRITS][:NAMED_CULPRITS]
        report: dict[str, Any] = {
            "loss": tally.loss if learns else np.nan,
            "gradient_norm": tally.gradient_norm / np.maximum(tally.rows, 1),  # a diverged run has no rows
            "saturated": tally.saturated / tally.pairs,
            "off_surface": off_surface,
            "rejected": tally.rejected,
            "left_out": self.edges.num_edges * (1 + self.plan.negatives.total) - tally.pairs,
            "valid_ap": score,
            "test_ap": np.nan,
            "culprits": culprits,
        }
        return Report(**jax.tree.map(np.asarray, report, is_leaf=lambda x: isinstance(x, list)))

    def _select(self, report: Report) -> None:
        """Keep the best epoch by the chosen score."""
        reals = self.tables.learned.reals
        if self.plan.select == "last":
            self.best = Best(0.0, len(self.history), None, reals)
        elif report.valid_ap > self.best.score:
            points = jnp.copy(self.tables.points)
            self.best = Best(float(report.valid_ap), len(self.history), points, reals)

    def _out_of_patience(self) -> bool:
        since = max(self.best.epoch, self.config.burn_in)
        return self.config.patience is not None and len(self.history) - since >= self.config.patience

    def _keep(self, caught: list[str]) -> None:
        """Save if it is time, and stop if any process got a signal; all processes act together."""
        due = time.monotonic() - self.saved >= self.every_seconds
        stop, due = over_processes(np.array([bool(caught), due])).any(axis=0)
        if stop or due:
            self.save()
        if stop:
            saved = "nothing was saved" if self.keeper is None else f"saved to {self.keeper.folder}"
            done = f"stopped in epoch {len(self.history) + 1} of {self.config.last_epoch}; {saved}"
            raise InterruptedTraining(f"{caught[0] if caught else 'another process'}: {done}", None)

    def _settings(self, dealt: DiGraph) -> dict[str, Any]:
        """What must be the same to resume a checkpoint; the number of processes may differ."""
        own = own_nodes(self.mesh, self.edges.rows)
        learned = {"model": repr(self.model), "nodes": self.nodes, "edges": self.edges.num_edges}
        learned["sum of edges"] = int(over_processes(edge_sum(dealt, *own)).sum() % 2**31)
        learned["blocks of an epoch"] = self.blocks
        return {**self.config.to_dict(), **learned, "selected by": self.plan.select}

    def _tree(self) -> tuple[Any, ...]:
        tables, best = self.tables, self.best
        return tables.points, tables.optimizer, tables.learned, best.points, best.reals

    def _arrays(self) -> dict[str, jax.Array]:
        """The arrays of a checkpoint, by name."""
        leaves = jax.tree_util.tree_flatten_with_path(self._tree())[0]
        return {jax.tree_util.keystr(path): leaf for path, leaf in leaves}

    def save(self) -> None:
        """Write a checkpoint, if there is a folder for it."""
        self.saved = time.monotonic()
        if self.keeper is None:
            return
        about = {
            "block": self.block,
            "tally": self.tally._asdict(),
            "history": stack_history(self.history),
            "best": [self.best.score, self.best.epoch],
        }
        step = len(self.history) * self.blocks + self.block
        self.keeper.save(step, self._arrays(), jax.tree.map(lambda x: np.asarray(x).tolist(), about))

    def _resume(self) -> None:
        """Continue from the latest checkpoint, if there is one."""
        assert self.keeper is not None
        stored = self.keeper.load(self._arrays())
        if stored is None:
            return
        arrays, about = stored
        leaves = [arrays[name] for name in self._arrays()]
        structure = jax.tree.structure(self._tree())
        points, optimizer, learned, best_points, reals = jax.tree.unflatten(structure, leaves)
        self.tables = self.tables._replace(points=points, optimizer=optimizer, learned=learned)
        self.best = Best(about["best"][0], about["best"][1], best_points, reals)
        self.block, self.tally = about["block"], Tally(**about["tally"])
        columns = {name: np.asarray(values) for name, values in about["history"].items()}
        self.history = unstack_history(columns) if columns else []

    def _embedding(self, names: Names | None) -> Embedding | None:
        """The result, in process 0."""
        best = self.best
        points = self.tables.points if best.points is None else best.points
        collected = collect(self.mesh, points, self.nodes)
        if collected is None:
            return None
        size = f"{self.nodes} nodes, {self.edges.num_edges} edges"
        info = {"graph": size, "processes": jax.process_count()}
        history, reals = stack_history(self.history), jax.device_get(best.reals)
        settings = self.model, self.config, self.plan
        return make_embedding(*settings, collected, names, history, best.epoch, reals, info)
