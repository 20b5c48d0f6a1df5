"""Times of edges: numbers (a year, seconds) or ISO 8601 dates, never both."""

from __future__ import annotations

import datetime
import math
import re
from typing import Any

import numpy as np
import polars as pl

from timelike._util.checks import show

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE | re.ASCII)
DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?Z?)?"
#: Dates are stored in UTC, without a time zone.
UNIT = "datetime64[us]"

Time = float | np.datetime64


class Clock:
    """Parses times. The first one decides whether all are numbers or dates."""

    def __init__(self) -> None:
        self.dates: bool | None = None

    def of(self, value: Any) -> Time | None:
        """Return the time that a string or an object stands for, or None."""
        time = _parsed(value)
        return None if time is None or not self._agrees(isinstance(time, np.datetime64)) else time

    def required(self, value: Any) -> Time:
        """Return the time that a string or an object stands for; a `ValueError` says what is wrong."""
        time = self.of(value)
        if time is None:
            raise ValueError(self.problem(value))
        return time

    def _agrees(self, dates: bool) -> bool:
        """Whether the times so far are of the same kind."""
        if self.dates is None:
            self.dates = dates
        return self.dates == dates

    def of_texts(self, texts: pl.Series) -> np.ndarray | None:
        """Return the times of a column of strings, or None unless all of them are times."""
        numbers = texts.cast(pl.Float64, strict=False)
        if numbers.is_finite().fill_null(False).all():
            return numbers.to_numpy() if self._agrees(False) else None
        if not texts.str.contains(f"^{DATE}$").fill_null(False).all():
            return None
        try:
            dates = np.array(texts.str.strip_suffix("Z").to_list(), UNIT)
        except ValueError:
            return None
        return dates if self._agrees(True) else None

    def of_column(self, where: str, column: pl.Series) -> tuple[np.ndarray, np.ndarray]:
        """Return the times of a table column, and a mask of the valid ones."""
        kind = column.dtype
        if kind.is_numeric() or kind == pl.Null:
            column = column.cast(pl.Float64) if kind.is_decimal() else column  # NumPy has no decimals
            good = column.cast(pl.Float64).is_finite().fill_null(False)
            return column.fill_null(0).to_numpy(), good.to_numpy()
        if kind in (pl.Date, pl.Datetime):
            if getattr(kind, "time_zone", None):
                column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
            return column.cast(pl.Datetime("us")).to_numpy(), column.is_not_null().to_numpy()
        if kind not in (pl.String, pl.Categorical, pl.Enum):
            raise ValueError(f"{where} holds {kind}; times must be numbers or dates")
        texts = column.cast(pl.String).str.strip_chars()
        times = self.of_texts(texts)
        if times is not None:
            return times, np.ones(len(times), bool)
        each = [self.of(text) for text in texts]
        filler = np.datetime64(0, "us") if self.dates else 0.0
        times = np.array([filler if time is None else time for time in each])
        return times, np.array([time is not None for time in each])

    def problem(self, value: Any) -> str:
        """Describe what is wrong with a value that is not a time."""
        if value in (None, ""):
            return "the time is missing"
        kinds = {None: "a number or a date such as 2021-03-04", True: "a date like the times before it"}
        return f"the time {show(value)} is not {kinds.get(self.dates, 'a number like the times before it')}"


def _parsed(value: Any) -> Time | None:
    """Parse one time; None if it is missing, malformed or infinite."""
    if isinstance(value, str) and not NUMBER.fullmatch(value):
        try:
            return np.datetime64(value.removesuffix("Z"), "us") if re.fullmatch(DATE, value) else None
        except ValueError:  # such as 30 February
            return None
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    if isinstance(value, datetime.date | np.datetime64):
        date = np.array([value], UNIT)[0]
        return None if np.isnat(date) else date
    if isinstance(value, str | int | float | np.number) and not isinstance(value, bool):
        return float(value) if math.isfinite(float(value)) else None
    return None
