"""What every benchmark shares: graphs, compiled epochs, interleaved timing, child processes, the machine."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import importlib.metadata
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from timelike._util.hardware import cores

ROOT = Path(__file__).resolve().parent.parent
DREAM5 = Path("dream5") / "DREAM5_NetworkInference_GoldStandard_Network1.tsv"
PACKAGES = ("timelike", "jax", "jaxlib", "numpy", "optax", "polars", "scipy", "torch", "geoopt", "gensim")


@dataclasses.dataclass(frozen=True)
class Options:
    """How a benchmark is to be run."""

    quick: bool
    data_dir: Path

    @property
    def rounds(self) -> int:
        """How often everything is timed."""
        return 3 if self.quick else 9


@dataclasses.dataclass(frozen=True, eq=False)
class Line:
    """One line of the table: what was measured, the value, and the target if there is one."""

    work: str
    value: float
    unit: str
    target: str = ""
    met: bool | None = None
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def at_most(cls, limit: float, work: str, value: float, unit: str, **details: Any) -> Line:
        """A line whose target is an upper limit."""
        return cls(work, value, unit, f"≤ {limit:g}", bool(value <= limit), details)

    @classmethod
    def at_least(cls, limit: float, work: str, value: float, unit: str, **details: Any) -> Line:
        """A line whose target is a lower limit."""
        return cls(work, value, unit, f"≥ {limit:g}", bool(value >= limit), details)


def markdown(lines: Sequence[Line]) -> str:
    """The lines as a table."""
    sign = {None: "", True: "yes", False: "**no**"}
    shown = {x: f"{x.value:,.0f}" if x.value >= 1000 else f"{x.value:.3g}" for x in lines}
    rows = [f"| {x.work} | {shown[x]} {x.unit} | {x.target} | {sign[x.met]} |" for x in lines]
    return "\n".join(["| work | measured | target | met |", "|---|---:|---:|---|", *rows])


# Graphs


def random_graph(nodes: int, edges: int, seed: int = 0) -> Any:
    """Uniform random edges, the same number out of every node up to one; none is drawn twice."""
    from timelike.graphs.digraph import DiGraph

    rng = np.random.default_rng(seed)
    sources = np.arange(edges, dtype=np.int64) * nodes // edges
    keys = np.unique(sources * nodes + rng.integers(0, nodes, edges))
    while len(keys) < edges:  # birthdays: draw what is missing anew
        extra = rng.integers(0, nodes, (2, edges - len(keys)))
        keys = np.unique(np.concatenate([keys, extra[0] * nodes + extra[1]]))
    return DiGraph((keys // nodes).astype(np.int32), (keys % nodes).astype(np.int32), nodes)


def duplication_divergence() -> Any:
    """The training edges (85%) of a 100-node duplication-divergence graph."""
    from timelike import datasets, split_edges

    return split_edges(datasets.duplication_divergence(17), valid=0, test=0.15).train


def dream5(data_dir: Path) -> tuple[str, Any]:
    """The training edges (85%) of DREAM5 in silico, or of a random graph of its size, and which it is."""
    from timelike import split_edges
    from timelike.graphs.digraph import DiGraph

    file = data_dir / DREAM5
    if not file.exists():
        made = random_graph(1565, 4012)
        return "random graph of DREAM5's size", split_edges(made, valid=0, test=0.15).train
    rows = [line.split() for line in file.read_text().splitlines()]
    nodes = {name: None for a, b, _ in rows for name in (a, b)}
    graph = DiGraph.from_edges([(a, b) for a, b, label in rows if label == "1"], nodes)
    return "DREAM5 in silico", split_edges(graph, valid=0, test=0.15).train


def tfd(manifold: str, dim: int) -> Any:
    """A model with the triple Fermi-Dirac likelihood."""
    from timelike import likelihoods, manifolds
    from timelike.core.model import Model

    return Model(manifolds.MANIFOLDS[manifold](dim), likelihoods.TripleFermiDirac())


# Compiled epochs


class Epochs:
    """A compiled epoch program that can be run again and again; `seeds` makes it that many runs at once."""

    def __init__(self, graph: Any, model: Any, seeds: int | None = None, **settings: Any):
        import jax
        import jax.numpy as jnp

        from timelike.engine.config import Config
        from timelike.engine.epoch import compiled, init_state, run_epoch
        from timelike.training.prepare import make_numbers, prepare
        from timelike.training.sweeps import programs

        config = Config(**{"learning_rate": 0.01, **settings})
        plan, data = prepare(graph, model, config, None, None, None, alone=seeds is None)
        numbers = make_numbers(model, config)
        if seeds is None:
            start = jax.jit(partial(init_state, plan, num_nodes=graph.num_nodes))
            program = compiled(partial(run_epoch, plan))
        else:
            lanes = [numbers._replace(seed=jnp.asarray(i)) for i in range(seeds)]
            numbers = jax.tree.map(lambda *xs: jnp.stack(xs), *lanes)
            start, program = programs(plan, graph.num_nodes)
        self.arguments = numbers, data
        self.state = start(numbers)
        begin = time.perf_counter()
        lowered = program.lower(*self.arguments, self.state)
        self.trace_seconds = time.perf_counter() - begin
        self.program = lowered.compile()
        self.compile_seconds = time.perf_counter() - begin - self.trace_seconds

    def __call__(self) -> None:
        """Run one epoch to its end."""
        import jax

        self.state, report = self.program(*self.arguments, self.state)
        jax.block_until_ready((self.state, report))


# Time


def seconds(call: Callable[[], Any], at_least: float = 0.1) -> float:
    """Seconds per call, over as many calls as fill `at_least` seconds."""
    calls, begin = 0, time.perf_counter()
    while True:
        call()
        calls += 1
        spent = time.perf_counter() - begin
        if spent >= at_least:
            return spent / calls


def interleaved(calls: Mapping[Any, Callable[[], Any]], rounds: int) -> dict[Any, list[float]]:
    """Seconds per call of each, taken in turns so that a busy machine is unfair to none; one warm-up each."""
    for call in calls.values():
        call()
    taken: dict[Any, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            taken[name].append(seconds(call))
    return taken


def median_and_best(taken: Mapping[Any, list[float]]) -> dict[Any, dict[str, float]]:
    """Both summaries of each list; the best says what the machine can do when nobody disturbs it."""
    return {k: {"median": statistics.median(v), "best": min(v), "rounds": len(v)} for k, v in taken.items()}


# Processes and machine


def child(module: str, *arguments: str, **environment: str) -> dict[str, Any]:
    """Run `python -m module arguments` in a fresh process and read the JSON of its last line."""
    command = [sys.executable, "-m", module, *arguments]
    environment = {**os.environ, **environment}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[1:])} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def machine() -> dict[str, Any]:
    """What a reader of the figures must know about where they come from."""
    import jax

    cpu = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        models = [x for x in Path("/proc/cpuinfo").read_text().splitlines() if x.startswith("model name")]
        cpu = models[0].split(":")[1].strip() if models else cpu
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": cpu,
        "cores": cores(),
        "memory_gib": round(memory / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "device": jax.devices()[0].device_kind,
        "python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    """The commit, and the installed version of everything that is timed."""
    git = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    installed = {}
    for name in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            installed[name] = importlib.metadata.version(name)
    return {"commit": git.stdout.strip(), **installed}


def peak_gib() -> float:
    """Peak memory of this process; what its parent had, which getrusage counts too, does not matter."""
    line = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert line is not None
    return int(line[1]) / 2**20


def now() -> str:
    """The date and time, in UTC."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
