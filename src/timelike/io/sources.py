"""Where edges lie: one file or several, a folder or a glob of them, on this disk or in an object store."""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from timelike._util.checks import show
from timelike._util.remote_files import fetch, listed, url_of
from timelike.io.byte_streams import PACKINGS

#: Endings of the files that a folder may hold: those of the first kind that it has are read.
KINDS = ((".parquet", ".pq"), (".csv", ".tsv", ".txt"))
#: Files of folders that are something else: OGB's layout, a split, a model, edge shards.
OTHERS = (
    *("edge.csv.gz", "raw/edge.csv.gz", "train.tsv", "train.csv", "train.parquet"),
    *("model.json", "shards.json"),
)


class Place(NamedTuple):
    """A local file, and the name by which the user knows it."""

    file: Path
    name: str


def is_several(source: Any) -> bool:
    """Whether this names several files, or remote ones: a list, a glob, a URL, or a folder of data files."""
    if isinstance(source, list | tuple):
        return bool(source) and all(isinstance(x, str | os.PathLike) for x in source)
    if not isinstance(source, str | os.PathLike):
        return False
    if url_of(source) is not None:
        return True
    text = os.fspath(source)
    return bool(_in_folder(Path(text))) if Path(text).is_dir() else not Path(text).exists() and _is_glob(text)


@contextmanager
def local_files(source: Any) -> Iterator[list[Place]]:
    """The files that a source names, in the order of their names; remote ones are copies for this block."""
    items = source if isinstance(source, list | tuple) else [source]
    with tempfile.TemporaryDirectory(prefix="timelike-") as folder:
        parts = [_places(os.fspath(item), Path(folder, str(i))) for i, item in enumerate(items)]
        found = [place for part in parts for place in part]
        _check_alike(found)
        yield found


def _places(item: str, folder: Path) -> list[Place]:
    url = url_of(item)
    if url is None:
        return [Place(file, str(file)) for file in _local(item)]
    urls = [one for one in listed(url) if _is_data(one[len(url) :] or one.rpartition("/")[2])]
    names = [one for one in urls if one.endswith(KINDS[0])] or urls
    if not names:
        raise FileNotFoundError(f"{url}: there is no such file, folder or bucket")
    folder.mkdir()
    files = [folder / f"{i:05d}-{one.rpartition('/')[2]}" for i, one in enumerate(names)]
    fetch(names, files)
    return [Place(*both) for both in zip(files, names, strict=True)]


def _local(item: str) -> list[Path]:
    path = Path(item)
    if path.is_dir():
        found = _in_folder(path)
        if not found:
            raise ValueError(f"{item}: the folder has no Parquet, CSV or TSV files")
        return found
    if path.exists():
        return [path]
    matches = sorted(Path(name) for name in glob.glob(item, recursive=True))
    matches = [match for match in matches if _is_data(match.name)]
    files = [file for match in matches for file in (_in_folder(match) if match.is_dir() else [match])]
    if not files:
        what = "no file matches" if _is_glob(item) else "there is no such file"
        raise FileNotFoundError(f"{item}: {what}")
    return files


def _in_folder(folder: Path) -> list[Path]:
    """The data files below a folder; hidden ones, and those that begin with _ (`_SUCCESS`), are none."""
    if any((folder / name).exists() for name in OTHERS):
        return []
    files = [file for file in sorted(folder.rglob("*")) if _is_data(str(file.relative_to(folder)))]
    files = [file for file in files if file.is_file()]
    for endings in KINDS:
        if chosen := [file for file in files if _ending(file.name) in endings]:
            return chosen
    return []


def _ending(name: str) -> str:
    for packing in PACKINGS:
        name = name.removesuffix(packing)
    return Path(name.lower()).suffix


def _is_data(name: str) -> bool:
    return not any(part.startswith((".", "_")) for part in Path(name).parts if part != "/")


def _is_glob(text: str) -> bool:
    return any(sign in text for sign in "*?[")


def _check_alike(places: Sequence[Place]) -> None:
    """Raise a `ValueError` unless all Parquet files have the same columns; reading finds broken ones."""
    first: tuple[Place, dict[str, str]] | None = None
    for place in places if len(places) > 1 else ():
        if not place.name.endswith(KINDS[0]):
            continue
        try:
            schema = {name: _kind(dtype) for name, dtype in pl.read_parquet_schema(place.file).items()}
        except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
            continue
        first = first or (place, schema)
        if schema != first[1]:
            raise ValueError(
                f"{place.name}: its columns are {_text(schema)}, but those of {first[0].name} are "
                f"{_text(first[1])}; all files must have the same"
            )


def _kind(dtype: Any) -> str:
    return "integer" if dtype.is_integer() else "number" if dtype.is_float() else str(dtype)


def _text(schema: dict[str, str]) -> str:
    return show(", ".join(f"{name} ({kind})" for name, kind in schema.items()))[1:-1]
