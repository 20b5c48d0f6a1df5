"""Training with a table on disk: two partitions of the nodes are in memory at a time, as in PyTorch-BigGraph.

An epoch visits every two partitions once and trains on the edges between them, and in some visits on those
inside them; negatives are nodes of both. Of two visits in a row, the second keeps a partition of the first.
A partition that leaves memory becomes a new file. A checkpoint names the files that belong together, so a run
that was killed continues from it with the same result.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from safetensors import safe_open

from timelike._util.atomic_files import load_tensors, read_text, replacing, save_tensors, sync
from timelike._util.interrupts import note_signals
from timelike._util.progress import EpochBar
from timelike.core.model import Model
from timelike.core.struct import reals_of
from timelike.distributed.edge_buckets import EdgeBuckets
from timelike.embedding.embedding import Embedding
from timelike.engine.config import Config
from timelike.engine.epoch import NAMED_CULPRITS, Report, compiled, init_moments, init_points
from timelike.engine.filtered_edges import FilteredEdges, add_members, no_members
from timelike.engine.negatives import Negatives, draws_for
from timelike.engine.optimizers import Learned
from timelike.engine.passes import sweep_edges
from timelike.engine.sampling import Pools
from timelike.engine.table_rows import Places
from timelike.engine.table_storage import check_storage, wide
from timelike.graphs.node_names import Names
from timelike.training.checkpoint import check_settings
from timelike.training.prepare import make_numbers
from timelike.training.training_loop import (
    InterruptedTraining,
    advance,
    diagnosis,
    make_embedding,
    stack_history,
)

STATE, POINTS = "state.json", "points"
#: Most edges that are on the device at a time, and nodes of the result that are put together at a time.
AT_ONCE, PIECE = 1 << 20, 1 << 18


def visits(partitions: int) -> Iterator[tuple[int, int]]:
    """Every two of an even number of partitions once; each visit shares one with the visit before."""
    for i in range(partitions - 1):
        following = range(i + 1, partitions)
        yield from ((i, j) for j in (reversed(following) if i % 2 else following))


class SwappedRun:
    """A run over buckets of edges, in a folder that keeps the partitions that are not in memory."""

    def __init__(
        self, buckets: EdgeBuckets, model: Model, config: Config, folder: Path, every_seconds: float
    ):
        self.buckets, self.model, self.config, self.folder = buckets, model, config, folder
        self.every_seconds, self.plan = every_seconds, config.epoch_plan(False, False)
        kinds = self.plan.negatives
        if set(kinds.counts) != {"uniform"}:
            raise ValueError(f"negatives has kinds {', '.join(kinds.counts)}; --partitions supports uniform")
        if self.plan.dense:
            raise ValueError(
                f"optimizer is {config.optimizer!r}, which moves every node; --partitions cannot"
            )
        check_storage(config.tables, model.manifold)
        self.rows, self.numbers = buckets.rows, make_numbers(model, config)
        self.most = int((buckets.counts + buckets.counts.T).max())
        self.length = min(AT_ONCE, self.most)
        none, total = np.zeros(0, np.int32), np.array([[self.most], [self.most]])
        self.fixed: Any = {
            "weights": jnp.ones(0),
            "pools": Pools(*[jnp.zeros(0, jnp.int32)] * 4),
            "places": Places.none(),
            "num_nodes": 2 * self.rows,
            "draws": draws_for(2 * self.rows, total, (none, none), Negatives(uniform=1)),
        }
        self.sweep = compiled(partial(sweep_edges, self.plan), donated=3)
        self.put = jax.jit(
            lambda table, rows, first: jax.lax.dynamic_update_slice_in_dim(table, rows, first, 0),
            donate_argnums=0,
        )
        self.history: list[Report] = []
        self.visit, self.tally = 0, np.zeros(6)
        self.held: list[int | None] = [None, None]
        self.files: dict[int, str] = {}
        self.kept: set[str] = set()  # the files of the last checkpoint
        points = jnp.zeros_like(init_points(self.plan, self.numbers, 1), shape=(2 * self.rows, self.width))
        learned = Learned.start(reals_of(self.numbers.model, self.plan.learn))
        slots = jnp.zeros(2 * self.rows, jnp.int32)
        self.carry: Any = (points, init_moments(self.plan, points), learned, slots)
        self.saved, self.saving = time.monotonic(), False
        folder.mkdir(parents=True, exist_ok=True)
        self._resume()

    @property
    def width(self) -> int:
        """Numbers of a point."""
        return self.model.manifold.ambient_dim

    def finish(self, names: Names | None, progress: bool | None = None) -> Embedding:
        """Train to the end."""
        epochs, order = self.config.last_epoch, list(visits(self.buckets.partitions))
        bar = EpochBar(epochs, f"{self.buckets.partitions} partitions", progress, len(self.history))
        with bar, note_signals(self._last_words) as caught:
            while len(self.history) < epochs:
                rng = np.random.default_rng([self.config.seed, len(self.history)])
                label = rng.permutation(self.buckets.partitions)
                i, j = order[self.visit]
                bar.note(f"visit {self.visit + 1} of {len(order)}")
                self._take(int(label[i]), int(label[j]), inside=i % 2 == 0 and j == i + 1)
                self.visit += 1
                if self.visit == len(order):
                    self._end_epoch()
                    advance(bar, self.buckets.num_edges, self.history[-1:])
                if caught or time.monotonic() - self.saved >= self.every_seconds:
                    self._save()
                if caught:
                    raise InterruptedTraining(f"{caught[0]}: {self._last_words()}", None)
        self._save()
        size = f"{self.buckets.nodes} nodes, {self.buckets.num_edges} edges"
        info = {"graph": size, "partitions": self.buckets.partitions, "processes": 1}
        reals, history = jax.device_get(self.carry[2].reals), stack_history(self.history)
        settings = self.model, self.config, self.plan
        return make_embedding(*settings, self._together(), names, history, len(self.history), reals, info)

    def _last_words(self) -> str:
        if self.saving:
            return ""
        where = f"stopped in epoch {len(self.history) + 1} of {self.config.last_epoch}"
        return f"{where}; --resume continues from {self.folder}" if (self.folder / STATE).exists() else where

    def _take(self, p: int, q: int, inside: bool) -> None:
        """Have two partitions in memory, and train on the edges between them, and `inside` them."""
        for slot, partition in enumerate(self.held):
            if partition not in (p, q):
                self._swap(slot, q if p in self.held else p)
        first, second = cast("list[int]", self.held)
        seed = [self.config.seed, len(self.history), self.visit]
        for within in (False, True)[: 1 + inside]:
            edges = self.buckets.between(first, second, within)
            edges = edges[np.random.default_rng([*seed, within]).permutation(len(edges))]
            words = no_members(self.most)
            for at in range(0, len(edges), self.length):
                words = add_members(words, *self._padded(edges[at : at + self.length]).T)
            for at in range(0, len(edges), self.length):
                part = edges[at : at + self.length]
                count = jnp.asarray(len(part), jnp.int32)
                table = FilteredEdges(self._padded(part), count, words=words, **self.fixed)
                key = 2 * (self.visit * (1 + self.most // self.length) + at // self.length) + within
                epoch = jnp.asarray(len(self.history))
                self.carry, tally = self.sweep(
                    self.numbers, table, epoch, self.carry, jnp.asarray(key, jnp.int32)
                )
                self.tally += np.array([float(x) for x in jax.device_get(tally)])
            if not np.isfinite(self.tally[0]):
                message = diagnosis([], self.model, self.config, len(self.history) + 1)
                raise ArithmeticError(message)

    def _padded(self, edges: np.ndarray) -> jax.Array:
        return jnp.asarray(np.resize(edges, (self.length, 2)))

    def _swap(self, slot: int, partition: int) -> None:
        """Write the partition in a slot to disk, and read or start another."""
        if self.held[slot] is not None:
            self._write(slot)
        self.held[slot] = partition
        if partition in self.files:
            stored, _ = load_tensors(self.folder / self.files[partition])
            tables: Any = [stored[str(i)] for i in range(len(stored))]
        else:
            own = self.numbers._replace(
                seed=jnp.asarray(self.config.seed + 7919 * (partition + 1), jnp.int32)
            )
            points = init_points(self.plan, own, self.rows, together=PIECE)
            tables = _tables((points, init_moments(self.plan, points)))
        for i, rows in enumerate(tables):
            self._replace(i, self.put(_tables(self.carry)[i], rows, slot * self.rows))

    def _replace(self, number: int, table: jax.Array) -> None:
        leaves, structure = jax.tree.flatten(self.carry)
        where = [i for i, x in enumerate(leaves) if x.ndim == 2]
        leaves[where[number]] = table
        self.carry = jax.tree.unflatten(structure, leaves)

    def _write(self, slot: int) -> None:
        """Write a partition to a new file; the file of the last checkpoint stays."""
        partition = cast(int, self.held[slot])
        name = f"part-{partition:03d}-{len(self.history)}-{self.visit}.safetensors"
        own = slice(slot * self.rows, (slot + 1) * self.rows)
        tables = {str(i): np.asarray(x[own]) for i, x in enumerate(_tables(self.carry))}
        before, self.files[partition] = self.files.get(partition), name
        if before == name:  # nothing has moved since
            return
        save_tensors(self.folder / name, tables, {})
        sync(self.folder / name)
        if before is not None and before not in self.kept:
            (self.folder / before).unlink()

    def _end_epoch(self) -> None:
        loss, saturated, gradient_norm, rows, pairs, rejected = self.tally
        report: dict[str, Any] = {
            "loss": loss,
            "gradient_norm": gradient_norm / rows,
            "saturated": saturated / pairs,
            "off_surface": np.nan,
            "rejected": int(rejected),
            "left_out": int(self.buckets.num_edges * (1 + self.plan.negatives.total) - pairs),
            "valid_ap": np.nan,
            "test_ap": np.nan,
            "culprits": [-1] * NAMED_CULPRITS,
        }
        self.history.append(_report(report))
        self.visit, self.tally = 0, np.zeros(6)

    def _settings(self) -> dict[str, Any]:
        """What must be the same to resume."""
        about = {"model": repr(self.model), "nodes": self.buckets.nodes, "edges": self.buckets.num_edges}
        return json.loads(
            json.dumps({**self.config.to_dict(), **about, "partitions": self.buckets.partitions})
        )

    def _save(self) -> None:
        """Write what is in memory, and name the files that belong together; then remove the others."""
        self.saving = True
        for slot in range(2):
            self._write(slot)
        scalars = [float(x) for x in jax.tree.leaves(self.carry) if not x.ndim]
        history = [
            {name: np.asarray(x).tolist() for name, x in report._asdict().items()} for report in self.history
        ]
        state = {"settings": self._settings(), "visit": self.visit, "tally": self.tally.tolist()}
        state |= {"held": self.held, "files": self.files, "scalars": scalars, "history": history}
        with replacing(self.folder / STATE) as file:
            file.write_text(json.dumps(state), encoding="utf-8")
        self.kept, self.saved = set(self.files.values()), time.monotonic()
        self.saving = False
        for file in self.folder.glob("part-*"):
            if file.name not in self.kept:
                file.unlink()

    def _resume(self) -> None:
        """Continue from the last checkpoint, if there is one."""
        if not (self.folder / STATE).exists():
            return
        state = json.loads(read_text(self.folder / STATE))
        check_settings(self.folder, state["settings"], self._settings())
        self.files = {int(p): name for p, name in state["files"].items()}
        self.kept = set(self.files.values())
        scalars = iter(state["scalars"])
        self.carry = jax.tree.map(lambda x: x if x.ndim else jnp.asarray(next(scalars), x.dtype), self.carry)
        for slot, partition in enumerate(state["held"]):
            self._swap(slot, partition)
        self.visit, self.tally = state["visit"], np.array(state["tally"])
        self.history = [_report(row) for row in state["history"]]

    def _together(self) -> np.ndarray:
        """The points of all nodes in their order, as a file that is mapped into memory."""
        buckets, shape = self.buckets, (self.buckets.nodes, self.width)
        whole = np.memmap(self.folder / POINTS, np.float32, "w+", shape=shape)
        files = (self.folder / self.files[p] for p in range(buckets.partitions))
        opened = [safe_open(file, framework="numpy").get_slice("0") for file in files]
        for first in range(0, self.rows, PIECE):
            last = min(first + PIECE, self.rows)
            for partition, points in enumerate(opened):
                nodes = buckets.number_of(partition, first, last)
                there = nodes < buckets.nodes
                whole[nodes[there]] = np.asarray(wide(jnp.asarray(points[first:last])))[there]
        return whole


def _report(plain: dict[str, Any]) -> Report:
    return Report(**{name: cast(Any, np.asarray(x)) for name, x in plain.items()})


def _tables(tree: Any) -> list[jax.Array]:
    return [x for x in jax.tree.leaves(tree) if x.ndim == 2]
