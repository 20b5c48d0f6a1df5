"""An R-MAT graph of 10⁹ edges on an accelerator, streamed from memory-mapped parts.

python benchmarks/gpu_stream.py --nodes 65600000 --parts 27 --dim 32 --epochs 10

Edges are drawn on the device, part by part, and written to a folder as `timelike.EdgeShards` has them, but
for their order and for repetitions, which matter for nothing here. The device is busy for the time that the
steps take on a part that lies in its memory, times the parts, over the time of an epoch.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from timelike.core.hashed_random import scramble
from timelike.core.model import Model
from timelike.engine.config import Config
from timelike.engine.filtered_edges import FilteredEdges
from timelike.engine.table_storage import STORAGES
from timelike.io.edge_shards import DEGREES, HEAD, HELD_OUT, EdgeShards
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import Minkowski
from timelike.training.prepare import make_numbers, prepare
from timelike.training.stream import Stream
from timelike.training.training_loop import _initial

A, AB, ABC = (int(p * 2**32) for p in (0.57, 0.76, 0.95))


@partial(jax.jit, static_argnames=("count", "nodes"), donate_argnums=1)
def draw(number: jax.Array, degrees: jax.Array, count: int, nodes: int) -> tuple[jax.Array, jax.Array]:
    """One part, (2, count), of an R-MAT graph, ids past `nodes` wrapped; and the degrees with it."""
    entry, levels = jnp.arange(count, dtype=jnp.uint32), (nodes - 1).bit_length()
    ends = jnp.zeros((2, count), jnp.int32)
    for level in range(levels):
        salt = jnp.uint32(0x9E3779B9) * (number * levels + level + 1).astype(jnp.uint32)
        u = scramble(scramble(entry + salt) + salt)
        bottom = u >= jnp.uint32(AB)
        right = ((u >= jnp.uint32(A)) & ~bottom) | (u >= jnp.uint32(ABC))
        ends = 2 * ends + jnp.stack([bottom, right])
    ends = ends % nodes
    loop = (ends[0] == ends[1]).astype(jnp.int32)
    ends = ends.at[1].set((ends[1] + loop) % nodes)
    return ends, jnp.stack([degrees[i].at[ends[i]].add(1) for i in range(2)])


def write(folder: Path, nodes: int, parts: int, count: int) -> None:
    degrees = jnp.zeros((2, nodes), jnp.int32)
    for number in range(parts):
        ends, degrees = draw(jnp.int32(number), degrees, count, nodes)
        np.save(folder / f"part-{number:05d}.npy", np.asarray(ends))
    np.save(folder / DEGREES, np.asarray(degrees))
    np.save(folder / HELD_OUT, np.zeros((0, 2), np.int32))
    about = {"nodes": nodes, "edges": [count] * parts, "checksum": "drawn"}
    (folder / HEAD).write_text(json.dumps(about))


def measure(folder: Path, dim: int, batch: int, epochs: int, seconds: float, tables: str) -> dict:
    shards = EdgeShards(folder)
    model = Model(Minkowski(dim), TripleFermiDirac(0.05, 0.05, 0.075))
    config = Config(
        epochs=epochs, batch_size=batch, optimizer="adam", learning_rate=0.01, burn_in=1, tables=tables
    )
    begin = time.perf_counter()
    plan, data = prepare(shards, model, config, None, None, None, alone=True)
    stream, numbers = Stream(plan, shards), make_numbers(model, config)
    jax.block_until_ready(stream._fixed)
    found = {"graph": repr(shards), "dim": dim, "batch": batch, "fused": plan.fused}
    found["prepare_s"] = time.perf_counter() - begin
    state = _initial(plan, shards.num_nodes)(numbers)
    jax.block_until_ready(state)
    took, losses = [], []
    for _ in range(epochs):
        begin = time.perf_counter()
        state, report = stream(numbers, data, state)
        jax.block_until_ready((state, report))
        took.append(time.perf_counter() - begin)
        losses.append(float(report.loss) / shards.num_edges)
        print(f"epoch {len(took)}: {took[-1]:.2f} s, loss {losses[-1]:.4f}", flush=True)
        if sum(took) > seconds:
            break
    epoch = float(np.median(took[1:] or took))
    found |= {"epoch_s": took, "losses": losses, "alive": bool(state.alive)}
    found |= {"median_epoch_s": epoch, "pairs_per_s": 5 * shards.num_edges / epoch}
    return found | resident(stream, numbers, state, epoch, len(shards.counts))


def resident(stream: Stream, numbers, state, epoch: float, parts: int) -> dict:  # type: ignore[no-untyped-def]
    """How long the steps of a part take that is in memory, and the share of it in the time of an epoch."""
    table, took = FilteredEdges(*stream._load(0), **stream._fixed), []
    carry = stream._begin(table, state)
    carry = carry if stream.plan.fused else jax.tree.map(jnp.copy, carry)
    for _ in range(4):
        jax.block_until_ready((table, carry))
        begin = time.perf_counter()
        carry, tally = stream._sweep(numbers, table, state.epoch, carry, jnp.int32(0))
        jax.block_until_ready((carry, tally))
        took.append(time.perf_counter() - begin)
    part = float(np.median(took[1:]))
    limit = jax.devices()[0].memory_stats() or {}
    memory = {name: limit.get(name) for name in ("bytes_limit", "peak_bytes_in_use")}
    return {"part_s": part, "busy": parts * part / epoch, **memory}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=65_600_000)
    parser.add_argument("--parts", type=int, default=27)
    parser.add_argument("--per-part", type=int, default=1 << 26)
    parser.add_argument("--dim", type=int, default=32)
    parser.add_argument("--batch", type=int, default=200_000)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=600, help="begin no epoch after this many")
    parser.add_argument("--tables", default="float32", choices=STORAGES)
    parser.add_argument("--folder", help="where to keep the parts; used again if they are there")
    parser.add_argument("--out")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(a.folder or scratch)
        begin = time.perf_counter()
        if not (folder / HEAD).exists():
            folder.mkdir(exist_ok=True)
            write(folder, a.nodes, a.parts, a.per_part)
        found = {"write_s": time.perf_counter() - begin}
        found |= measure(folder, a.dim, a.batch, a.epochs, a.seconds, a.tables)
    print(json.dumps(found, indent=1))
    if a.out:
        Path(a.out).write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
