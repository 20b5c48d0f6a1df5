"""The processes of a run, by command or as actors of Ray: how they find each other, and what a loss does.

A command starts its part of the run as a child process and watches it. If another process dies, JAX aborts
the child without a readable message; the parent survives to report what happened. On a Ray cluster, all
processes restart from the checkpoint if one is lost.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import re
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tqdm import tqdm

from timelike._util.checks import show
from timelike._util.interrupts import INTERRUPTED, TERMINATED

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
#: Signals that a command forwards to its child.
SIGNALS = (signal.SIGINT, signal.SIGTERM)
#: Number of restarts on Ray.
RESTARTS = 3
#: Seconds that Ray's own processes may take to start; its default limits are too short for a busy machine.
#: Ray reads these two variables when it starts.
STARTING = 300
LIMITS = {"RAY_agent_register_timeout_ms": 1000 * STARTING, "RAY_raylet_start_wait_time_s": STARTING}


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
    old = {s: signal.signal(s, lambda number, _: os.kill(pid, number)) for s in SIGNALS}
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


class Part:
    """An actor: one process of a run, on any machine of the cluster."""

    def address(self) -> str:
        """The address of a free port on this machine."""
        import ray

        host = ray.util.get_node_ip_address()
        with socket.socket() as free:
            free.bind(("", 0))
            return f"{host}:{free.getsockname()[1]}"

    def run(self, work: Callable[..., None], *arguments: Any) -> tuple[int, str]:
        """Do the work: its exit code and its output."""
        code = 0
        with tempfile.TemporaryFile("w+") as printed:
            try:
                with quiet_output(printed.fileno()):
                    work(*arguments)
            except SystemExit as stop:
                code = stop.code if isinstance(stop.code, int) else 2
            except ValueError as error:
                print(f"timelike: {error}", file=sys.stderr)
                code = 2
            printed.seek(0)
            return code, printed.read()


def on_ray(count: int, work: Callable[..., None], with_place: Callable[[Place, bool], tuple]) -> None:
    """Run `work(*with_place(place, again))` in `count` actors; print the output of the first, and only that.

    Ray prints what happens to its actors.
    """
    with quiet_output():
        printed = _in_actors(count, work, with_place)
    sys.stdout.write(printed)


def _in_actors(count: int, work: Callable[..., None], with_place: Callable[[Place, bool], tuple]) -> str:
    try:
        import ray
    except ImportError:
        raise ImportError('ray is not installed: pip install "timelike[scale]"') from None
    if not ray.is_initialized():
        for name, limit in LIMITS.items():
            os.environ.setdefault(name, str(limit))
        try:
            ray.init(logging_level=logging.WARNING, include_dashboard=False)
        except Exception as error:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            raise OSError(f"Ray did not start: {lines[0]}") from None
    gpus = 1 if ray.cluster_resources().get("GPU", 0) >= count else 0
    actor: Any = ray.remote(num_cpus=1, num_gpus=gpus)(Part)
    for attempt in range(RESTARTS + 1):
        parts = [actor.remote() for _ in range(count)]
        address = ray.get(parts[0].address.remote())
        places = [Place(address, count, number) for number in range(count)]
        running = [
            part.run.remote(work, *with_place(place, attempt > 0))
            for part, place in zip(parts, places, strict=True)
        ]
        results = [_result(ray, part) for part in running]
        for part in parts:
            ray.kill(part)
        codes = [code for code, _ in results]
        if not any(codes):
            return results[0][1]
        wrong = [code for code in codes if code not in (0, LOST)]
        if wrong and wrong[0] in (2, INTERRUPTED, TERMINATED):
            raise SystemExit(wrong[0])
        print(f"timelike: a process was lost; attempt {attempt + 2} of {RESTARTS + 1}", file=sys.stderr)
    raise SystemExit(LOST)


def _result(ray: Any, running: Any) -> tuple[int, str]:
    try:
        result: tuple[int, str] = ray.get(running)
        return result
    except ray.exceptions.RayActorError:
        return LOST, ""
