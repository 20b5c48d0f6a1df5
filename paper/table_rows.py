"""Rows of the published tables, one TOML file each: settings, published numbers, our own choices."""

from __future__ import annotations

import dataclasses
import itertools
import tomllib
from pathlib import Path
from typing import Any

#: The file with defaults for all rows in its folder and below; a row overrides them.
COMMON = "common.toml"
ROWS = Path(__file__).parent / "rows"


@dataclasses.dataclass(frozen=True)
class Row:
    """One row of a table; TOML tables become dicts."""

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
    #: The paper's choice, printed in bold there; from a list, the best value is taken.
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    #: Values to try instead where the paper's do not carry over; `open` gives the reason.
    instead: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    #: All values that the paper tried.
    grid: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    #: Column of the table → [median, spread]; the spread may be missing.
    published: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    #: Question that the paper leaves open → our choice.
    open: dict[str, str] = dataclasses.field(default_factory=dict)
    #: Values that only the group's own module reads.
    more: dict[str, Any] = dataclasses.field(default_factory=dict)

    def about(self, *fields: str) -> dict[str, Any]:
        """The name of the row and some of its fields, which identify a task."""
        return {"row": self.name, **{field: getattr(self, field) for field in fields}}

    def candidates(self) -> dict[str, list[float]]:
        """The settings to try, as a grid for `timelike.sweep`."""
        return listed({**self.settings, **self.instead})

    def combinations(self) -> list[dict[str, float]]:
        """All combinations of the candidates."""
        return product(self.candidates())

    def bold(self) -> dict[str, list[float]]:
        """The paper's choice, as a grid."""
        return listed(self.settings)


def listed(settings: dict[str, Any]) -> dict[str, list[float]]:
    """Settings as a grid: every value becomes a list of values."""
    return {name: value if isinstance(value, list) else [value] for name, value in settings.items()}


def product(grid: dict[str, list[float]]) -> list[dict[str, float]]:
    """All combinations of a grid; the last name varies fastest."""
    return [dict(zip(grid, one, strict=True)) for one in itertools.product(*grid.values())]


def load_rows(group: str) -> list[Row]:
    """The rows of a group; `order` in its `common.toml` orders data sets and models."""
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
    """The fields of a row, over the defaults of its folders, over those of the row that it is `like`."""
    own = _read(path)
    folders = [p for p in reversed(path.parents) if ROWS in p.parents]
    like = own.pop("like", None)
    merged = _merged(ROWS / f"{like}.toml") if like else {}
    for part in (*(_read(folder / COMMON) for folder in folders), own):
        for key, value in part.items():
            both = isinstance(value, dict) and value  # an empty table removes inherited entries
            merged[key] = {**merged.get(key, {}), **value} if both else value
    merged.pop("order", None)
    return merged


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    with open(path, "rb") as file:
        return tomllib.load(file)
