"""A model on disk: a folder of plain files, never a pickle, replaced as a whole.

- `model.json`: schema, versions, manifold, likelihood, calibration, score, and how the model was trained;
- `points.safetensors`: the table `points`, and `history.*`, an array per column of the history; of a model
  with several members also `others`, the points of all but the first (schema 2; other models have 1);
- `nodes.parquet`: id and name of every node; no name column if nodes have no names;
- `edges.parquet`, which may be missing: what it was trained on, see `timelike.embedding.trained_on`;
- `replay.safetensors`, which may be missing: points of earlier epochs, see `timelike.training.replay`.

A folder that was edited by hand is checked when it is read: every error names the file.
"""

from __future__ import annotations

import dataclasses
import io
import json
import os
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike._util.atomic_files import (
    check_length,
    load_tensors,
    read_text,
    reading_folder,
    replacing_folder,
    save_tensors,
)
from timelike._util.checks import output_path, show, whole_number
from timelike._version import __version__
from timelike.core.model import Model
from timelike.embedding.calibration import Calibration
from timelike.embedding.pair_scores import LIKELIHOOD, ranker
from timelike.embedding.plain_json import from_plain, struct_from_json, struct_to_json, to_plain
from timelike.embedding.trained_on import TrainedOn
from timelike.graphs.name_parsing import names_from
from timelike.graphs.node_names import NAME_KINDS, plain_names
from timelike.io.untrusted_parquet import read_table

if TYPE_CHECKING:
    import polars

    from timelike.embedding.embedding import Embedding

#: The latest that is read; older ones are too. A model with one member is written as the first.
SCHEMA = 2
FORMAT = "timelike model"
MODEL, POINTS, NODES, EDGES = "model.json", "points.safetensors", "nodes.parquet", "edges.parquet"
REPLAY = "replay.safetensors"
FILES = (MODEL, POINTS, NODES)


def save(embedding: Embedding, path: str | os.PathLike, trained_on: TrainedOn | None = None) -> None:
    """Write a folder beside `path`, then rename it; a model that is there is replaced."""
    path = Path(path)
    check_free(path)
    with replacing_folder(path) as folder:
        _write(folder, embedding)
        if trained_on is not None:
            _put_table(folder / EDGES, trained_on.to_frame())


def load(path: str | os.PathLike) -> dict[str, Any]:
    """The fields of an `Embedding`, checked."""
    with _reading(path) as folder:
        return _load(folder)


def _load(path: Path) -> dict[str, Any]:
    for name in FILES:
        if not (path / name).is_file():
            raise FileNotFoundError(f"{path / name} is missing; a model folder holds {', '.join(FILES)}")
    head = _read_head(path / MODEL)
    with blaming(path / MODEL):
        model = Model(
            struct_from_json(head["manifold"], "manifold", "manifold"),
            struct_from_json(head["likelihood"], "likelihood", "likelihood"),
        )
        calibration = None if head["calibration"] is None else _calibration(head["calibration"])
        score = head.get("score", LIKELIHOOD)
        ranker(model, score)
        info = _info(renamed(from_plain(head["info"])))
    points, others, history = _read_points(path / POINTS, model)
    names = _read_names(path / NODES, len(points))
    return {
        "model": model,
        "points": points,
        "names": names,
        "history": history,
        "info": info,
        "calibration": calibration,
        "score": score,
        "others": others,
    }


def load_trained_on(path: str | os.PathLike, embedding: Embedding) -> TrainedOn | None:
    """What the model in this folder was trained on, if that was saved with it."""
    with _reading(path) as folder, blaming(folder / EDGES):
        if not (folder / EDGES).is_file():
            return None
        return TrainedOn.from_frame(read_table(folder / EDGES), len(embedding.points), embedding.names)


@contextmanager
def _reading(path: str | os.PathLike) -> Iterator[Path]:
    with reading_folder(Path(path)) as folder:
        if folder.is_file():
            raise NotADirectoryError(f"{path} is a file; `timelike fit` makes model folders")
        if not folder.is_dir():
            raise FileNotFoundError(f"{path}: there is no such model folder")
        for file in (folder / name for name in (*FILES, EDGES, REPLAY)):
            if file.is_symlink():
                raise ValueError(f"{file} is a link to elsewhere; a model folder holds its files itself")
        yield folder


def head_of(path: str | os.PathLike) -> Path:
    """The file in a model folder that says what it is."""
    with _reading(path) as folder:
        return folder / MODEL


def check_free(path: Path, where: str = "path") -> None:
    """Refuse to write over anything but a model, or nothing."""
    output_path(where, path)
    if not path.exists():
        return
    if not path.is_dir():
        raise FileExistsError(f"{path} is a file; name a folder for the model")
    found = sorted(entry.name for entry in path.iterdir())
    strange = [name for name in found if name not in (*FILES, EDGES, REPLAY)]
    if strange or (found and MODEL not in found):
        raise FileExistsError(
            f"{path} is a folder but no model (it holds {show(strange or found)}); name another"
        )


# Writing


def _write(folder: Path, embedding: Embedding) -> None:
    import polars as pl

    points = np.ascontiguousarray(embedding.points)
    tables = {"points": points}
    if embedding.others is not None:
        tables["others"] = np.ascontiguousarray(embedding.others)
    for table in tables.values():
        embedding.model.manifold.check_points(table.reshape(-1, points.shape[-1]))
    head = {
        "format": FORMAT,
        "schema": 1 if embedding.others is None else SCHEMA,
        "timelike": __version__,
        "manifold": struct_to_json(embedding.model.manifold, "manifold"),
        "likelihood": struct_to_json(embedding.model.likelihood, "likelihood"),
        "calibration": None if embedding.calibration is None else dataclasses.asdict(embedding.calibration),
        "score": embedding.score,
        "info": to_plain(embedding.info, "info"),
    }
    columns = {f"history.{name}": x for name, x in embedding.history.items()}
    text = (json.dumps(head, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
    check_length(f"{MODEL}, with the embedding's info,", len(text))
    (folder / MODEL).write_bytes(text)
    save_tensors(folder / POINTS, {**tables, **columns}, {})
    ids = pl.DataFrame({"id": np.arange(len(points), dtype=np.int64)})
    _put_table(folder / NODES, ids.hstack(name_columns(embedding.names)))


def _put_table(file: Path, table: polars.DataFrame) -> None:
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    file.write_bytes(buffer.getvalue())


def name_columns(names: Sequence[Hashable] | None) -> list[polars.Series]:
    """Names as a column of their own kind; of mixed kinds as text, with a column that tells which."""
    import polars as pl

    if names is None:
        return []
    values = plain_names(names)
    if len({type(value) for value in values}) == 1:
        return [pl.Series("name", values)]
    text = [value if isinstance(value, str) else repr(value) for value in values]
    return [pl.Series("name", text), pl.Series("kind", [type(value).__name__ for value in values])]


# Reading


@contextmanager
def blaming(file: Path) -> Iterator[None]:
    """Errors inside are this file's, and say so in one line."""
    try:
        yield
    except KeyError as error:
        raise ValueError(f"{file}: there is no {error.args[0]!r}") from None
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file}: {' '.join(str(error).split())}") from None


def _read_head(file: Path) -> dict[str, Any]:
    with blaming(file):
        try:
            head = json.loads(read_text(file))
        except (RecursionError, ValueError) as error:
            raise ValueError(f"not readable as JSON ({error})") from None
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            raise ValueError(f'not the head of a model: "format" must be "{FORMAT}"')
        schema = head["schema"]
        if not isinstance(schema, int) or schema < 1:
            raise ValueError(f'"schema" is {show(schema)}; it must be a whole number ≥ 1')
        if schema > SCHEMA:
            writer = show(head.get("timelike"))
            raise ValueError(
                f"written with schema {schema} by timelike {writer}; this is timelike {__version__}, which "
                f"reads up to {SCHEMA}: upgrade it"
            )
    return head


#: Kinds of negatives in models that were saved before they had one vocabulary.
RENAMED = {
    "target": "same_source",
    "source": "same_target",
    "hub": "popular_source",
    "inner": "active_source",
    "hub_source": "popular_same_target",
    "inner_source": "active_same_target",
    "outer": "active_target",
    "corrupt-target": "same_source",
    "corrupt-source": "same_target",
}


def renamed(value: Any, kinds: bool = False) -> Any:
    """Information of a saved model, with older names of kinds of negatives brought up to date."""
    if not isinstance(value, dict):
        return RENAMED.get(value, value) if kinds and isinstance(value, str) else value
    return {
        "valid_negatives" if name == "protocol" else RENAMED.get(name, name) if kinds else name: renamed(
            inner, name in ("negatives", "weights", "Negatives", "protocol")
        )
        for name, inner in value.items()
    }


def _info(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f'"info" is {show(value)}; it must hold what is known of the training')
    for name in ("geometry", "reason", "calibration", "selected_by", "valid_negatives"):
        if not isinstance(value.get(name, ""), str):
            raise ValueError(f'"info": {name} is {show(value[name])}; it must be text')
    whole_number('"info": best_epoch', value.get("best_epoch", 0))
    return value


def _calibration(value: Any) -> Calibration:
    names = [f.name for f in dataclasses.fields(Calibration)]
    needed = names[:-1]  # older models have no knee
    if not isinstance(value, dict) or not set(needed) <= set(value) <= set(names):
        raise ValueError(f'"calibration" is {show(value)}; it must be null, or hold {", ".join(needed)}')
    for name in value:
        if not isinstance(value[name], int | float):
            raise ValueError(f'"calibration": {name} is {show(value[name])}; it must be a number')
    return Calibration(**value)


def _read_points(file: Path, model: Model) -> tuple[np.ndarray, np.ndarray | None, dict[str, np.ndarray]]:
    with blaming(file):
        try:
            tensors, _ = load_tensors(file)
        except (OSError, RecursionError, ValueError) as error:
            raise ValueError(f"not readable as safetensors ({error})") from None
        points = tensors.pop("points")
        model.manifold.check_points(points)
        others = tensors.pop("others", None)
        if others is not None:
            if others.shape[1:] != points.shape or not len(others) or others.dtype != points.dtype:
                raise ValueError(f"others has shape {others.shape}; it must hold tables like points")
            model.manifold.check_points(others.reshape(-1, points.shape[1]), "others")
        for name, x in tensors.items():
            if x.ndim != 1:
                raise ValueError(f"{name} has shape {x.shape}; it must have one number for each epoch")
    return points, others, {name.removeprefix("history."): x for name, x in tensors.items()}


def _read_names(file: Path, nodes: int) -> Sequence[Hashable] | None:
    with blaming(file):
        table = read_table(file)
        if "id" not in table.columns:
            raise ValueError(f"there is no column id, only {', '.join(table.columns)}")
        if table.height != nodes:
            raise ValueError(f"{table.height} nodes, but {POINTS} has {nodes} points")
        if not np.array_equal(table["id"].to_numpy(), np.arange(nodes)):
            raise ValueError("the ids are not 0, 1, 2, … in this order")
        if "name" not in table.columns:
            return None
        column = table["name"]
        names = tuple(_of_kinds(column, table["kind"])) if "kind" in table.columns else names_from(column)
        different = len(set(names)) if isinstance(names, tuple) else column.n_unique()
        if different != nodes or column.null_count():
            raise ValueError("some names are missing or occur twice; every node needs its own name")
    return names


def _of_kinds(names: Iterable[str], kinds: Iterable[str]) -> Iterable[Hashable]:
    for name, kind in zip(names, kinds, strict=True):
        if kind not in NAME_KINDS:
            raise ValueError(f"the name {name!r} is of kind {kind!r}; known are {', '.join(NAME_KINDS)}")
        yield NAME_KINDS[kind](name)
