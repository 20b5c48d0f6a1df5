"""Signals that stop a run between two epochs, and Ctrl-C where Python alone would miss it or crash."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.machinery import ExtensionFileLoader
from types import FrameType
from typing import Any, NoReturn

#: Seconds after which an interrupt that came at a bad moment is tried again.
MOMENT = 0.02
#: The exit code of a program that an interrupt has stopped.
INTERRUPTED = 128 + signal.SIGINT


@contextmanager
def note_signals() -> Iterator[list[str]]:
    """Collect SIGINT and SIGTERM instead of dying in the middle of an epoch; a second one dies.

    One that came too late for the last epoch is handed on to who minded it before.
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
    try:
        yield caught
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
    if caught:
        signal.raise_signal(signal.Signals[caught[0]])


@contextmanager
def minded_interrupts() -> Iterator[None]:
    """For the whole of a program: Ctrl-C raises KeyboardInterrupt, but not everywhere.

    It waits while what would take it badly is under way (`_fragile`). Where Python ignores exceptions, as in
    a finaliser, it is raised again. When all is done, it comes too late. A program that ends with the code
    `INTERRUPTED` ends at once: JAX crashes where Python would put away a compilation that was broken off.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:  # as in the background of a shell
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
        if stop.code == INTERRUPTED:
            _leave(INTERRUPTED)
        raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _leave(code: int) -> NoReturn:
    """End this process without what Python does at an orderly end."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # nobody reads it any more
            stream.flush()
    os._exit(code)


def _fragile(frame: FrameType | None) -> bool:
    """Whether this frame is inside the import of a compiled module, or of the execution of a text.

    The former may crash. Python marks the latter as not handled, and ends by the signal whatever comes then.
    """
    while frame is not None and frame.f_back is not None:  # the outermost is that of `python -c`
        if frame.f_code.co_filename == "<string>":
            return True
        if isinstance(frame.f_locals.get("self"), ExtensionFileLoader):
            return True
        frame = frame.f_back
    return False
