"""Broken files of every format, and command lines: quickly a result or one clear line."""

import bz2
import gzip
import random
import time

import numpy as np
import pytest
from memory import watch
from targets import attempt, broken_file, prepare

import timelike as tl
from timelike._util.atomic_files import LARGEST_TEXT

INPUTS = 40
#: Bytes that bombs unpack to; they must be refused before they use that much memory.
BOMB = 2**29


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def targets(home):
    return prepare(home)


def try_many(home, targets, count, seed):
    """The number of broken files that each target accepted."""
    rng, taken = random.Random(seed), 0
    for target in targets:
        assert attempt(home, target, target.good)
        for _ in range(count):
            taken += attempt(home, target, broken_file(rng, targets, target))
    return taken


def test_broken_files(home, targets):
    own = [target for target in targets if not target.name.startswith(("read", "ogb"))]
    assert 0 < try_many(home, own, INPUTS, 1) < INPUTS * len(own)


@pytest.mark.slow
def test_very_many_broken_files(home, targets):
    try_many(home, targets, 5000, 2)


#: Where a reader looks back for each character, these take minutes.
LONG = [b"x" * 30_000, b"0" * 20_000 + b"7", b"9" * 30_000, b"a " * 9_000, b" " * 30_000 + b"x"]
LONG += [b"{" * 30_000, b"}" * 30_000 + b"!", b'"' * 9_999, b"\n" * 5_000, b"\xff" * 5_000]


def with_something_long(rng, good: bytes) -> bytes:
    """Somewhere in a file, or in what is packed in it."""
    packing = next((x for x in (gzip, bz2) if good.startswith(x.compress(b"")[:2])), None)
    data = packing.decompress(good) if packing else good
    at = rng.randint(0, len(data))
    data = data[:at] + rng.choice(LONG) + data[at:]
    return packing.compress(data) if packing else data


@pytest.mark.long
def test_long_words_and_lines(home, targets):
    """Time is linear in their length, and messages stay short."""
    rng = random.Random(3)
    for target in targets:
        for _ in range(INPUTS):
            attempt(home, target, with_something_long(rng, target.good))


def test_an_encoding_of_many_bytes(home, targets):
    """Found by atheris."""
    target = next(t for t in targets if t.name == "read/i.graphml")
    assert not attempt(home, target, b'<?xml version="1.0" encoding="utf-7"?><graphml></graphml>')


def test_brackets_within_brackets(home, targets):
    """Deeper than Python's own stack."""
    deep = b"[" * 200_000
    for target in targets:
        if target.name in ("model/model.json", "made/journal"):
            assert not attempt(home, target, deep)
        if target.name == "made/settings":
            assert not attempt(home, target, b"about = " + deep)
        if target.name == "read/i.graphml":
            assert not attempt(home, target, b"<graphml>" + b"<graph>" * 200_000)
        if target.good[8:9] == b"{":
            text = b'{"__metadata__": {"settings": "' + deep + b'", "split": "' + deep + b'"}}'
            assert not attempt(home, target, len(text).to_bytes(8, "little") + text)


@pytest.mark.parametrize(
    "name", ["model/model.json", "model/points.safetensors", "made/run", "made/settings"]
)
def test_texts_that_say_what_a_file_is_are_short(name, home, targets):
    target = next(t for t in targets if t.name == name)
    more = b" " * LARGEST_TEXT
    good = target.good
    if good[8:9] == b"{":
        size = int.from_bytes(good[:8], "little")
        good, more = (size + len(more)).to_bytes(8, "little") + good[8 : 8 + size], more + good[8 + size :]
    assert not attempt(home, target, good + more)


def test_a_model_that_could_not_be_read_is_not_written(tmp_path):
    model = tl.Model(tl.manifolds.Minkowski(3), tl.likelihoods.FermiDirac())
    embedding = tl.Embedding(model, np.zeros((3, 3), np.float32), None, {}, {"note": "x" * LARGEST_TEXT})
    with pytest.raises(ValueError, match=r"model\.json, with the embedding's info, has [\d,]+ bytes; it may"):
        embedding.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def zstd(data: bytes) -> bytes:
    import pyarrow as pa

    return pa.compress(data, "zstd", asbytes=True)


BOMBS = {
    "blanks.gz": lambda: gzip.compress(b" " * BOMB, 1),
    "rows.gz": lambda: gzip.compress(b"a b\n" * (BOMB // 4)),
    "rows.zst": lambda: zstd(b"a b\n" * (BOMB // 4)),
    "line.bz2": lambda: bz2.compress(b"x" * 2**27),
    "laughs.graphml": lambda: (
        b'<!DOCTYPE g [<!ENTITY a "'
        + b"ha" * 1000
        + b'">'
        + b"".join(b'<!ENTITY %c "%s">' % (c, b"&%c;" % (c - 1) * 40) for c in range(98, 108))
        + b"]><graphml><graph><node id='&k;'/></graph></graphml>"
    ),
    "head.safetensors": lambda: (2**62).to_bytes(8, "little") + b"{}",
}


@pytest.mark.long
@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_small_fires(name, tmp_path):
    """Made to fill half a gigabyte: refused quickly, before they do."""
    (tmp_path / name).write_bytes(BOMBS[name]())
    read = tl.Split.load if name.endswith("safetensors") else tl.read
    start, more = time.process_time(), watch()
    with pytest.raises(ValueError, match=str(tmp_path)) as caught:
        read(tmp_path / name)
    assert more() < BOMB
    assert time.process_time() - start < 10
    assert len(str(caught.value)) < 1500


def test_a_table_of_rows_from_nothing(tmp_path):
    """A few kilobytes that claim to hold billions of rows."""
    import pyarrow as pa
    import pyarrow.parquet

    column = pa.array([7], pa.int32()).take(pa.array(bytes(2**22), pa.uint8()))
    table = pa.table({"source": column, "target": column})
    path = tmp_path / "edges.parquet"
    with pyarrow.parquet.ParquetWriter(path, table.schema, compression="zstd") as writer:
        for _ in range(6):
            writer.write_table(table)
    with pytest.raises(ValueError, match=r"edges.parquet: .* 25,165,824 rows in [\d,]+ bytes are more than"):
        tl.read(path)


def test_a_page_of_fewer_values_than_none(home, targets):
    """Found by atheris: polars requests 2⁶¹ bytes, and the process dies."""
    target = next(t for t in targets if t.name == "read/h.parquet")
    twelve, fewer = b"\x2c\x15\x18", b"\x2c\x15\x3b"  # the header of a page of data: 12 values, −30 values
    assert target.good.count(twelve) == 3
    for i in range(3):
        before, after = target.good.split(twelve, i + 1)[:-1], target.good.split(twelve, i + 1)[-1]
        assert not attempt(home, target, twelve.join(before) + fewer + after)
