"""Stop a run between two epochs on a signal, and deliver Ctrl-C where Python alone would lose it or crash."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from importlib.machinery import ExtensionFileLoader
from types import FrameType
from typing import Any

#: Seconds to wait before an interrupt that came at a bad moment is sent again.
MOMENT = 0.02
#: The exit codes of a program that an interrupt or a request to end has stopped.
INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM
#: Seconds that a request to end waits for the end of an epoch.
PATIENCE = 3.0

#: What to say when an epoch does not end in time; "" while the run is being saved, which must not be cut off.
LastWords = Callable[[], str]


@contextmanager
def note_signals(last_words: LastWords | None = None) -> Iterator[list[str]]:
    """Collect SIGINT and SIGTERM instead of stopping in the middle of an epoch; a second signal interrupts.

    A signal that arrives after the last epoch is passed on to the previous handler. If an epoch does not end
    within `PATIENCE` of a SIGTERM, which Python alone would not notice before its end, the program prints
    its `last_words` and ends with exit code 143.
    """
    caught: list[str] = []
    if threading.current_thread() is not threading.main_thread():
        yield caught
        return

    def note(number: int, _: FrameType | None) -> None:
        if caught:
            raise KeyboardInterrupt
        caught.append(signal.Signals(number).name)

    old = {s: signal.signal(s, note) for s in (signal.SIGINT, signal.SIGTERM)}
    deadly = last_words is not None and old[signal.SIGTERM] == signal.SIG_DFL
    try:
        with _bounded_wait(last_words) if deadly and last_words is not None else nullcontext():
            yield caught
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
    if caught:
        signal.raise_signal(signal.Signals[caught[0]])


@contextmanager
def _bounded_wait(last_words: LastWords) -> Iterator[None]:
    """End the program if the block lasts longer than `PATIENCE` after a SIGTERM.

    A thread hears of the signal even while the main thread runs compiled code.
    """
    hear, tell = os.pipe()
    os.set_blocking(tell, False)
    ended = threading.Event()

    def wait() -> None:
        while byte := os.read(hear, 1):
            if byte[0] == signal.SIGTERM and not ended.wait(PATIENCE):
                break
        os.close(hear)
        while not ended.is_set():
            if text := last_words():
                print(f"\ntimelike: {signal.SIGTERM.name}: {text}", file=sys.stderr, flush=True)
                os._exit(TERMINATED)
            ended.wait(MOMENT)

    thread = threading.Thread(target=wait, daemon=True)
    before = signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        signal.set_wakeup_fd(before)
        os.close(tell)
        thread.join(PATIENCE)


@contextmanager
def minded_interrupts() -> Iterator[None]:
    """Handle Ctrl-C for the whole program: raise KeyboardInterrupt, but only where that is safe.

    An interrupt waits while the frame is `_fragile`. If Python ignores the exception, as in a finaliser, the
    interrupt is sent again. Once the program is done, interrupts are ignored. A program that exits with the
    code `INTERRUPTED` or `TERMINATED` skips Python's orderly shutdown, in which JAX crashes if a compilation
    was interrupted.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:  # e.g. a background job of a shell
        yield
        return

    def again() -> None:
        later = threading.Timer(MOMENT, os.kill, (os.getpid(), signal.SIGINT))
        later.daemon = True
        later.start()

    def interrupt(_: int, frame: FrameType | None) -> None:
        if _fragile(frame):
            again()
        else:
            raise KeyboardInterrupt

    def ignored(error: Any) -> None:
        if issubclass(error.exc_type, KeyboardInterrupt):
            again()
        else:
            sys.__unraisablehook__(error)

    sys.unraisablehook = ignored
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except SystemExit as stop:
        if stop.code in (INTERRUPTED, TERMINATED):
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError):  # the reader has closed the pipe
                    stream.flush()
            os._exit(stop.code)
        raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _fragile(frame: FrameType | None) -> bool:
    """Whether this frame runs inside the import of a compiled module or inside code executed from a string.

    An exception may crash the former. In the latter, Python marks the interrupt as unhandled and kills the
    process by the signal, whatever happens afterwards.
    """
    while frame is not None and frame.f_back is not None:  # the outermost frame is that of `python -c`
        if frame.f_code.co_filename == "<string>":
            return True
        if isinstance(frame.f_locals.get("self"), ExtensionFileLoader):
            return True
        frame = frame.f_back
    return False
