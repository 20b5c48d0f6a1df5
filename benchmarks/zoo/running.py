"""Tasks in several processes, each bound to its own cores so that they do not crowd each other.

A new process imports this module first, so it must import nothing that may be missing (`absent`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from multiprocessing.queues import Queue
from typing import TYPE_CHECKING

from benchmarks.zoo.absent import fill_in

if TYPE_CHECKING:
    from benchmarks.zoo.results import Task


def run_all(tasks: Sequence[Task], jobs: int) -> None:
    """Compute all tasks, and print a line about each as it ends."""
    if jobs <= 1:
        for number, task in enumerate(tasks, 1):
            print(f"{number}/{len(tasks)} {_compute(task)}", file=sys.stderr, flush=True)
        return
    context = get_context("spawn")
    shares: Queue = context.Queue()
    cores = sorted(os.sched_getaffinity(0))
    for job in range(jobs):
        shares.put(cores[job % len(cores) :: jobs] or cores)
    with ProcessPoolExecutor(jobs, context, _begin, (shares,)) as pool:
        waiting = [pool.submit(_compute, task) for task in tasks]
        for number, done in enumerate(as_completed(waiting), 1):
            print(f"{number}/{len(tasks)} {done.result()}", file=sys.stderr, flush=True)


def _begin(shares: Queue) -> None:
    """Take a share of the cores before JAX counts them, and fill in what is missing."""
    os.sched_setaffinity(0, shares.get())
    fill_in()


def _compute(task: Task) -> str:
    from benchmarks.zoo.results import compute

    return compute(task)
