"""The explorer: 1,000 questions from 50 clients, and how soon a browser has drawn 100,000 nodes.

The server is the command itself in a process of its own. The clients are one process with 50 open
connections, each asking one question after the other: nodes, pairs, searches and names in turn. The
browser is headless Chromium, which renders in software here.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from benchmarks.harness import Line, Options, tfd

CLIENTS, QUESTIONS, DIM = 50, 1000, 10
#: Of a browser in a container without a graphics card.
FLAGS = [
    *("--headless=new", "--no-sandbox", "--no-first-run", "--disable-gpu", "--disable-quic"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
]


def run(options: Options) -> list[Line]:
    """Random points and edges; the likelihood is the triple Fermi-Dirac on a cylinder."""
    small, large = (1000, 10_000) if options.quick else (10_000, 100_000)
    with tempfile.TemporaryDirectory() as folder:
        lines = load(make_model(Path(folder) / "small", small), small)
        return lines + paint(make_model(Path(folder) / "large", large), large, options.rounds)


def load(model: Path, nodes: int) -> list[Line]:
    """Latencies under load, in milliseconds."""
    with serving(model) as address:
        asyncio.run(_clients(address, nodes, 100))
        begin = time.perf_counter()
        taken, wrong = asyncio.run(_clients(address, nodes, QUESTIONS))
        spent = time.perf_counter() - begin
    p50, p99 = np.percentile(taken, [50, 99])
    work = f"{QUESTIONS:,} questions from {CLIENTS} clients, {nodes:,} nodes"
    details = {"median": p50, "worst": max(taken), "per_second": QUESTIONS / spent}
    return [
        Line.at_most(0, f"{work}: errors", wrong, ""),
        Line.at_most(100, f"{work}: 99th percentile", p99, "ms", **details),
    ]


async def _clients(address: str, nodes: int, questions: int) -> tuple[list[float], int]:
    taken: list[float] = []
    wrong = 0
    rng = np.random.default_rng(0)
    ids = rng.integers(0, nodes, (questions, 2))
    paths = [
        (f"node?node={a}", f"pair?source={a}&target={b}", f"search?text=n{a}", f"names?ids={a},{b}")[i % 4]
        for i, (a, b) in enumerate(ids)
    ]
    place = urlsplit(address)

    async def client(mine: list[str]) -> None:
        nonlocal wrong
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        for path in mine:
            begin = time.perf_counter()
            writer.write(f"GET /api/0/{path} HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            size = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
            await reader.readexactly(int(size.split(b":")[1]))
            taken.append(1000 * (time.perf_counter() - begin))
            wrong += not head.startswith(b"HTTP/1.1 200")
        writer.close()

    await asyncio.gather(*(client(paths[i::CLIENTS]) for i in range(CLIENTS)))
    return taken, wrong


def paint(model: Path, nodes: int, rounds: int) -> list[Line]:
    """From the address to the first picture, and from a movement to the next one."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        print("explore: no Chromium, so no picture is timed", file=sys.stderr)
        return []
    from playwright.sync_api import sync_playwright

    with serving(model) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS, timeout=120_000)
        first, redraw = [], []
        for _ in range(rounds):
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.goto(address)
            page.wait_for_selector("html[data-ready=yes]", timeout=120_000)
            first.append(page.evaluate("timelike.painted / 1000"))
            redraw += page.evaluate(REDRAW)
            page.close()
        browser.close()
    name, worst = f"of {nodes:,} nodes", max(redraw)
    return [
        Line.at_most(2, f"first picture {name}", float(np.median(first)), "s", worst=max(first)),
        Line.at_most(100, f"redraw {name}", float(np.median(redraw)), "ms", worst=worst, count=len(redraw)),
    ]


#: Milliseconds of ten redraws after a movement, in every view, until the last pixel is there.
REDRAW = """() => { const pane = timelike.panes[0], taken = [];
  for (const view of timelike.views) { timelike.setView(view); pane.drawNow(); pane.renderer.finish();
    for (let i = 0; i < 10; i++) { const begin = performance.now();
      pane.camera.drag(3, 2); pane.drawNow(); pane.renderer.finish();
      taken.push(performance.now() - begin); } }
  return taken; }"""


def make_model(folder: Path, nodes: int) -> Path:
    """A saved model with five known edges to a node."""
    from timelike import DiGraph, Embedding
    from timelike.embedding.trained_on import TrainedOn

    rng = np.random.default_rng(0)
    points = rng.normal(size=(nodes, DIM)).astype(np.float32)
    names = tuple(f"n{i}" for i in range(nodes))
    graph = DiGraph.from_arrays(*rng.integers(0, nodes, (2, 5 * nodes)), num_nodes=nodes, names=names)
    Embedding(tfd("cylindrical-minkowski", DIM), points, names, {}, {}).save(folder, TrainedOn(graph))
    return folder


@contextlib.contextmanager
def serving(model: Path) -> Iterator[str]:
    """The address of `timelike explore` on this model."""
    command = [sys.executable, "-m", "timelike", "explore", str(model), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
