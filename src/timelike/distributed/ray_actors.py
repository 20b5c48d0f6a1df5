"""The processes of a run as actors of a Ray cluster; if one is lost, all restart from the checkpoint."""

from __future__ import annotations

import logging
import os
import socket
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from timelike._util.interrupts import INTERRUPTED
from timelike.distributed.processes import LOST, Place, quiet_output

#: Number of restarts.
RESTARTS = 3
#: Seconds that Ray's own processes may take to start; its default limits are too short for a busy machine.
#: Ray reads these two variables when it starts.
STARTING = 300
LIMITS = {"RAY_agent_register_timeout_ms": 1000 * STARTING, "RAY_raylet_start_wait_time_s": STARTING}


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
    """Run `work(*with_place(place, again))` in `count` actors; print the output of the first."""
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
            sys.stdout.write(results[0][1])
            return
        wrong = [code for code in codes if code not in (0, LOST)]
        if wrong and wrong[0] in (2, INTERRUPTED):
            raise SystemExit(wrong[0])
        print(f"timelike: a process was lost; attempt {attempt + 2} of {RESTARTS + 1}", file=sys.stderr)
    raise SystemExit(LOST)


def _result(ray: Any, running: Any) -> tuple[int, str]:
    try:
        result: tuple[int, str] = ray.get(running)
        return result
    except ray.exceptions.RayActorError:
        return LOST, ""
