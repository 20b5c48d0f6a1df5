"""The joint model in a model folder: one safetensors file beside the points and the edges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from timelike._util.atomic_files import load_tensors, save_tensors
from timelike._util.checks import positive_number, show
from timelike.embedding.embedding import Embedding
from timelike.embedding.model_folder import blaming
from timelike.evidence.combiner import Combiner
from timelike.evidence.density import Curve, Scale
from timelike.evidence.joint import Joint
from timelike.evidence.outside import packed, unpacked
from timelike.evidence.structure import Structure
from timelike.evidence.tree_tables import SPLITS, TreeTables
from timelike.graphs.digraph import DiGraph

#: The latest schema. The first had trees without slopes, and numbers of these names on another scale.
SCHEMA, REVISED = 2, (" known of ", " to known ")

#: The numbers and lists beside the tables.
FIELDS = ("names", "groups", "ratio", "record")


def save(joint: Joint, file: Path) -> None:
    """Write the combiner; embedding and known edges are in files of their own."""
    combiner = joint.combiner
    tensors = {f"curve.{name}": getattr(combiner.curve, name) for name in ("at", "edges", "non_edges")}
    tensors |= {f"scale.{name}": getattr(combiner.scale, name) for name in ("knots", "slopes")}
    for number, tree in enumerate(combiner.trees):
        tensors |= {f"trees.{number}.{name}": table for name, table in tree.arrays.items()}
    structure = [one.chosen or () for one in joint.evidence if isinstance(one, Structure)]
    more, outside = packed(one for one in joint.evidence if not isinstance(one, Structure))  # type: ignore[misc]
    about: dict[str, Any] = {name: getattr(combiner, name) for name in FIELDS}
    about |= {
        "intercept": combiner.scale.intercept,
        "schema": SCHEMA,
        "evidence": ["structure"] * len(structure),
        "structure": list(structure[0]) if structure else [],
        "outside": outside,
        "record": dict(combiner.record),
    }
    save_tensors(file, tensors | more, about)


def load(file: Path, embedding: Embedding, known: DiGraph) -> Joint:
    """Read what `save` wrote, for the embedding and the known edges of the same folder."""
    with blaming(file):
        try:
            tensors, about = load_tensors(file)
        except (OSError, RecursionError, ValueError) as error:
            raise ValueError(f"not readable as safetensors ({error})") from None
        if about.get("schema") not in (1, SCHEMA):
            raise ValueError(f"schema is {show(about.get('schema'))}; this version reads 1 and {SCHEMA}")
        names = about["names"]
        if about["schema"] == 1 and any(text in name for name in names for text in REVISED):
            raise ValueError("its evidence from outside was computed in another way; fit the model again")
        if len(names) != len(about["groups"]):
            raise ValueError(f"{len(names)} names, but {len(about['groups'])} groups; fit the model again")
        evidence: tuple[Any, ...] = unpacked(tensors, about.get("outside", []))
        if "structure" in about["evidence"]:
            evidence = (Structure(tuple(about.get("structure", names[1:]))), *evidence)
        found = [name for one in evidence for name in one.prepare(known).names]
        if found != [*names[1:]]:
            raise ValueError("it has evidence that this version does not know; fit the model again")
        curve = Curve(*(tensors[f"curve.{name}"] for name in ("at", "edges", "non_edges")))
        trees = tuple(checked_trees(tensors, str(number), len(names)) for number in range(_count(tensors)))
        scale = Scale(tensors["scale.knots"], tensors["scale.slopes"], float(about["intercept"]))
        ratio = positive_number("ratio", about["ratio"])
        if not trees or len(scale.slopes) != len(scale.knots) + 1:
            raise ValueError("it has no trees, or no scale; fit the model again")
        groups, record = tuple(about["groups"]), about["record"]
    combiner = Combiner(tuple(names), groups, trees, scale, ratio, curve, record)
    return Joint(embedding, known, evidence, combiner)


def _count(tensors: dict[str, np.ndarray]) -> int:
    return len({name.split(".")[1] for name in tensors if name.startswith("trees.")})


def checked_trees(tensors: dict[str, np.ndarray], number: str, columns: int) -> TreeTables:
    """The trees of this number, whose features are some of the columns."""
    widths = {"features": SPLITS, "thresholds": SPLITS, "values": 2**SPLITS, "shares": 2**SPLITS}
    parts = {name: tensors[f"trees.{number}.{name}"] for name in widths}
    trees = len(parts["values"])
    for name, width in widths.items():
        if parts[name].shape != (trees, width):
            raise ValueError(f"trees.{number}.{name} has shape {parts[name].shape}; fit the model again")
    if not ((parts["features"] >= 0) & (parts["features"] < columns)).all():
        raise ValueError(f"trees.{number}.features names columns that do not exist; fit the model again")
    flat = [tensors.get(f"trees.{number}.{name}", np.zeros(columns)) for name in ("slopes", "means")]
    if any(one.shape != (columns,) for one in flat):
        raise ValueError(f"trees.{number} has slopes of other columns; fit the model again")
    return TreeTables(*(parts[name] for name in widths), *flat)
