"""A run on two processes in which one of them is killed again and again, against a run that nobody kills.

python tests/many/soak.py FOLDER [--minutes 60] [--every 300]
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from small_runs import address, environment

import timelike as tl

SCALE, EDGE_FACTOR, DIM, BATCH = 14, 8, 8, 1024


def start(folder: Path, out: Path, epochs: int) -> list[subprocess.Popen]:
    """Two processes that begin a run, or continue it."""
    where = address()
    command = [sys.executable, "-m", "timelike", "fit", folder / "edges.parquet", "--out", out, "--resume"]
    command += ["--geometry", "minkowski", "--valid-fraction", "0", "--dim", str(DIM), "--json"]
    command += ["--batch-size", str(BATCH), "--epochs", str(epochs), "--checkpoint-seconds", "5"]
    command += ["--coordinator", where, "--num-processes", "2", "--process-id"]
    return [
        subprocess.Popen([*command, str(i)], env=environment(folder / "compiled"), stdout=subprocess.PIPE)
        for i in range(2)
    ]


def child_of(process: subprocess.Popen) -> int:
    """The process that does the work."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return int(children[-1])


def run(folder: Path, out: Path, epochs: int, every: float) -> tuple[float, int]:
    """Run to the end: the seconds, and how often a process was killed."""
    begun, kills = time.monotonic(), 0
    rng = np.random.default_rng(0)
    while True:
        both = start(folder, out, epochs)
        end = time.monotonic() + every
        while time.monotonic() < end and any(one.poll() is None for one in both):
            time.sleep(0.2)
        if all(one.poll() == 0 for one in both):
            return time.monotonic() - begun, kills
        if all(one.poll() is None for one in both):
            os.kill(child_of(both[rng.integers(2)]), signal.SIGKILL)
            kills += 1
        codes = [one.wait() for one in both]
        if not set(codes) <= {0, 75, 128 + signal.SIGKILL}:
            raise RuntimeError(f"exit codes {codes}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--every", type=float, default=300)
    asked = parser.parse_args()
    folder = asked.folder
    folder.mkdir(exist_ok=True)
    tl.datasets.rmat_to_parquet(folder / "edges.parquet", scale=SCALE, edge_factor=EDGE_FACTOR)
    few, _ = run(folder, folder / "few", 2, np.inf)
    more, _ = run(folder, folder / "more", 12, np.inf)
    epochs = max(12, int(60 * asked.minutes / max((more - few) / 10, 0.01)))
    quiet, _ = run(folder, folder / "undisturbed", epochs, np.inf)
    killed, kills = run(folder, folder / "disturbed", epochs, asked.every)
    one, other = (tl.Embedding.load(folder / name) for name in ("undisturbed", "disturbed"))
    found = {
        "epochs": [len(x.history["loss"]) for x in (one, other)],
        "kills": kills,
        "seconds": [round(quiet), round(killed)],
        "points differ by": float(np.abs(one.points - other.points).max()),
        "losses differ by": float(np.abs(one.history["loss"] / other.history["loss"] - 1).max()),
    }
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
