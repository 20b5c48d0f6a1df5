"""Epochs over edges that are streamed to the device, part by part, while it works on the part before.

The points, the optimiser's state and the filter of edges (`engine.bloom`) stay on the device. A thread
reads the next part and sends it while the steps of this one run; the parts come in another order in every
epoch, and the edges of a part as in `engine.passes`. With one part it is the same epoch.
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

from timelike.engine.bloom_filter import add_members, no_members
from timelike.engine.epoch import Data, Report, State, begin_epoch, compiled, end_epoch
from timelike.engine.epoch_plan import EpochPlan, Numbers
from timelike.engine.filtered_edges import FilteredEdges, side_by_side
from timelike.engine.hubs import Places
from timelike.engine.negatives import draws_for
from timelike.engine.passes import Carry, Tally, sweep_edges
from timelike.engine.sampling import linked, share_taken
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.io.edge_shards import EdgeShards

#: Non-edges to validate on are drawn at most this often.
ROUNDS = 100


def validation_pairs(shards: EdgeShards, seed: int = 0, ratio: int = 4) -> LabelledPairs | None:
    """The edges that were held out, if any, each with so many pairs of any two nodes that are no edges."""
    edges, nodes = shards.held_out, shards.num_nodes
    if not len(edges):
        return None
    rng, found = np.random.default_rng(seed), np.zeros((0, 2), np.int32)
    for _ in range(ROUNDS):
        drawn = rng.integers(0, nodes, (ratio * len(edges), 2), dtype=np.int32)
        good = (drawn[:, 0] != drawn[:, 1]) & ~shards.has_edges(drawn[:, 0], drawn[:, 1])
        found = np.concatenate([found, drawn[good]])[: ratio * len(edges)]
        if len(found) == ratio * len(edges):
            return LabelledPairs.build(edges, found)
    raise ValueError(f"{shards} has too few non-edges to validate on; hold out no edges")


@functools.cache
def _programs(plan: EpochPlan) -> tuple[Any, Any, Any]:
    """What begins an epoch, takes the steps of a part of its edges, and ends it."""
    return (
        jax.jit(partial(begin_epoch, plan)),
        compiled(partial(sweep_edges, plan), donated=3),
        jax.jit(partial(end_epoch, plan), static_argnums=1, donate_argnums=3),
    )


class Stream:
    """One epoch after the other over the edges of a folder, called like the compiled epoch of a graph.

    `on_part` is called with how many parts of the epoch are begun, and how many there are.
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
        """What all parts share, the filter of all edges among it."""
        plan, shards = self.plan, self.shards
        degrees, kinds = shards.degrees, plan.negatives
        listed = np.zeros((0, 2)) if listed is None else np.asarray(listed)
        taken = share_taken(shards, listed) if kinds.listed else 0.0
        sample = shards.part(0)[:, : 1 << 24]
        words = no_members(shards.num_edges)
        for number in range(len(shards.counts)):
            words = add_members(words, *self._load(number)[0].T)
        return {
            "words": words,
            **linked(degrees, kinds),
            "places": Places.for_every_node(degrees)
            if plan.dense
            else Places.for_steps(degrees, plan.rows(self._length) if plan.fused else 0),
            "weights": jnp.ones(0),
            "listed_sources": jnp.asarray(listed[:, 0], jnp.int32),
            "listed_targets": jnp.asarray(listed[:, 1], jnp.int32),
            "num_nodes": shards.num_nodes,
            "draws": draws_for(shards.num_nodes, degrees, (sample[0], sample[1]), kinds, taken),
        }

    def _load(self, number: int) -> tuple[Array, Array]:
        """A part on its way to the device: pairs, and how many of them are its own; the rest repeats them."""
        part = self.shards.part(number)
        ends = (np.resize(end, self._length) if end.size < self._length else end for end in part)
        pairs = side_by_side(*(jax.device_put(end) for end in ends))
        return pairs, jnp.asarray(self.shards.counts[number], jnp.int32)

    def _take(self, number: int, following: int) -> FilteredEdges:
        """A part, which may be here already; and have the one that follows it fetched."""
        if self._ahead is None or self._ahead[0] != number:
            self._ahead = number, self._pool.submit(self._load, number)
        found = self._ahead[1].result()
        self._ahead = following, self._pool.submit(self._load, following)
        return FilteredEdges(*found, **self._fixed)

    def _order(self, seed: int, epoch: int) -> list[int]:
        """In which order an epoch takes the parts."""
        return np.random.default_rng([seed, epoch]).permutation(len(self.shards.counts)).tolist()

    def __call__(self, numbers: Numbers, data: Data, state: State) -> tuple[State, Report]:
        """One pass over all parts; at most two of them are worked on or waited for, and one is fetched."""
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
