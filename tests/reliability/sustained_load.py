"""The explorer and `timelike predict` under load for minutes: memory stays where it is, and nothing fails.

    python tests/reliability/sustained_load.py MINUTES

A server is asked by `CLIENTS` threads, each question as soon as the last is answered; another process runs
the command again and again. Memory is what a process holds at each mark, after the first tenth of the time.
"""

import contextlib
import http.client
import io
import json
import multiprocessing
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

import timelike as tl
from timelike.cli.main import main
from timelike.embedding.trained_on import TrainedOn

NODES, EDGES, CLIENTS, MARKS = 2000, 6000, 4, 20
#: Largest deviation of memory from its median.
FLAT = 0.05


def make_model(folder: Path) -> None:
    graph = tl.datasets.random_dag(NODES, EDGES, seed=0)
    model = tl.Model(tl.manifolds.CylindricalMinkowski(5, circumference=8), tl.likelihoods.TripleFermiDirac())
    points = np.random.default_rng(0).normal(size=(NODES, 5)).astype(np.float32)
    names = tuple(f"gene{i}" for i in range(NODES))
    known = tl.DiGraph.from_arrays(graph.sources, graph.targets, NODES, names)
    tl.Embedding(model, points, names, {}, {}).save(folder, TrainedOn(known))


def memory(process: int) -> float:
    """Megabytes that a process holds."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1000


def question(rng: random.Random) -> str:
    a, b = rng.randrange(NODES), rng.randrange(NODES)
    return "/api/" + rng.choice(
        [
            f"0/node?node={a}",
            f"0/pair?source-name=gene{a}&target={b}",
            f"0/search?text=gene{a % 100}",
            f"0/predictions.tsv?node={a}&most=100",
            "0/positions",
            "about",
        ]
    )


def ask(address: str, seed: int, end: float, asked: list[int]) -> None:
    """Send requests over one connection; stop at the first failure."""
    rng, place = random.Random(seed), urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
    while time.time() < end:
        connection.request("GET", question(rng))
        answer = connection.getresponse()
        assert answer.status == 200, answer.status
        assert answer.read()
        asked[seed] += 1


def predict_on(model: str, end: float, runs: multiprocessing.Value) -> None:
    rng = random.Random(0)
    while time.time() < end:
        said = io.TextIOWrapper(io.BytesIO())
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
            main(["predict", model, "--source", f"gene{rng.randrange(NODES)}", "--top", "20"])
        assert said.buffer.getvalue().count(b"\n") >= 20
        runs.value += 1


def verdict(name: str, count: int, marks: list[float]) -> bool:
    marks = marks[max(1, len(marks) // 10) :]
    middle = float(np.median(marks))
    off = max(abs(x - middle) for x in marks) / middle
    about = {"count": count, "megabytes": [round(x, 1) for x in marks], "off": round(off, 4)}
    print(name, json.dumps(about))
    return off <= FLAT and count > 0


def run(minutes: float) -> bool:
    with tempfile.TemporaryDirectory() as home:
        make_model(Path(home) / "model")
        command = [sys.executable, "-m", "timelike", "explore", f"{home}/model", "--no-browser"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            address = server.stdout.readline().strip()
            end, asked = time.time() + 60 * minutes, [0] * CLIENTS
            threads = [threading.Thread(target=ask, args=(address, i, end, asked)) for i in range(CLIENTS)]
            context = multiprocessing.get_context("spawn")
            runs = context.Value("i", 0)
            predicting = context.Process(target=predict_on, args=(f"{home}/model", end, runs))
            for each in [*threads, predicting]:
                each.start()
            held: dict[str, list[float]] = {"explore": [], "predict": []}
            while time.time() < end - 60 * minutes / MARKS / 2:
                time.sleep(60 * minutes / MARKS)
                if all(thread.is_alive() for thread in threads) and predicting.is_alive():
                    held["explore"].append(memory(server.pid))
                    held["predict"].append(memory(predicting.pid))
            for each in [*threads, predicting]:
                each.join()
            fine = predicting.exitcode == 0 and server.poll() is None
        finally:
            server.terminate()
            server.wait()
    print(f"{minutes:g} minutes, nothing failed" if fine else "something failed")
    found = [verdict("explore", sum(asked), held["explore"]), verdict("predict", runs.value, held["predict"])]
    return fine and all(found)


if __name__ == "__main__":
    sys.exit(not run(float(sys.argv[1])))
