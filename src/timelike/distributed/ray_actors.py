"""The processes of a run as actors of a Ray cluster; if one is lost, all start again from the checkpoint."""

from __future__ import annotations

import logging
import os
import socket
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from timelike._util.interrupts import INTERRUPTED
from timelike.distributed.processes import LOST, Place

#: How often a run is started again.
RESTARTS = 3
#: How many seconds Ray's own processes may take to start on this machine; its own limits are short for a
#: busy one, and it reads these two as it is started.
STARTING = 300
LIMITS = {"RAY_agent_register_timeout_ms": 1000 * STARTING, "RAY_raylet_start_wait_time_s": STARTING}


class Part:
    """An actor: one process of a run, wherever Ray puts it."""

    def address(self) -> str:
        """A free port of this machine."""
        import ray

        host = ray.util.get_node_ip_address()
        with socket.socket() as free:
            free.bind(("", 0))
            return f"{host}:{free.getsockname()[1]}"

    def run(self, work: Callable[..., None], *arguments: Any) -> tuple[int, str]:
        """Do the work: its exit code and what it printed."""
        with tempfile.TemporaryFile("w+") as printed:
            kept = os.dup(1)
            os.dup2(printed.fileno(), 1)
            try:
                work(*arguments)
                code = 0
            except SystemExit as stop:
                code = stop.code if isinstance(stop.code, int) else 2
            except ValueError as error:
                print(f"timelike: {error}", file=sys.stderr)
                code = 2
            finally:
                sys.stdout.flush()
                os.dup2(kept, 1)
                os.close(kept)
            printed.seek(0)
            return code, printed.read()


def on_ray(count: int, work: Callable[..., None], with_place: Callable[[Place, bool], tuple]) -> None:
    """Run `work(*with_place(place, again))` in so many actors; print what the first one prints."""
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
            said = str(error).strip().splitlines() or [type(error).__name__]
            raise OSError(f"Ray did not start: {said[0]}") from None
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
        results = [_result(ray, one) for one in running]
        for part in parts:
            ray.kill(part)
        codes = [code for code, _ in results]
        if not any(codes):
            sys.stdout.write(results[0][1])
            return
        wrong = [code for code in codes if code not in (0, LOST)]
        if wrong and wrong[0] in (2, INTERRUPTED):
            raise SystemExit(wrong[0])
        print(f"timelike: a process was lost; start {attempt + 2} of {RESTARTS + 1}", file=sys.stderr)
    raise SystemExit(LOST)


def _result(ray: Any, running: Any) -> tuple[int, str]:
    try:
        found: tuple[int, str] = ray.get(running)
        return found
    except ray.exceptions.RayActorError:
        return LOST, ""
