"""The parts of an experiment group: tasks, their results, and a report."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from paper.table_rows import Row

#: The dimensions and the number of seeds under `--quick`.
QUICK_DIMS, QUICK_SEEDS = (3, 10), 2


@dataclasses.dataclass(frozen=True)
class Options:
    """The user's choices; None leaves the choice to the rows."""

    dims: tuple[int, ...] | None = None
    seeds: int | None = None
    quick: bool = False
    data_dir: str | None = None

    def __post_init__(self) -> None:
        if self.seeds is not None and self.seeds < 1:
            raise ValueError(f"--seeds is {self.seeds}; it must be ≥ 1")

    def dims_of(self, row: Row) -> tuple[int, ...]:
        """The dimensions of the row that the user asked for."""
        wanted = self.dims or (QUICK_DIMS if self.quick else row.dims)
        return tuple(dim for dim in row.dims if dim in wanted)

    def seeds_of(self, row: Row) -> int:
        """The number of seeds."""
        return self.seeds or (min(QUICK_SEEDS, row.seeds) if self.quick else row.seeds)


@dataclasses.dataclass(frozen=True)
class Task:
    """One computation.

    `name` is the path of its result below the group's folder. `about` describes it in plain values: a task
    with another `about` is another task. `run` returns plain values.
    """

    name: str
    about: dict[str, Any]
    run: Callable[[], dict[str, Any]]


class Result(NamedTuple):
    """A finished task: its description, what `run` returned, and when, where and how it ran."""

    about: dict[str, Any]
    found: dict[str, Any]
    made: dict[str, Any]


class Report(NamedTuple):
    """The tables of a group as Markdown, and the same numbers as flat rows."""

    markdown: str
    rows: list[dict[str, Any]]


class Group(Protocol):
    """A module of experiments."""

    ABOUT: str

    def tasks(self, options: Options) -> Iterator[Task]:
        """The tasks of the group, in order."""

    def report(self, results: list[Result], folder: Path) -> Report:
        """The tables of the results; pictures go into `folder`."""
