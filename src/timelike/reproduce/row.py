"""Rows of published tables: settings, published numbers, and what the paper leaves open. One TOML file each."""

from __future__ import annotations

import dataclasses
import itertools
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

#: Holds for every row of its folder and of those below, unless a row says otherwise.
COMMON = "common.toml"
ROWS = Path(str(files("timelike.reproduce"))) / "rows"


@dataclasses.dataclass(frozen=True)
class Row:
    """One row of a table. Values that are tables in the files are dicts, and those of `open` are sentences."""

    name: str
    title: str
    dataset: str
    geometry: str
    likelihood: str
    epochs: int
    batch_size: int
    seeds: int
    dims: tuple[int, ...]
    burn_in: int = 10
    init_scale: float = 0.01
    #: Values of the paper's choice; of a list the best is taken.
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    #: All that the paper tried.
    grid: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    #: Column of the table → [median, spread] (a spread may be missing).
    published: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    #: What the paper leaves open → what we chose.
    open: dict[str, str] = dataclasses.field(default_factory=dict)
    #: What only the group's own module understands.
    more: dict[str, Any] = dataclasses.field(default_factory=dict)

    def candidates(self) -> dict[str, list[float]]:
        """The settings, each as a list of values: a grid for `timelike.sweep`."""
        return {name: value if isinstance(value, list) else [value] for name, value in self.settings.items()}

    def combinations(self) -> list[dict[str, float]]:
        """Every combination of the candidates."""
        names, values = zip(*self.candidates().items(), strict=True)
        return [dict(zip(names, one, strict=True)) for one in itertools.product(*values)]


def load_rows(group: str) -> list[Row]:
    """The rows of a group: data sets and models in the order of `order` in its `common.toml`."""
    folder = ROWS / group
    common = _read(folder / COMMON)
    order = common.pop("order", [])
    rows = [_row(path, path.relative_to(folder), common) for path in sorted(folder.rglob("*.toml"))]
    found = [row for row in rows if row is not None]

    def place(row: Row) -> list[int]:
        return [order.index(part) if part in order else len(order) for part in row.name.split("/")]

    return sorted(found, key=place)


def _row(path: Path, relative: Path, common: dict[str, Any]) -> Row | None:
    if path.name == COMMON:
        return None
    between = [_read(p / COMMON) for p in reversed(path.parents) if ROWS in p.parents and p.parent != ROWS]
    merged: dict[str, Any] = {}
    for part in (common, *between, _read(path)):
        for key, value in part.items():
            merged[key] = {**merged.get(key, {}), **value} if isinstance(value, dict) else value
    merged["dims"] = tuple(merged.get("dims", ()))
    known = {field.name for field in dataclasses.fields(Row)}
    unknown = sorted(set(merged) - known)
    if unknown:
        raise ValueError(f"{path}: {unknown[0]!r} is not a field of a row; there are {', '.join(known)}")
    return Row(name=relative.with_suffix("").as_posix(), **merged)


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    with open(path, "rb") as file:
        return tomllib.load(file)
