"""Processes that make up a run: how they find each other, and what is said when one is lost.

A command starts its part of the run as a child and watches it. JAX ends a process at once, and not with a
word for users, where another one has died; its parent lives to say what happened.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tqdm import tqdm

from timelike._util.checks import show

#: A process from which nothing was heard for so many seconds is lost.
SILENCE = 45
#: How many seconds to wait for the others in the beginning.
PATIENCE = 300
#: The exit code where another process was lost: try again (EX_TEMPFAIL).
LOST = 75
#: The address that asks JAX to look into the environment.
AUTO = "auto"
#: How JAX's runtime names what went wrong between processes, in errors of several classes.
BETWEEN = re.compile("(ABORTED|CANCELLED|DEADLINE_EXCEEDED|INTERNAL|UNAVAILABLE|UNKNOWN): ")


class Place(NamedTuple):
    """Which process this is, of how many, and where the first one listens; `auto`: the environment says."""

    coordinator: str
    num_processes: int | None = None
    process_id: int | None = None

    def check(self) -> None:
        """Raise a `ValueError` for what cannot be."""
        given = (self.num_processes, self.process_id)
        if self.coordinator == AUTO:
            if given != (None, None):
                raise ValueError(
                    "num_processes and process_id are found with coordinator auto; leave them out"
                )
            return
        host, _, port = self.coordinator.rpartition(":")
        if not host or not port.isdecimal():
            raise ValueError(f"coordinator is {show(self.coordinator)}; it must be HOST:PORT, or auto")
        if self.num_processes is None or self.process_id is None:
            raise ValueError("coordinator needs num_processes and process_id too")
        if not 0 <= self.process_id < self.num_processes:
            raise ValueError(
                f"process_id is {self.process_id}; with num_processes {self.num_processes} "
                f"it must be in 0 … {self.num_processes - 1}"
            )

    def __str__(self) -> str:
        if self.process_id is None:
            return "this process"
        return f"process {self.process_id} of {self.num_processes}"


def join(place: Place) -> None:
    """Meet the other processes; before anything else is asked of JAX."""
    import jax

    where: Any = {} if place.coordinator == AUTO else place._asdict()
    where["coordinator_address"] = where.pop("coordinator", None)
    try:
        jax.distributed.initialize(
            **where, initialization_timeout=PATIENCE, heartbeat_timeout_seconds=SILENCE
        )
    except Exception as error:  # the client of Kubernetes has its own
        if place.coordinator != AUTO or isinstance(error, jax.errors.JaxRuntimeError):
            raise
        raise ValueError(f"coordinator is auto, but {_not_found(error)}") from None


def _not_found(error: Exception) -> str:
    """What JAX misses in the environment, and what to do."""
    name_them = "give --coordinator HOST:PORT, --num-processes and --process-id"
    if isinstance(error, ValueError):
        if "KUBERNETES_SERVICE_HOST" in os.environ:
            return 'JAX needs the client of Kubernetes: pip install "jax[k8s]"'
        if "OMPI_COMM_WORLD_RANK" in os.environ:
            sizes = "$OMPI_COMM_WORLD_SIZE and $OMPI_COMM_WORLD_RANK"
            return f"JAX knows Open MPI up to version 4; {name_them} from {sizes}"
        return f"nothing of Slurm, Open MPI and Kubernetes is in the environment; {name_them}"
    if isinstance(error, KeyError):
        return f"the environment has no {error.args[0]}; {name_them}"
    return f"{' '.join(str(error).split()).rstrip('.')}; {name_them}"


def watch(place: Place, work: Callable[..., None], *arguments: Any, restart: str) -> None:
    """Do the work in a child, pass signals on to it, and end as it ends; say so if it was lost."""
    child = multiprocessing.get_context("spawn").Process(target=_inside, args=(os.getpid(), work, arguments))
    child.start()
    pid = child.pid
    assert pid is not None
    old = {s: signal.signal(s, lambda number, _: os.kill(pid, number)) for s in _SIGNALS}
    try:
        child.join()
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
    code = child.exitcode
    assert code is not None
    if code == LOST or code == -signal.SIGABRT:
        print(f"timelike: {place}: another process was lost; {restart}", file=sys.stderr)
        raise SystemExit(LOST)
    if code < 0:
        name = signal.Signals(-code).name
        print(f"timelike: {place} was ended by {name}; {restart}", file=sys.stderr)
        raise SystemExit(128 - code)
    if code:
        raise SystemExit(code)


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _inside(parent: int, work: Callable[..., None], arguments: tuple) -> None:
    """What the child does: the work, as long as its parent lives."""
    os.setpgid(0, 0)  # it gets the signals of the terminal once: from its parent
    tqdm.set_lock(threading.RLock())  # its own lock is shared by processes, and would be missed in the end
    os.environ["JAX_ENABLE_PREEMPTION_SERVICE"] = "false"  # it takes SIGTERM for itself
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    try:
        work(*arguments)
    except SystemExit as stop:  # do not wait for the others, as JAX does at an orderly end
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(stop.code if isinstance(stop.code, int) else int(bool(stop.code)))


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(LOST)


@contextmanager
def losing() -> Iterator[None]:
    """End at once where an exchange fails: another process is gone, and waiting for it would be in vain."""
    import jax

    try:
        yield
    except Exception as error:
        if isinstance(error, jax.errors.JaxRuntimeError) and "RESOURCE_EXHAUSTED" in str(error):
            raise MemoryError(str(error)) from None
        if not (isinstance(error, jax.errors.JaxRuntimeError) or BETWEEN.match(str(error))):
            raise
        print(f"timelike: {str(error).splitlines()[0]}", file=sys.stderr, flush=True)
        os._exit(LOST)


@contextmanager
def quiet_output() -> Iterator[None]:
    """Send what libraries print to standard output to standard error; results come after."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
