"""Everything that reads a file, with a good file to break: input from strangers."""

import dataclasses
import json
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import writers
from broken_files import COUNTED, broken, good_files
from memory import watch

import timelike as tl
from timelike._util.checksums import SUMS
from timelike.embedding import model_folder
from timelike.embedding.calibration import Calibration
from timelike.embedding.trained_on import TrainedOn
from timelike.engine.epoch import Report
from timelike.estimator.journal import Journal
from timelike.estimator.settings import PRESETS, Settings
from timelike.io import names_in
from timelike.io.reading import read_pairs
from timelike.training import checkpoint
from timelike.training.replay import Replay
from timelike.training.training_loop import unstack_history

SECONDS = 5
LONGEST = 1500
#: A broken file may take twice its bytes in memory, and a few more; the first one of a process that polars
#: stumbles over takes so many once, as polars then looks up where in its program that was.
SPARE, ONCE = 2**22, 2**26
MODEL_FILES = (
    model_folder.MODEL,
    model_folder.POINTS,
    model_folder.NODES,
    model_folder.EDGES,
    model_folder.REPLAY,
)
SHARD_FILES = ("shards.json", "part-00000.npy", "degrees.npy", "held-out.npy", "names.parquet")


class Target(NamedTuple):
    """A file by its name in a folder, its good content, and what reads it."""

    name: str
    good: bytes
    read: Callable[[Path], object]


def _read_model(path: Path) -> object:
    embedding = tl.Embedding.load(path.parent)
    assert np.isfinite(embedding.points).all()
    assert embedding.others is None or np.isfinite(embedding.others).all()
    return (
        embedding,
        model_folder.load_trained_on(path.parent, embedding),
        Replay.load(path.parent, embedding),
    )


def _read_shards(path: Path) -> object:
    shards = tl.EdgeShards(path.parent)
    parts = [np.array(shards.part(i)) for i in range(len(shards.counts))]
    return parts, shards.degrees, shards.held_out, shards.names


def _state() -> dict[str, np.ndarray]:
    return {"points": np.ones((4, 3), np.float32), "epoch": np.int32(3)}


def _history() -> dict[str, np.ndarray]:
    names = Report._fields
    return {name: np.zeros((3, 3) if name == "culprits" else 3, np.float32) for name in names}


def _read_checkpoint(path: Path) -> object:
    return unstack_history(checkpoint.read(path, _state(), {"epochs": 9}, tuple(_history()))[1])


def _read_journal(path: Path) -> object:
    journal = Journal(path, {"graph": "x"})
    return journal.seconds, journal.step("first", lambda: [0.0])


def prepare(home: Path) -> list[Target]:
    """All targets, each in its own folder."""
    (home / "valid").mkdir()
    found = [Target(f"read/{name}", data, tl.read) for name, data in good_files(home / "valid")[:-1]]
    writers.ogb(home / "ogb", COUNTED, 12)
    for name in ("edge.csv.gz", "num-node-list.csv.gz"):
        good = (home / "ogb" / name).read_bytes()
        found.append(Target(f"ogb/{name}", good, lambda path: tl.read(path.parent)))
    graph = tl.datasets.random_dag(6, 9, seed=0)
    split = tl.split_edges(graph, 0.2, 0.2)
    model = tl.Model(tl.manifolds.CylindricalMinkowski(3), tl.likelihoods.TripleFermiDirac())
    points = np.random.default_rng(0).uniform(0, 1, (6, 3)).astype(np.float32)
    names, history = tuple("abcdef"), {"loss": np.ones(2, np.float32)}
    calibration = Calibration(0.8, -1.25, 4.0, 100, 400)
    info = {"config": {"epochs": 2}, "geometry": "x"}
    embedding = tl.Embedding(model, points, names, history, info, calibration)
    embedding.save(home / "model", TrainedOn(split.train, split.valid))
    several = dataclasses.replace(embedding, others=np.stack([points, points[::-1]]))
    several.save(home / "members")
    Replay(np.arange(2), np.stack([points, points])).save(home / "model")
    for folder in ("model", "members"):
        (home / folder / SUMS).unlink()  # every damage would fail there: let the readers meet it
    found += [Target(f"model/{x}", (home / "model" / x).read_bytes(), _read_model) for x in MODEL_FILES]
    found.append(
        Target(
            "members/points.safetensors", (home / "members" / model_folder.POINTS).read_bytes(), _read_model
        )
    )
    tl.EdgeShards.write(home / "valid" / "l.edges", home / "shards", hold_out=0.1)
    found += [Target(f"shards/{x}", (home / "shards" / x).read_bytes(), _read_shards) for x in SHARD_FILES]
    made = home / "made"
    made.mkdir()
    checkpoint.write(made / "run", _state(), _history(), {"epochs": 9})
    split.save(made / "split")
    Journal(made / "journal", {"graph": "x"}).step("first", lambda: [0.5])
    shutil.copy(PRESETS["cyclic"], made / "settings")
    shutil.copy(home / "valid" / "a.tsv", made / "pairs")
    (made / "nodes").write_text('# all\na\n"b ""c"""\n\nü\n')
    readers = {
        "run": _read_checkpoint,
        "split": tl.Split.load,
        "journal": _read_journal,
        "settings": Settings.load,
        "pairs": lambda path: read_pairs(str(path), lambda rows: None),
        "nodes": names_in,
    }
    return found + [Target(f"made/{x}", (made / x).read_bytes(), read) for x, read in readers.items()]


def attempt(home: Path, target: Target, data: bytes, spare: int = ONCE) -> bool:
    """Read a file with this content; return whether it was accepted. Only a clear error may refuse it."""
    path = home / target.name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    start, more, complaint = time.process_time(), watch(), None
    try:
        target.read(path)
    except (ValueError, OSError) as error:
        complaint = str(error)
    except Exception as error:
        raise AssertionError(f"{target.name}: {type(error).__name__}: {error} for {data!r}") from error
    finally:
        path.write_bytes(target.good)
    took, grown = time.process_time() - start, more()
    assert grown < 2 * len(data) + spare, (target.name, grown, data)
    assert took < SECONDS, (target.name, took, data)
    if complaint is not None:
        where = path.parent if target.name.startswith(("ogb", "model", "members", "shards")) else path
        assert str(where) in complaint, (target.name, complaint)
        assert "\n" not in complaint, (target.name, complaint)
        assert len(complaint) < LONGEST, (target.name, complaint)
    if grown >= 2 * len(data) + SPARE:
        return attempt(home, target, data, SPARE)
    return complaint is None


ODD = [
    None,
    True,
    -1,
    0,
    1e308,
    10**30,
    2**31,
    "",
    "x" * 300,
    "../../x",
    "/etc/passwd",
    [],
    {},
    [[]],
    {"a": {}},
]


def odd_value(rng: random.Random, value: Any) -> Any:
    """JSON with one of its values, anywhere, replaced by something odd, dropped or renamed."""
    if isinstance(value, dict | list) and value and rng.random() < 0.85:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key, changed = rng.choice(keys), value.copy()
        chance = rng.random()
        if chance < 0.15:
            del changed[key]
        elif chance < 0.25 and isinstance(changed, dict):
            changed[f"{key}x"] = changed.pop(key)
        else:
            changed[key] = odd_value(rng, value[key])
        return changed
    return rng.choice(ODD)


def reshaped(rng: random.Random, data: bytes) -> bytes:
    """Well-formed but odd JSON, or a safetensors file with such a header."""
    if data[:1] == b"{":
        return json.dumps(odd_value(rng, json.loads(data))).encode()
    size = int.from_bytes(data[:8], "little")
    head = json.loads(data[8 : 8 + size])
    about = head.get("__metadata__", {})
    if about and rng.random() < 0.6:
        key = rng.choice(list(about))
        about[key] = json.dumps(odd_value(rng, json.loads(about[key])))
    else:
        head = odd_value(rng, head)
    text = json.dumps(head).encode()
    return len(text).to_bytes(8, "little") + text + data[8 + size :]


def broken_file(rng: random.Random, targets: list[Target], target: Target) -> bytes:
    """The good content of a target, broken in one way or another."""
    if rng.random() < 0.1:
        return rng.randbytes(rng.randint(0, 300))
    structured = target.good[:1] == b"{" or target.good[8:9] == b"{"
    if structured and rng.random() < 0.6:
        return reshaped(rng, target.good)
    return broken(rng, target.good, rng.choice(targets).good)
