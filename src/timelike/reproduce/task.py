"""What a group of experiments is made of: tasks, their results, and a report."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from timelike.reproduce.row import Row

#: What `--quick` takes.
QUICK_DIMS, QUICK_SEEDS = (3, 10), 2


@dataclasses.dataclass(frozen=True)
class Options:
    """What the user asked for; None: what the rows say."""

    dims: tuple[int, ...] | None = None
    seeds: int | None = None
    quick: bool = False
    data_dir: str | None = None

    def __post_init__(self) -> None:
        if self.seeds is not None and self.seeds < 1:
            raise ValueError(f"--seeds is {self.seeds}; it must be ≥ 1")

    def dims_of(self, row: Row) -> tuple[int, ...]:
        """Those of the row that were asked for."""
        wanted = self.dims or (QUICK_DIMS if self.quick else row.dims)
        return tuple(dim for dim in row.dims if dim in wanted)

    def seeds_of(self, row: Row) -> int:
        """How many random starts."""
        return self.seeds or (min(QUICK_SEEDS, row.seeds) if self.quick else row.seeds)


@dataclasses.dataclass(frozen=True)
class Task:
    """One thing to compute.

    `name` is the file of its result below the group's folder; `about` says in plain values what it
    is, and another `about` is another task; `run` computes plain values.
    """

    name: str
    about: dict[str, Any]
    run: Callable[[], dict[str, Any]]


class Result(NamedTuple):
    """What is stored of a finished task: what it is, what was found, and when, where and how."""

    about: dict[str, Any]
    found: dict[str, Any]
    made: dict[str, Any]


class Report(NamedTuple):
    """Tables of a group: to read, and the same numbers as flat rows."""

    markdown: str
    rows: list[dict[str, Any]]


class Group(Protocol):
    """A module of experiments."""

    ABOUT: str

    def tasks(self, options: Options) -> Iterator[Task]:
        """What there is to compute, in order."""

    def report(self, results: list[Result], folder: Path) -> Report:
        """Tables of what was computed; pictures go into `folder`."""
