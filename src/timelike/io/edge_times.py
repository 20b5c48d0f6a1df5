"""When edges came about: numbers (a year, seconds), or dates as ISO 8601 writes them; all of one kind."""

from __future__ import annotations

import datetime
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike._util.checks import show

if TYPE_CHECKING:
    import polars as pl

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE | re.ASCII)
DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?Z?)?"
#: Dates are kept without a time zone, in UTC.
UNIT = "datetime64[us]"

Time = float | np.datetime64


class Clock:
    """Reads times. What the first is, a number or a date, all others must be."""

    def __init__(self) -> None:
        self.dates: bool | None = None

    def of(self, value: Any) -> Time | None:
        """The time that a text or an object says, None if it says none."""
        if isinstance(value, str):
            return self._of_text(value)
        if isinstance(value, datetime.datetime) and value.tzinfo is not None:
            value = value.astimezone(datetime.UTC).replace(tzinfo=None)
        if isinstance(value, datetime.date | np.datetime64):
            return self._checked(np.array([value], UNIT)[0])
        if isinstance(value, int | float | np.number) and not isinstance(value, bool):
            return self._checked(float(value))
        return None

    def _of_text(self, text: str) -> Time | None:
        if NUMBER.fullmatch(text):
            return self._checked(float(text))
        if not re.fullmatch(DATE, text):
            return None
        try:
            return self._checked(np.datetime64(text.removesuffix("Z"), "us"))
        except ValueError:  # the 30th of February
            return None

    def _checked(self, time: Time) -> Time | None:
        dates = isinstance(time, np.datetime64)
        missing = np.isnat(time) if isinstance(time, np.datetime64) else not math.isfinite(time)
        if missing or self.dates not in (None, dates):
            return None
        self.dates = dates
        return time

    def of_texts(self, texts: pl.Series) -> np.ndarray | None:
        """The times of a whole column of texts, or None if there is one that says none."""
        import polars as pl

        numbers = texts.cast(pl.Float64, strict=False)
        if numbers.is_finite().fill_null(False).all():
            return self._all(numbers.to_numpy())
        if not texts.str.contains(f"^{DATE}$").fill_null(False).all():
            return None
        try:
            return self._all(np.array(texts.str.strip_suffix("Z").to_list(), UNIT))
        except ValueError:
            return None

    def of_column(self, where: str, column: pl.Series) -> tuple[np.ndarray, np.ndarray]:
        """The times of a column of a table, and which of them are any."""
        import polars as pl

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
        found = self.of_texts(texts)
        if found is not None:
            return found, np.ones(len(found), bool)
        each = [self.of(text) for text in texts]
        filler = np.datetime64(0, "us") if self.dates else 0.0
        times = np.array([filler if time is None else time for time in each])
        return times, np.array([time is not None for time in each])

    def _all(self, times: np.ndarray) -> np.ndarray | None:
        """The times, if they are of the kind of those before."""
        dates = times.dtype.kind == "M"
        if self.dates not in (None, dates):
            return None
        self.dates = dates
        return times

    def problem(self, value: Any) -> str:
        """What to say about a value that is no time."""
        if value in (None, ""):
            return "the time is missing"
        kinds = {None: "a number or a date such as 2021-03-04", True: "a date, as those before it are"}
        return f"the time {show(value)} is not {kinds.get(self.dates, 'a number, as those before it are')}"
