"""Options of a quick fit, and a small graph as files of names."""

from pathlib import Path

import numpy as np

import timelike as tl

#: What every command that trains takes, and what `fit` takes besides.
BRIEF = ("--geometry", "minkowski", "--dim", "3", "--epochs", "3", "--batch-size", "64")
QUICK = (*BRIEF, "--refit", "no", "--evidence", "none")


def name(number: int) -> str:
    return {0: "lexA", 1: "recA"}.get(number, f"gene{number}")


def write_files(folder: Path, split: tl.Split) -> None:
    """edges.tsv, test.tsv and non-edges.tsv."""
    edges = np.stack([split.train.sources, split.train.targets], axis=1)
    pairs = {"edges": edges, "test": split.test_edges, "non-edges": split.test_negatives}
    for file, rows in pairs.items():
        text = "".join(f"{name(s)}\t{name(t)}\n" for s, t in rows)
        (folder / f"{file}.tsv").write_text(text, encoding="utf-8")
