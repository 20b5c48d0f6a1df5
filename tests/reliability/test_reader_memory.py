"""Reading a large file, good or broken, takes at most twice its content in memory, plus a constant."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import writers
from memory import watch

import timelike as tl
from timelike._util.checksums import SUMS
from timelike.io.untrusted_parquet import read_table

#: Uncompressed bytes of a large and a small file, and the constant that reading may add: batches, and memory
#: that an allocator keeps after it was freed.
LARGE, SMALL, SPARE = 96_000_000, 100_000, 48 * 2**20
LINE, NUMBERS = "node{}\tnode{}\t{:.4f}\n", "1{}\t1{}\t{:.4f}\n"
XML = '<edge source="node{}" target="node{}"><data key="w">{:.4f}</data></edge>\n'
TERM = "\n[Term]\nid: GO:{0}\nname: term {0}\ndef: " + 300 * "x" + "\nis_a: GO:{1} ! its parent\n"


def rows(line: str, size: int) -> str:
    """A text of about this size: lines with two nodes and a weight."""
    count = size // len(line.format(200_000, 200_000, 0.5))
    ends, weights = np.random.default_rng(0).integers(0, count // 5, (2, count)), np.linspace(0.1, 1, count)
    return "".join(map(line.format, *ends.tolist(), weights.tolist()))


def matrix(size: int) -> str:
    text = rows(NUMBERS, size)
    return f"%%MatrixMarket matrix coordinate real general\n1999999 1999999 {text.count(chr(10))}\n{text}"


def graphml(size: int) -> str:
    return f'<graphml><key id="w" attr.name="weight"/><graph>{rows(XML, size)}</graph></graphml>'


def terms(size: int) -> str:
    return "format-version: 1.2\n" + "".join(TERM.format(i, i // 2) for i in range(size // len(TERM)))


def table(path: Path, line: str, size: int) -> int:
    """Write a table with polars and return its size."""
    import polars as pl

    frame = pl.read_csv(rows(line, size).encode(), separator="\t", new_columns=["source", "target", "weight"])
    frame.write_parquet(path)
    return int(frame.estimated_size())


def model(path: Path, size: int) -> int:
    points = np.random.default_rng(0).normal(size=(size // 100, 20)).astype(np.float32)
    names = tuple(f"node{i}" for i in range(len(points)))
    made = tl.Model(tl.manifolds.Minkowski(20), tl.likelihoods.FermiDirac())
    tl.Embedding(made, points, names, {}, {}).save(path)
    names = int(read_table(path / "nodes.parquet").estimated_size())
    return names + (path / "points.safetensors").stat().st_size


TEXTS: dict[str, Callable[[int], str]] = {
    "names.tsv": lambda size: rows(LINE, size),
    "quoted.csv": lambda size: rows('"node{}","node{}",{:.4f}\n', size),
    "names.tsv.gz": lambda size: rows(LINE, size),
    "names.tsv.bz2": lambda size: rows(LINE, size),
    "names.tsv.zst": lambda size: rows(LINE, size),
    "numbers.txt": lambda size: rows(NUMBERS, size),
    "matrix.mtx": matrix,
    "graph.graphml": graphml,
    "terms.obo": terms,
    "network.sif": lambda size: rows("node{}\tpd\tnode{}\tn{:.4f}\n", size),
}
TABLES = {"names.parquet": LINE, "numbers.parquet": NUMBERS}


def make(path: Path, size: int) -> int:
    """Write a good file and return its uncompressed size."""
    path.parent.mkdir()
    if path.name == "model":
        return model(path, size)
    if path.name in TABLES:
        return table(path, TABLES[path.name], size)
    text = TEXTS[path.name](size).encode()
    writers.packed(path, text)
    return len(text)


def damaged(path: Path, rng: random.Random) -> Path:
    """Return a copy that is corrupted or truncated in its second half."""
    copy = Path(tempfile.mkdtemp(dir=path.parent.parent)) / path.name
    shutil.copytree(path, copy) if path.is_dir() else shutil.copy(path, copy)
    (copy / SUMS).unlink(missing_ok=True)
    file = copy / rng.choice(["points.safetensors", "nodes.parquet"]) if path.is_dir() else copy
    good = file.read_bytes()
    at = rng.randrange(len(good) // 2, len(good))
    file.write_bytes(good[:at] + rng.choice([b"", rng.randbytes(20) + good[at + 20 :]]))
    return copy


def read(path: Path) -> str:
    try:
        tl.Embedding.load(path) if path.is_dir() else tl.read(path)
    except ValueError as error:
        return str(error)
    return "taken"


def main(small: Path, *large: Path) -> None:
    """Read files; print the peak memory and the outcome of each."""
    read(small)  # imports everything needed
    more, said = watch(), [read(path) for path in large]
    print(json.dumps([more(), said]))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*TEXTS, *TABLES, "model"])
def test_twice_the_content_is_enough(name, tmp_path):
    small, large, rng = tmp_path / "small" / name, tmp_path / "large" / name, random.Random(name)
    make(small, SMALL)
    content = make(large, LARGE)
    broken = [damaged(large, rng) for _ in range(2)]
    command = [sys.executable, __file__, small, *broken, large]
    paths = {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **paths})
    assert run.returncode == 0, run.stderr
    peak, said = json.loads(run.stdout)
    assert said.pop() == "taken"
    assert all(line == "taken" or str(path) in line for line, path in zip(said, broken, strict=True))
    print(f"\n{name}: {content / 1e6:.1f} MB, peak {peak / 1e6:.1f} MB")
    assert peak < 2 * content + SPARE


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
