"""Good files of every kind that can be read, and what can be done to their bytes."""

import random
from pathlib import Path

import writers

from timelike import DiGraph, read

ROWS = [("a", "b", 0.5), ("b", "c", 2.0), ("c", "a", 1.0), ("d", "ü x", 1e3), ("a", "a", 1.0)]
COUNTED = [(i, (i * 7 + 3) % 12, 1.0 + i) for i in range(12)]
TOKENS = [b"\n", b"\r", b"\t", b",", b'"', b"#", b"%", b" ", b"\0", b"nan", b"-1", b"1e999", b"<", b"&lol;"]
TOKENS += [b"[Term]\n", b"is_a: ", b"\xff", b"\xef\xbb\xbf", b"999999999999999999999", "é".encode(), b"PAR1"]


def good_files(folder: Path) -> list[tuple[str, bytes]]:
    """A good file of each kind: its name and its bytes."""
    plain = [row[:2] for row in ROWS]
    names = [("x" + s, "x" + t.replace(" ", "")) for s, t in plain]
    paths = [
        writers.delimited(folder / "a.tsv", ROWS, "\t", True),
        writers.delimited(folder / "b.csv", ROWS, ",", False, "\r\n", bom=True),
        writers.packed(folder / "c.txt", b"# Nodes: 3\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n2\t0\n"),
        writers.delimited(folder / "d.tsv.gz", ROWS, "\t", True),
        writers.delimited(folder / "e.csv.bz2", ROWS, ";", True),
        writers.delimited(folder / "f.zst", plain, " ", False),
        writers.parquet(folder / "g.parquet", ROWS),
        writers.parquet(folder / "h.parquet", COUNTED),
        writers.graphml(folder / "i.graphml", ROWS),
        writers.matrix_market(folder / "j.mtx", COUNTED, 12),
        writers.obo(folder / "k.obo", names, ["lonely"]),
        writers.packed(folder / "l.edges", b"".join(b"node%d node%d\n" % (i, i + 1) for i in range(400))),
        writers.sif(folder / "m.sif", names, ["lonely"]),
    ]
    for path in paths:
        assert isinstance(read(path), DiGraph)
    writers.ogb(folder / "ogb", COUNTED, 12)
    return [(path.name, path.read_bytes()) for path in [*paths, folder / "ogb" / "edge.csv.gz"]]


def broken(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """The bytes with one to four things done to them."""
    for _ in range(rng.randint(1, 4)):
        a, b = sorted(rng.randint(0, len(data)) for _ in range(2))
        b = min(b, a + 40)
        some = rng.choice([rng.choice(TOKENS), rng.randbytes(rng.randint(1, 9)), other[a:b], data[a:b] * 2])
        data = rng.choice(
            [data[:a] + some + data[a:], data[:a] + some + data[b:], data[:a] + data[b:], data[:b]]
        )
    return data
