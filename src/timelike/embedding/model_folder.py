"""A model on disk: a folder of plain files, never a pickle, replaced as a whole.

- `model.json`: schema, versions, manifold, likelihood, calibration, score, and a record of the training;
- `points.safetensors`: the table `points`, and `history.*`, one array per column of the history; for an
  ensemble also `others`, the points of all members but the first (schema 2; other models have schema 1);
- `nodes.parquet`: id and name of every node; no name column if nodes have no names;
- `edges.parquet` (optional): the training data, see `timelike.embedding.trained_on`;
- `evidence.safetensors` (optional): how the joint model weighs geometry and evidence;
- `labels.safetensors` (optional): signs and types of the edges, and how they are predicted;
- `replay.safetensors` (optional): points of earlier epochs, see `timelike.training.replay`;
- `SHA256SUMS`: checksums of the files above; who edits one by hand deletes this list.

Loading checks every file; errors name the file.
"""

from __future__ import annotations

import dataclasses
import io
import json
import os
import tempfile
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
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
from timelike._util.checksums import SUMS, check_checksums, write_checksums
from timelike._util.remote_files import local_copy, send_folder, url_of
from timelike._version import __version__
from timelike.core.model import Model
from timelike.embedding.calibration import Calibration
from timelike.embedding.exact_ranking import LIKELIHOOD, ranker
from timelike.embedding.node_table import names_of, node_columns
from timelike.embedding.plain_json import from_plain, struct_from_json, struct_to_json, to_plain
from timelike.embedding.trained_on import TrainedOn
from timelike.io.untrusted_parquet import read_table

if TYPE_CHECKING:
    import polars

    from timelike.embedding.embedding import Embedding

#: The latest schema; older ones load too. A model with one member is saved as schema 1.
SCHEMA = 2
FORMAT = "timelike model"
MODEL, POINTS, NODES, EDGES = "model.json", "points.safetensors", "nodes.parquet", "edges.parquet"
REPLAY, EVIDENCE, LABELS = "replay.safetensors", "evidence.safetensors", "labels.safetensors"
#: Files that a model folder may hold beside those that it must hold.
MORE = (EDGES, REPLAY, EVIDENCE, LABELS, SUMS)
FILES = (MODEL, POINTS, NODES)


def save(
    embedding: Embedding,
    path: str | os.PathLike,
    trained_on: TrainedOn | None = None,
    more: Mapping[str, Callable[[Path], None]] | None = None,
) -> None:
    """Write a folder beside `path`, then rename it, replacing a model that is there; or copy it to a URL.

    `more` are other files in it: name → a function that writes it.
    """
    import polars as pl

    if (url := url_of(path)) is not None:
        with tempfile.TemporaryDirectory(prefix="timelike-") as here:
            save(embedding, Path(here) / "model", trained_on, more)
            send_folder(Path(here) / "model", url, last=(SUMS, MODEL))
        return
    check_free(Path(path))
    tables = {"points": embedding.points}
    if embedding.others is not None:
        tables["others"] = embedding.others
    for table in tables.values():
        embedding.model.manifold.check_points(table.reshape(-1, table.shape[-1]))
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
    with replacing_folder(Path(path)) as folder:
        (folder / MODEL).write_bytes(text)
        save_tensors(folder / POINTS, {**tables, **columns}, {})
        ids = pl.DataFrame({"id": np.arange(len(embedding.points), dtype=np.int64)})
        _put_table(folder / NODES, ids.hstack(node_columns(embedding.names)))
        if trained_on is not None:
            _put_table(folder / EDGES, trained_on.to_frame())
        for name, write in (more or {}).items():
            write(folder / name)
        write_checksums(folder)


def load(path: str | os.PathLike) -> dict[str, Any]:
    """The checked fields of an `Embedding`."""
    with _reading(path) as folder:
        for name in FILES:
            if not (folder / name).is_file():
                raise FileNotFoundError(
                    f"{folder / name} is missing; a model folder holds {', '.join(FILES)}"
                )
        check_checksums(folder, [name for name in (*FILES, *MORE) if name not in (REPLAY, SUMS)])
        with blaming(folder / MODEL):
            head = _read_head(folder / MODEL)
            parts = (struct_from_json(head[part], part, part) for part in ("manifold", "likelihood"))
            fields = {"model": Model(*parts), "score": head.get("score", LIKELIHOOD)}
            fields["calibration"] = None if head["calibration"] is None else _calibration(head["calibration"])
            if not isinstance(fields["score"], str):
                raise ValueError(f'"score" is {show(fields["score"])}; it must be the name of a score')
            ranker(fields["model"], fields["score"])
            fields["info"] = _info(renamed(from_plain(head["info"])))
        fields |= _read_points(folder / POINTS, fields["model"])
        return {**fields, "names": _read_names(folder / NODES, len(fields["points"]))}


def load_trained_on(path: str | os.PathLike, embedding: Embedding) -> TrainedOn | None:
    """The training data of the model in this folder, if it was saved."""
    with _reading(path) as folder, blaming(folder / EDGES):
        if not (folder / EDGES).is_file():
            return None
        return TrainedOn.from_frame(read_table(folder / EDGES), len(embedding.points), embedding.names)


def evidence_file(path: str | os.PathLike, name: str = EVIDENCE) -> Path | None:
    """The file of the joint model in this folder, or of signs and types (`LABELS`), if it has one."""
    with _reading(path) as folder:
        return folder / name if (folder / name).is_file() else None


@contextmanager
def _reading(path: str | os.PathLike) -> Iterator[Path]:
    if (url := url_of(path)) is not None:
        path = local_copy(url)
    with reading_folder(Path(path)) as folder:
        if folder.is_file():
            raise NotADirectoryError(f"{path} is a file; pass a model folder, which `timelike fit` writes")
        if not folder.is_dir():
            raise FileNotFoundError(f"{path}: there is no such model folder; check the path")
        for file in (folder / name for name in (*FILES, *MORE)):
            if file.is_symlink():
                raise ValueError(f"{file} is a link to elsewhere; a model folder must hold the file itself")
        yield folder


def check_free(path: Path, where: str = "path") -> None:
    """Raise an error unless `path` is free, or holds a model to replace."""
    output_path(where, path)
    if not path.exists():
        return
    if not path.is_dir():
        raise FileExistsError(f"{where} is {path}, which is a file; choose a folder for the model")
    content = sorted(entry.name for entry in path.iterdir())
    foreign = [name for name in content if name not in (*FILES, *MORE)]
    if foreign or (content and MODEL not in content):
        raise FileExistsError(
            f"{where} is {path}, a folder but no model (it holds {(foreign or content)[0]}); choose another"
        )


def _put_table(file: Path, table: polars.DataFrame) -> None:
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    file.write_bytes(buffer.getvalue())


@contextmanager
def blaming(file: Path) -> Iterator[None]:
    """Turn errors inside into one-line errors about this file."""
    try:
        yield
    except KeyError as error:
        raise ValueError(f"{file}: there is no {error.args[0]!r}") from None
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file}: {' '.join(str(error).split())}") from None


def _read_head(file: Path) -> dict[str, Any]:
    try:
        head = json.loads(read_text(file))
    except (RecursionError, ValueError) as error:
        raise ValueError(f"not readable as JSON ({error})") from None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise ValueError(f'not a model: "format" must be "{FORMAT}"')
    if whole_number('"schema"', head["schema"], 1) > SCHEMA:
        raise ValueError(
            f"written with schema {head['schema']} by timelike {show(head.get('timelike'))}; timelike "
            f"{__version__} reads schemas up to {SCHEMA}: upgrade it"
        )
    return head


#: Old → new kinds of negatives: models saved before there was one vocabulary have the old ones.
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
    """The info of a saved model with the new kinds of negatives; `kinds`: `value` names or holds kinds."""
    if not isinstance(value, dict):
        return RENAMED.get(value, value) if kinds and isinstance(value, str) else value
    names = {"protocol": "valid_negatives"} | (RENAMED if kinds else {})
    return {
        names.get(name, name): renamed(inner, name in ("negatives", "weights", "Negatives", "protocol"))
        for name, inner in value.items()
    }


def _info(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f'"info" is {show(value)}; it must be a record of the training')
    for name in ("geometry", "reason", "calibration", "selected_by", "valid_negatives"):
        if not isinstance(value.get(name, ""), str):
            raise ValueError(f'"info": {name} is {show(value[name])}; it must be text')
    whole_number('"info": best_epoch', value.get("best_epoch", 0))
    return value


def _calibration(value: Any) -> Calibration:
    names = [f.name for f in dataclasses.fields(Calibration)]
    needed = names[:-1]  # the oldest models have no knee
    if not isinstance(value, dict) or not set(needed) <= set(value) <= set(names):
        raise ValueError(f'"calibration" is {show(value)}; it must be null, or hold {", ".join(needed)}')
    for name in value:
        if not isinstance(value[name], int | float):
            raise ValueError(f'"calibration": {name} is {show(value[name])}; it must be a number')
    return Calibration(**value)


def _read_points(file: Path, model: Model) -> dict[str, Any]:
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
                raise ValueError(
                    f"others has shape {others.shape}; it must hold tables of the shape {points.shape}"
                )
            model.manifold.check_points(others.reshape(-1, points.shape[1]), "others")
        for name, x in tensors.items():
            if x.ndim != 1:
                raise ValueError(f"{name} has shape {x.shape}; it must have one number per epoch")
    history = {name.removeprefix("history."): x for name, x in tensors.items()}
    return {"points": points, "others": others, "history": history}


def _read_names(file: Path, nodes: int) -> Sequence[Hashable] | None:
    with blaming(file):
        table = read_table(file)
        if table.height != nodes:
            raise ValueError(f"{table.height} nodes, but {POINTS} has {nodes} points")
        return names_of(table)
