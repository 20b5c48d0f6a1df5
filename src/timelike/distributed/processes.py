"""The processes of a run: how they find each other, and how the loss of one is reported.

A command starts its part of the run as a child process and watches it. If another process dies, JAX aborts
the child without a readable message; the parent survives to report what happened.
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

#: Seconds of silence after which a process counts as lost.
SILENCE = 45
#: Seconds to wait for the other processes at the start.
PATIENCE = 300
#: The exit code if another process was lost: try again (EX_TEMPFAIL).
LOST = 75
#: The address that tells JAX to look into the environment.
AUTO = "auto"
#: The start of JAX's messages about failures between processes, in errors of several classes.
BETWEEN = re.compile("(ABORTED|CANCELLED|DEADLINE_EXCEEDED|INTERNAL|UNAVAILABLE|UNKNOWN): ")


class Place(NamedTuple):
    """The rank of this process, their number, and the address of the first; `auto`: from the environment."""

    coordinator: str
    num_processes: int | None = None
    process_id: int | None = None

    def check(self) -> None:
        """Raise a `ValueError` if the values contradict each other."""
        if self.coordinator == AUTO:
            if (self.num_processes, self.process_id) != (None, None):
                raise ValueError("num_processes and process_id cannot be combined with coordinator auto")
            return
        host, _, port = self.coordinator.rpartition(":")
        if not host or not port.isdecimal():
            raise ValueError(f"coordinator is {show(self.coordinator)}; it must be HOST:PORT or auto")
        if self.num_processes is None or self.process_id is None:
            raise ValueError(f"coordinator is {self.coordinator}; it also needs num_processes and process_id")
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
    """Connect to the other processes; call this before any other use of JAX."""
    import jax

    where: Any = {} if place.coordinator == AUTO else place._asdict()
    where["coordinator_address"] = where.pop("coordinator", None)
    try:
        jax.distributed.initialize(
            **where, initialization_timeout=PATIENCE, heartbeat_timeout_seconds=SILENCE
        )
    except Exception as error:  # the client of Kubernetes raises its own classes
        if place.coordinator != AUTO or isinstance(error, jax.errors.JaxRuntimeError):
            raise
        raise ValueError(f"coordinator is auto, but {_not_found(error)}") from None


def _not_found(error: Exception) -> str:
    """What JAX did not find in the environment, and what to do."""
    name_them = "pass --coordinator HOST:PORT, --num-processes and --process-id"
    if isinstance(error, ValueError):
        if "KUBERNETES_SERVICE_HOST" in os.environ:
            return 'JAX needs the Kubernetes client: pip install "jax[k8s]"'
        if "OMPI_COMM_WORLD_RANK" in os.environ:
            sizes = "$OMPI_COMM_WORLD_SIZE and $OMPI_COMM_WORLD_RANK"
            return f"JAX supports Open MPI up to version 4; {name_them} from {sizes}"
        return f"the environment is not that of Slurm, Open MPI or Kubernetes; {name_them}"
    if isinstance(error, KeyError):
        return f"the environment has no {error.args[0]}; {name_them}"
    return f"{' '.join(str(error).split()).rstrip('.')}; {name_them}"


def watch(place: Place, work: Callable[..., None], *arguments: Any, restart: str) -> None:
    """Run the work in a child process, forward signals to it, exit as it exits, and report a loss."""
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
        print(f"timelike: {place} was killed by {name}; {restart}", file=sys.stderr)
        raise SystemExit(128 - code)
    if code:
        raise SystemExit(code)


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _inside(parent: int, work: Callable[..., None], arguments: tuple) -> None:
    """The child process: do the work as long as the parent lives."""
    os.setpgid(0, 0)  # get the signals of the terminal from the parent only
    tqdm.set_lock(threading.RLock())  # the default lock is shared between processes and leaks
    os.environ["JAX_ENABLE_PREEMPTION_SERVICE"] = "false"  # the service would catch SIGTERM
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    try:
        work(*arguments)
    except SystemExit as stop:  # do not wait for the other processes, as JAX does at a normal exit
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(stop.code if isinstance(stop.code, int) else int(bool(stop.code)))


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(LOST)


@contextmanager
def losing() -> Iterator[None]:
    """Exit at once if an exchange fails: another process is gone, so waiting is pointless."""
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
def quiet_output(to: int = 2) -> Iterator[None]:
    """Send everything printed to standard output to another file descriptor (default: standard error)."""
    sys.stdout.flush()
    stdout = os.dup(1)
    os.dup2(to, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(stdout, 1)
        os.close(stdout)
