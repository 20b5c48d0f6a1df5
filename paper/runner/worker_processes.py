"""Share work among several processes that can be stopped at any time."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar, cast

T = TypeVar("T")
R = TypeVar("R")

#: Seconds that an idle process has to exit by itself.
EXIT_SECONDS = 5.0


def share(batches: Sequence[Sequence[T]], jobs: int, do: Callable[[T], R]) -> Iterator[tuple[T, R]]:
    """Yield every item with the result of `do` as it finishes; a batch stays in one process, in order.

    Each process has a pipe of its own and shares no lock with the others, so killing any of them blocks
    nobody. No process outlives this generator.
    """
    context = multiprocessing.get_context("spawn")
    queue = deque(deque(batch) for batch in batches)
    processes: dict[Connection, Any] = {}
    busy: dict[Connection, deque[T]] = {}
    try:
        for _ in range(min(jobs, len(queue))):
            pipe, far_end = context.Pipe()
            processes[pipe] = context.Process(target=_serve, args=(far_end, do), daemon=True)
            processes[pipe].start()
            far_end.close()
            busy[pipe] = queue.popleft()
            pipe.send(busy[pipe][0])
        while busy:
            for pipe in cast(list[Connection], wait(list(busy))):
                item = busy[pipe].popleft()
                result = _receive(pipe, processes[pipe])
                busy[pipe] = busy[pipe] or (queue.popleft() if queue else deque())
                if busy[pipe]:
                    pipe.send(busy[pipe][0])
                else:
                    del busy[pipe]
                yield item, result
        for pipe, process in processes.items():
            pipe.close()
            process.join(EXIT_SECONDS)
    finally:
        for process in processes.values():
            process.kill()
            process.join()


def _receive(pipe: Connection, process: Any) -> Any:
    try:
        result, error = pipe.recv()
    except EOFError:
        process.join()
        raise ChildProcessError(
            f"a worker process ended with exit code {process.exitcode} (killed, or out of memory?); finished "
            "tasks are stored: continue with --resume, or lower --jobs to use less memory"
        ) from None
    if error is not None:
        raise error
    return result


def _serve(pipe: Connection, do: Callable[[Any], Any]) -> None:
    """Process items until the parent closes the pipe or dies."""
    for number in (signal.SIGINT, signal.SIGTERM):  # the parent receives them too, and kills this process
        signal.signal(number, signal.SIG_IGN)
    with contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        while True:
            item = pipe.recv()
            try:
                pipe.send((do(item), None))
            except Exception as error:
                error.add_note(traceback.format_exc())
                pipe.send((None, error))


@contextmanager
def sigterm_interrupts() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C: finished tasks are reported and the workers stopped."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, old)
