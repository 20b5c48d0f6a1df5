"""Work that a fit begins before it needs the result, so that no core waits for another.

On a small graph, compiling takes longer than training. The programs of all candidates are compiled at the
same time, and whatever needs no points, like the evidence of the folds, is computed beside the training.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp

from timelike._util.hardware import cores
from timelike.estimator.candidates import Candidate, Trained
from timelike.estimator.fit_plan import FitPlan
from timelike.graphs.digraph import DiGraph

#: Graphs with more edges keep all cores busy by themselves, and need the memory.
FEW_EDGES = 200_000


def small(plan: FitPlan) -> bool:
    """Whether steps of a fit are too short to occupy all cores."""
    return isinstance(plan.graph, DiGraph) and plan.graph.num_edges <= FEW_EDGES


class Ahead:
    """Threads, one for each core; none on a GPU, for a large graph or on a single core."""

    def __init__(self, plan: FitPlan):
        worth = small(plan) and cores() > 1 and jax.default_backend() == "cpu"
        self.plan = plan
        self.pool = ThreadPoolExecutor(cores(), "ahead") if worth else None
        self._compiling: dict[int, Future] = {}

    def begin(self, work: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
        """Begin some work; the function that is returned waits for the result, and raises its errors."""
        if self.pool is None:
            return lambda: work(*arguments)
        return self.pool.submit(in_this_precision(work), *arguments).result

    def compile(self, candidates: Iterable[Candidate]) -> None:
        """Begin to compile the programs of candidates that are trained."""
        if self.pool is None or len(self.plan.candidates) < 2:
            return
        for one in candidates:
            if isinstance(one, Trained) and id(one) not in self._compiling:
                warm = in_this_precision(_warm_up)
                self._compiling[id(one)] = self.pool.submit(warm, self.plan, one)

    def compiled(self, candidate: Candidate) -> None:
        """Wait until the program of a candidate is compiled, if that has begun."""
        if id(candidate) in self._compiling:
            self._compiling[id(candidate)].result()


@contextmanager
def ahead(plan: FitPlan) -> Iterator[Ahead]:
    """Threads for a fit; what has not begun at the end is left out."""
    work = Ahead(plan)
    try:
        yield work
    finally:
        if work.pool is not None:
            work.pool.shutdown(wait=False, cancel_futures=True)


def in_this_precision(work: Callable[..., Any]) -> Callable[..., Any]:
    """The same work for another thread: new threads do not inherit the precision of JAX."""
    double = jnp.result_type(float) == jnp.float64

    def run(*arguments: Any) -> Any:
        with jax.enable_x64(double):
            return work(*arguments)

    return run


def _warm_up(plan: FitPlan, candidate: Trained) -> None:
    """One epoch of a candidate's runs, whose result is thrown away: JAX keeps the compiled program."""
    short = dataclasses.replace(candidate, config=dataclasses.replace(candidate.config, until=1))
    with contextlib.suppress(Exception):
        short.embed(plan.graph, plan.valid, plan.seeds, progress=False)
