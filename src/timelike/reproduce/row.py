"""Rows of published tables, one TOML file each: settings, published numbers, what the paper leaves open."""

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
    """One row of a table; tables in the files are dicts."""

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
    #: The paper's choice, in bold there; of a list the best is taken.
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    #: Tried instead, where the paper's number does not carry over; why is said under `open`.
    instead: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    #: All that the paper tried.
    grid: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    #: Column of the table → [median, spread] (a spread may be missing).
    published: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    #: What the paper leaves open → what we chose.
    open: dict[str, str] = dataclasses.field(default_factory=dict)
    #: What only the group's own module understands.
    more: dict[str, Any] = dataclasses.field(default_factory=dict)

    def about(self, *fields: str) -> dict[str, Any]:
        """Its name and these of its fields, for a task to be known by."""
        return {"row": self.name, **{field: getattr(self, field) for field in fields}}

    def candidates(self) -> dict[str, list[float]]:
        """What is tried, each as a list of values: a grid for `timelike.sweep`."""
        return listed({**self.settings, **self.instead})

    def combinations(self) -> list[dict[str, float]]:
        """Every combination of the candidates."""
        return product(self.candidates())

    def bold(self) -> dict[str, list[float]]:
        """The paper's choice, each as a list of values."""
        return listed(self.settings)


def listed(settings: dict[str, Any]) -> dict[str, list[float]]:
    """Settings as a grid: each is a list of values."""
    return {name: value if isinstance(value, list) else [value] for name, value in settings.items()}


def product(grid: dict[str, list[float]]) -> list[dict[str, float]]:
    """Every combination of a grid, the last name the fastest."""
    return [dict(zip(grid, one, strict=True)) for one in itertools.product(*grid.values())]


def load_rows(group: str) -> list[Row]:
    """The rows of a group: data sets and models in the order of `order` in its `common.toml`."""
    folder = ROWS / group
    order = _read(folder / COMMON).get("order", [])
    paths = [path for path in sorted(folder.rglob("*.toml")) if path.name != COMMON]
    rows = [_row(path, path.relative_to(folder)) for path in paths]

    def place(row: Row) -> list[int]:
        return [order.index(part) if part in order else len(order) for part in row.name.split("/")]

    return sorted(rows, key=place)


def _row(path: Path, relative: Path) -> Row:
    merged = _merged(path)
    merged["dims"] = tuple(merged.get("dims", ()))
    known = [field.name for field in dataclasses.fields(Row)]
    unknown = sorted({*merged} - {*known})
    if unknown:
        raise ValueError(f"{path}: {unknown[0]!r} is not a field of a row; there are {', '.join(known)}")
    return Row(name=relative.with_suffix("").as_posix(), **merged)


def _merged(path: Path) -> dict[str, Any]:
    """What a row says, over what its folders say, over what the row says that it is `like`."""
    own = _read(path)
    folders = [p for p in reversed(path.parents) if ROWS in p.parents]
    like = own.pop("like", None)
    merged = _merged(ROWS / f"{like}.toml") if like else {}
    for part in (*(_read(folder / COMMON) for folder in folders), own):
        for key, value in part.items():
            both = isinstance(value, dict) and value  # an empty table takes back what was said before
            merged[key] = {**merged.get(key, {}), **value} if both else value
    merged.pop("order", None)
    return merged


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    with open(path, "rb") as file:
        return tomllib.load(file)
