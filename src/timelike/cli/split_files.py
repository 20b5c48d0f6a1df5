"""The files of a split, which remember their kind of negatives, and files of negatives."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from timelike.cli.printing import note

if TYPE_CHECKING:
    import numpy as np

    from timelike.graphs.digraph import DiGraph

#: The file of a split for Python, beside its edge files.
SPLIT = "split.safetensors"
#: Edge file → the file of its negatives, without the endings.
NEGATIVES = {"valid": "valid-non-edges", "test": "test-non-edges"}


class Part(NamedTuple):
    """The negatives of a part of a split: their kind, and their file."""

    kind: str
    negatives_file: str


def part_of_split(file: str) -> Part | None:
    """The part of a split that an edge file, or a file of negatives, belongs to; None for any other file.

    A note says if the file of negatives is missing.
    """
    path = Path(file)
    name = NEGATIVES.get(path.stem, path.stem)
    beside, negatives = path.with_name(SPLIT), path.with_name(name + path.suffix)
    if name not in NEGATIVES.values() or not beside.is_file():
        return None
    if not negatives.is_file():
        note(f"{negatives}: no such file; {file} is compared with other negatives than the split drew")
        return None
    from timelike.evaluation.splits import Split

    return Part(Split.load(beside).negatives, str(negatives))


def checked_negatives(known: DiGraph, pairs: np.ndarray, file: str) -> np.ndarray:
    """The pairs of a file of negatives without self-pairs; an error names a pair that is an edge."""
    from timelike.evaluation.negative_kinds import check_listed

    try:
        return check_listed(known, pairs)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
