"""What long work says while it runs: a bar, lines of text without a terminal, and a record of every epoch."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from tqdm import tqdm

T = TypeVar("T")

#: Seconds between lines of text.
SECONDS = 5.0

#: Receives the record of an epoch: its stage, number and metrics, or the result of a fit.
Listener = Callable[[Mapping[str, Any]], None]

_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("listeners", default=())
_stage: ContextVar[str | None] = ContextVar("stage", default=None)
_shown: ContextVar[bool | None] = ContextVar("shown", default=None)
_lines: ContextVar[_Lines | None] = ContextVar("lines", default=None)


class _Lines(io.TextIOBase):
    """A file for bars that makes a line of text of each new state."""

    def __init__(self) -> None:
        self.last = time.monotonic()

    def write(self, text: str) -> int:
        """Print a line, unless the bar only erases itself."""
        if line := text.strip():
            self.last = time.monotonic()
            print(line, file=sys.stderr, flush=True)
        return len(text)

    def caption(self, text: str) -> None:
        """Print a caption if nothing has been printed for some time."""
        if time.monotonic() - self.last >= SECONDS:
            self.write(text)


@contextmanager
def lines_without_terminal() -> Iterator[None]:
    """While this lasts, bars become lines of text every few seconds if stderr is not a terminal."""
    before = _lines.set(None if sys.stderr.isatty() else _Lines())
    try:
        yield
    finally:
        _lines.reset(before)


@contextmanager
def heard_by(*listeners: Listener) -> Iterator[None]:
    """While this lasts, these listeners receive a record of every epoch too."""
    before = _listeners.set((*_listeners.get(), *listeners))
    try:
        yield
    finally:
        _listeners.reset(before)


@contextmanager
def stages() -> Iterator[None]:
    """While this lasts, `announce` names the stage of the records; afterwards none is named."""
    before, shown = _stage.set(None), _shown.set(None)
    try:
        yield
    finally:
        _stage.reset(before)
        _shown.reset(shown)


def announce(progress: bool | None, text: str, stage: str | None = None) -> None:
    """Print the caption of the next bar to stderr, if it will be shown; name the `stage` of its records."""
    _stage.set(stage)
    _shown.set(progress)
    if progress is not False and (lines := _lines.get()) is not None:
        lines.caption(text)
    elif _visible() if progress is None else progress:
        print(text, file=sys.stderr)


def tell(record: Mapping[str, Any]) -> None:
    """Hand a record to all listeners."""
    for listener in _listeners.get():
        listener(record)


def bar(items: Any = None, desc: str = "", progress: bool | None = None, **options: Any) -> tqdm:
    """A bar on stderr, by default if it is a terminal or a notebook; see `lines_without_terminal`.

    Unless `delay` or `leave` say otherwise, it appears after two seconds and disappears when done.
    """
    options = {"delay": 2, "leave": False, **options}
    if progress is not False and (lines := _lines.get()) is not None:
        form = "{desc}: {n_fmt} of {total_fmt} {unit}s, {elapsed}, {rate_fmt}{postfix}"
        options |= {"file": lines, "bar_format": form, "leave": False}
        options |= {"delay": SECONDS, "mininterval": SECONDS, "miniters": 1}
        return tqdm(items, desc, **options)
    return tqdm(items, desc, disable=not (_visible() if progress is None else progress), **options)


def within_stage(items: Iterable[T], desc: str, **options: Any) -> Iterable[T]:
    """The items with a bar, shown like the stage of the fit that they belong to; without one, no bar."""
    return items if _stage.get() is None else bar(items, desc, _shown.get(), **options)


class EpochBar:
    """The bar of a run over epochs, which also tells listeners the metrics of each.

    `progress`: None shows it on a terminal or in a notebook; False is silent, also to listeners.
    """

    def __init__(self, epochs: int, text: str, progress: bool | None = None, done: int = 0):
        self.text, self.quiet, self.done = text, progress is False, 0
        self.epochs, self.began = epochs, time.monotonic()
        self.bar = bar(None, text, progress, total=epochs, unit="epoch", delay=0, leave=True)
        self.continue_after(done)

    def __enter__(self) -> EpochBar:
        return self

    def __exit__(self, *_: Any) -> None:
        self.bar.close()

    def note(self, text: str) -> None:
        """Show a text beside the bar."""
        self.bar.set_postfix_str(text, refresh=_lines.get() is None)

    def advance(self, metrics: Mapping[str, Any], shown: Mapping[str, str] | None = None) -> None:
        """An epoch is done: tell its metrics, and show some as text beside the bar."""
        self.done += 1
        if not self.quiet and _listeners.get():
            seconds = round(time.monotonic() - self.began, 3)
            about = {"stage": _stage.get() or self.text, "epoch": self.done, "epochs": self.epochs}
            tell({**about, "seconds": seconds, **metrics})
        if shown:
            self.bar.set_postfix(shown, refresh=False)
        self.bar.update()

    def continue_after(self, done: int) -> None:
        """Epochs up to `done` were trained before: say where the run continues."""
        if 0 < done < self.epochs and not self.quiet:
            print(f"note: the run continues in epoch {done + 1} of {self.epochs}", file=sys.stderr)
        self.done = self.bar.n = self.bar.initial = done

    @property
    def rate(self) -> float | None:
        """Epochs a second, once it is known."""
        return self.bar.format_dict["rate"]


def _visible() -> bool:
    """Whether a person watches stderr: in a terminal, or below the cell of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return sys.stderr.isatty() or getattr(shell, "kernel", None) is not None
