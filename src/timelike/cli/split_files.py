"""The files of a split, which remember their kind of negatives."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

#: The file of a split for Python, beside its edge files.
SPLIT = "split.safetensors"
#: Edge file → the file of its negatives.
NEGATIVES = {"valid.tsv": "valid-non-edges.tsv", "test.tsv": "test-non-edges.tsv"}


class Part(NamedTuple):
    """The negatives of a part of a split: their kind, and their file."""

    kind: str
    negatives_file: str


def split_of(file: str) -> Part | None:
    """The part of a split that an edge file, or a file of negatives, belongs to; None for any other file."""
    path = Path(file)
    name = NEGATIVES.get(path.name, path.name)
    beside, negatives = path.with_name(SPLIT), path.with_name(name)
    if name not in NEGATIVES.values() or not (beside.is_file() and negatives.is_file()):
        return None
    from timelike.evaluation.splits import Split

    return Part(Split.load(beside).negatives, str(negatives))
