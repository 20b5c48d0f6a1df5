"""Work shared by several processes, which can be stopped at any time."""

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

#: Seconds that a process has to end when there is nothing more to do.
ENDING = 5.0


def share(batches: Sequence[Sequence[T]], jobs: int, do: Callable[[T], R]) -> Iterator[tuple[T, R]]:
    """Each thing with what was made of it, as it is finished; a batch stays in one process, in its order.

    There is a pipe to each process, and nothing that two of them share: whichever of them is killed,
    and when, nobody waits for its locks. However this ends, no process is left.
    """
    context = multiprocessing.get_context("spawn")
    todo = deque(deque(batch) for batch in batches)
    processes: dict[Connection, Any] = {}
    doing: dict[Connection, deque[T]] = {}
    try:
        for _ in range(min(jobs, len(todo))):
            pipe, theirs = context.Pipe()
            processes[pipe] = context.Process(target=_serve, args=(theirs, do), daemon=True)
            processes[pipe].start()
            theirs.close()
            doing[pipe] = todo.popleft()
            pipe.send(doing[pipe][0])
        while doing:
            for pipe in cast(list[Connection], wait(list(doing))):
                thing = doing[pipe].popleft()
                answer = _receive(pipe, processes[pipe])
                doing[pipe] = doing[pipe] or (todo.popleft() if todo else deque())
                if doing[pipe]:
                    pipe.send(doing[pipe][0])
                else:
                    del doing[pipe]
                yield thing, answer
        for pipe, process in processes.items():  # nothing more to do: they end by themselves, in peace
            pipe.close()
            process.join(ENDING)
    finally:
        for process in processes.values():
            process.kill()
            process.join()


def _receive(pipe: Connection, process: Any) -> Any:
    try:
        answer, error = pipe.recv()
    except EOFError:
        process.join()
        raise ChildProcessError(
            f"a process ended with exit code {process.exitcode} in the middle of its work (killed, or short "
            "of memory?); what is finished is kept: --resume goes on, fewer --jobs need less memory"
        ) from None
    if error is not None:
        raise error
    return answer


def _serve(pipe: Connection, do: Callable[[Any], Any]) -> None:
    """Do one thing after the other, until there are no more or the process that asks has gone."""
    for number in (signal.SIGINT, signal.SIGTERM):  # it is told too, and kills this one
        signal.signal(number, signal.SIG_IGN)
    with contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        while True:
            thing = pipe.recv()
            try:
                pipe.send((do(thing), None))
            except Exception as error:
                error.add_note(traceback.format_exc())
                pipe.send((None, error))


@contextmanager
def sigterm_interrupts() -> Iterator[None]:
    """SIGTERM like Ctrl-C, so that what is finished is reported and other processes are stopped too."""
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
