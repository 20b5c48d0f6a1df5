"""The files of a split, which remember their kind of negatives, and files of negatives."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from timelike.cli.printing import note
from timelike.cli.reading_options import PairOptions

if TYPE_CHECKING:
    import numpy as np

    from timelike.evaluation.splits import Split
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


def validation_of(file: str, reading: PairOptions, graph: DiGraph) -> DiGraph | Split:
    """The validation edges in a file, for training on a graph; those of a split come with its negatives."""
    from timelike.estimator.inputs import said_of_validation
    from timelike.evaluation.splits import Split
    from timelike.graphs.digraph import DiGraph

    edges = reading.pairs(file, graph.num_nodes, graph.names)
    for line in said_of_validation(graph, edges):
        note(f"{file}: {line}")
    valid = DiGraph.from_arrays(edges[:, 0], edges[:, 1], graph.num_nodes, graph.names)
    if (part := part_of_split(file)) is None:
        return valid
    drawn = reading.pairs(part.negatives_file, graph.num_nodes, graph.names)
    drawn = checked_negatives(graph.with_edges(valid.pairs), drawn, part.negatives_file)
    return Split(graph, valid.pairs, drawn, edges[:0], edges[:0], part.kind)
