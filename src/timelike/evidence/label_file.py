"""Models of signs and types in a model folder: one safetensors file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from timelike._util.atomic_files import load_tensors, save_tensors
from timelike.embedding.model_folder import blaming
from timelike.evidence.joint_file import checked_trees
from timelike.evidence.label_model import PARTS, LabelModel
from timelike.graphs.digraph import DiGraph

#: The latest schema.
SCHEMA = 1


def save(models: Sequence[LabelModel], file: Path) -> None:
    """Write the models; the edges and the evidence are in files of their own."""
    tensors: dict[str, np.ndarray] = {}
    for number, model in enumerate(models):
        tensors |= {f"{number}.labels": model.labels, f"{number}.scales": model.scales}
        for i, members in enumerate(model.trees):
            for j, tree in enumerate(members):
                start = f"trees.{number}-{i}-{j}"
                tensors |= {f"{start}.{name}": table for name, table in tree.arrays.items()}
    about = [{"column": m.column, "classes": list(m.classes), "record": dict(m.record)} for m in models]
    save_tensors(file, tensors, {"schema": SCHEMA, "models": about})


def load(file: Path, known: DiGraph, outside: Sequence[Any]) -> tuple[LabelModel, ...]:
    """Read what `save` wrote, for the known edges and the evidence of the same folder."""
    with blaming(file):
        try:
            tensors, about = load_tensors(file)
        except (OSError, RecursionError, ValueError) as error:
            raise ValueError(f"not readable as safetensors ({error})") from None
        if about.get("schema") != SCHEMA:
            raise ValueError(f"schema is {about.get('schema')}; this version reads {SCHEMA}")
        return tuple(_model(tensors, i, one, known, outside) for i, one in enumerate(about["models"]))


def _model(
    tensors: dict[str, np.ndarray], number: int, about: dict[str, Any], known: DiGraph, outside: Sequence[Any]
) -> LabelModel:
    labels, scales = tensors[f"{number}.labels"], tensors[f"{number}.scales"]
    classes = tuple(map(str, about["classes"]))
    if labels.shape != (known.num_edges,) or not ((labels >= -1) & (labels < len(classes))).all():
        raise ValueError(f"{number}.labels does not fit the edges; fit the model again")
    pair = np.zeros(1, np.int64)
    model = LabelModel(
        str(about["column"]), classes, known, labels, tuple(outside), (), scales, about["record"]
    )
    columns = model.features(pair, pair).shape[1]
    trees = tuple(
        tuple(checked_trees(tensors, f"{number}-{i}-{j}", columns) for j in range(PARTS))
        for i in range(len(scales))
    )
    return LabelModel(model.column, classes, known, labels, tuple(outside), trees, scales, about["record"])
