"""Epochs over edges that are streamed to the device in parts.

The points, the optimiser state and the filter of all edges (`engine.filtered_edges`) stay on the device. A
thread reads and sends the next part while the steps of the current one run. Every epoch shuffles the parts;
`engine.passes` shuffles the edges of a part. With one part, the epoch is that of a graph in memory.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from timelike.engine.config import EpochPlan, Numbers
from timelike.engine.epoch import Data, Report, State, begin_epoch, compiled, end_epoch
from timelike.engine.filtered_edges import FilteredEdges, add_members, no_members, side_by_side
from timelike.engine.passes import Carry, Tally, sweep_edges
from timelike.engine.sampling import for_negatives
from timelike.engine.table_rows import Places
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.io.edge_shards import EdgeShards

#: Largest number of rounds of drawing negatives for validation.
ROUNDS = 100


def validation_pairs(shards: EdgeShards, seed: int = 0, ratio: int = 4) -> LabelledPairs | None:
    """The held-out edges, if any, each with `ratio` uniform negatives."""
    edges, nodes = shards.held_out, shards.num_nodes
    if not len(edges):
        return None
    rng, negatives = np.random.default_rng(seed), np.zeros((0, 2), np.int32)
    for _ in range(ROUNDS):
        drawn = rng.integers(0, nodes, (ratio * len(edges), 2), dtype=np.int32)
        good = (drawn[:, 0] != drawn[:, 1]) & ~shards.has_edges(drawn[:, 0], drawn[:, 1])
        negatives = np.concatenate([negatives, drawn[good]])[: ratio * len(edges)]
        if len(negatives) == ratio * len(edges):
            return LabelledPairs.build(edges, negatives)
    raise ValueError(f"{shards} has too few non-edges for validation; hold out no edges")


@functools.cache
def _programs(plan: EpochPlan) -> tuple[Any, Any, Any]:
    """The programs that begin an epoch, take the steps of a part, and end the epoch."""
    return (
        jax.jit(partial(begin_epoch, plan)),
        compiled(partial(sweep_edges, plan), donated=3),
        jax.jit(partial(end_epoch, plan), static_argnums=1, donate_argnums=3),
    )


class Stream:
    """Epochs over the edges of a folder, called like the compiled epoch of a graph in memory.

    `on_part` is called at every part, with its position in the epoch (from 1) and the number of parts.
    """

    def __init__(self, plan: EpochPlan, shards: EdgeShards, listed: np.ndarray | None = None):
        self.shards, self.plan = shards, plan
        self.on_part: Callable[[int, int], Any] = lambda begun, of: None
        self._pool = ThreadPoolExecutor(1, "edges")
        self._ahead: tuple[int, Future] | None = None
        self._length = max(shards.counts)
        self._begin, self._sweep, self._end = _programs(plan)
        self._fixed = self._prepare(listed)

    def _prepare(self, listed: np.ndarray | None) -> dict[str, Any]:
        """What all parts share, such as the filter of all edges."""
        plan, shards = self.plan, self.shards
        degrees, (s, t) = shards.degrees, shards.part(0)[:, : 1 << 24]
        words = no_members(shards.num_edges)
        for number in range(len(shards.counts)):
            words = add_members(words, *self._load(number)[0].T)
        return {
            "words": words,
            "places": Places.of(degrees.sum(axis=0))
            if plan.dense
            else Places.for_steps(degrees, plan.rows(self._length) if plan.fused else 0),
            "weights": jnp.ones(0),
            "num_nodes": shards.num_nodes,
            **for_negatives(plan.negatives, shards, degrees, (s, t), listed),
        }

    def _load(self, number: int) -> tuple[Array, Array]:
        """Send a part to the device: its pairs, repeated up to the common length, and their true number."""
        part = self.shards.part(number)
        ends = (np.resize(end, self._length) if end.size < self._length else end for end in part)
        pairs = side_by_side(*(jax.device_put(end) for end in ends))
        return pairs, jnp.asarray(self.shards.counts[number], jnp.int32)

    def _take(self, number: int, following: int) -> FilteredEdges:
        """Return a part, which may be loaded already, and start loading the following one."""
        if self._ahead is None or self._ahead[0] != number:
            self._ahead = number, self._pool.submit(self._load, number)
        part = self._ahead[1].result()
        self._ahead = following, self._pool.submit(self._load, following)
        return FilteredEdges(*part, **self._fixed)

    def _order(self, seed: int, epoch: int) -> list[int]:
        """The order of the parts in an epoch."""
        return np.random.default_rng([seed, epoch]).permutation(len(self.shards.counts)).tolist()

    def __call__(self, numbers: Numbers, data: Data, state: State) -> tuple[State, Report]:
        """One pass over all parts; at most two are queued on the device while another loads."""
        seed, epoch = int(numbers.seed), int(state.epoch)
        order, after = self._order(seed, epoch), self._order(seed, epoch + 1)[0]
        carry: Carry | None = None
        tallies: list[Tally] = []
        for i, (number, following) in enumerate(zip(order, [*order[1:], after], strict=True)):
            self.on_part(i + 1, len(order))
            table = self._take(number, following)
            if carry is None:
                carry = self._begin(table, state)
                carry = carry if self.plan.fused else jax.tree.map(jnp.copy, carry)
            carry, tally = self._sweep(numbers, table, state.epoch, carry, jnp.asarray(number, jnp.int32))
            jax.block_until_ready(tallies[-1:])
            tallies.append(tally)
        tally = jax.tree.map(lambda *parts: jnp.sum(jnp.stack(parts)), *tallies)
        return self._end(data, self.shards.num_edges, numbers, state, carry, tally)
