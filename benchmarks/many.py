"""One run on 1, 2 and 4 processes of this machine: memory of each, speed, and bytes on a limited network.

The network is a pair of namespaces joined by a link of limited bandwidth, with a process in each; that needs
Linux and root, and is left out elsewhere. Bytes are those that the link counts, headers and all.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import ROOT, Epochs, Line, Options, interleaved, peak_gib, random_graph, tfd

DIM, BATCH, PAIRS = 100, 4096, 5
COUNTS = (1, 2, 4)
#: Few edges for so many nodes: large tables, and short epochs.
NODES, EDGES = 2_000_000, 100_000
LINK = "200mbit"
HOSTS = Path("/etc/netns")


def run(options: Options) -> list[Line]:
    from timelike.training.cost_model import Workload

    nodes = NODES // 50 if options.quick else NODES
    with tempfile.TemporaryDirectory() as folder:
        file, tiny = Path(folder) / "edges.parquet", Path(folder) / "tiny.parquet"
        write_edges(file, nodes)
        write_edges(tiny, 1000)
        base = {count: together(count, tiny)[0]["peak_gib"] for count in COUNTS}
        seen = {count: together(count, file) for count in COUNTS}
        linked = limited(file) if os.geteuid() == 0 and sys.platform == "linux" else []
    first = seen[1][0]
    work = Workload(first["nodes"], first["edges"], DIM, "adam", PAIRS - 1, BATCH, epochs=1)
    what = f"{work.nodes:,} nodes, {work.edges:,} edges, d = {DIM}, Adam"
    lines = [Line("one process with a tiny graph: runtime and compiler", base[1], "GiB")]
    for count, parts in seen.items():
        peak, slowest = max(x["peak_gib"] for x in parts), max(x["seconds"] for x in parts)
        above, share = peak - base[count], (first["peak_gib"] - base[1]) / count
        details = {"processes": count, "peak_gib": [x["peak_gib"] for x in parts], "base_gib": base[count]}
        lines.append(
            Line(f"{what}, {count} processes: memory of one above that", above, "GiB", details=details)
        )
        if count > 1:
            details["planned_gib"] = work.memory(count) / 2**30
            lines.append(Line.at_most(1.2, f"{count} processes: over 1/{count} of one's", above / share, "×"))
        rate = PAIRS * work.edges / slowest
        lines.append(
            Line(
                f"{count} processes on this machine",
                rate,
                "examples/s",
                details={"processes": count, "dim": DIM},
            )
        )
    for one in linked[:1]:
        steps, predicted = one["steps"], work.sent(2)
        found = one["sent"] / steps
        lines.append(Line(f"2 processes, {LINK} link: sent per step", found / 1e6, "MB", details=one))
        off = abs(predicted / found - 1)
        lines.append(Line.at_most(0.2, "the same, as planned: off by", off, "of it", predicted=predicted))
    return [*lines, adam_over_sgd(options)]


def write_edges(file: Path, nodes: int) -> None:
    """Random edges between so many nodes, as a Parquet file of numbers."""
    import polars as pl

    ends = np.random.default_rng(0).integers(0, nodes, (2, EDGES))
    ends[:, 0] = 0, nodes - 1
    pl.DataFrame({"source": ends[0], "target": ends[1]}).write_parquet(file)


def adam_over_sgd(options: Options) -> Line:
    """What an example costs with Adam, in one process, for `timelike plan`."""
    graph = random_graph(10**5, 4 * 10**4)
    calls = {
        name: Epochs(graph, tfd("minkowski", 16), batch_size=BATCH, optimizer=name)
        for name in ("sgd", "adam")
    }
    taken = interleaved(calls, options.rounds)
    ratio = statistics.median(a / s for a, s in zip(taken["adam"], taken["sgd"], strict=True))
    return Line("one process, d = 16: an example with Adam over one with SGD", ratio, "×", details=taken)


def together(
    count: int, file: Path, prefixes: list[list[str]] | None = None, host: str = "localhost"
) -> list[dict]:
    """Run the worker in so many processes, each behind a command of its own if one is given."""
    return started_together("benchmarks.many", count, str(file), prefixes=prefixes, host=host)


def started_together(
    module: str,
    count: int,
    *arguments: str,
    prefixes: list[list[str]] | None = None,
    host: str = "localhost",
) -> list[dict]:
    """Run `python -m module ADDRESS COUNT NUMBER ARGUMENTS` in so many processes: the last line of each."""
    with socket.socket() as free:
        free.bind(("", 0))
        where = f"{host}:{free.getsockname()[1]}"
    started = []
    for number in range(count):
        prefix = prefixes[number] if prefixes else []
        command = [*prefix, sys.executable, "-m", module, where, str(count), str(number), *arguments]
        started.append(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True))
    said = [process.communicate()[0] for process in started]
    if any(process.returncode for process in started):
        raise RuntimeError(f"{count} processes failed")
    return [json.loads(text.splitlines()[-1]) for text in said]


def limited(file: Path) -> list[dict]:
    """Two processes, each in a network namespace, joined by a link of limited bandwidth."""
    with namespaces() as names:
        prefixes = [["ip", "netns", "exec", name] for name in names]
        return together(2, file, prefixes, host="10.77.0.1")


@contextlib.contextmanager
def namespaces() -> Iterator[list[str]]:
    """Two of them; the own name of the machine means the near end of the link in each."""
    names, near = [f"timelike{i}" for i in range(2)], [f"10.77.0.{i + 1}" for i in range(2)]

    def call(*words: str) -> None:
        subprocess.run(words, check=True, capture_output=True)

    try:
        for name, address in zip(names, near, strict=True):
            call("ip", "netns", "add", name)
            (HOSTS / name).mkdir(parents=True, exist_ok=True)
            (HOSTS / name / "hosts").write_text(f"{address} {socket.gethostname()}\n127.0.0.1 localhost\n")
        call(
            "ip",
            "link",
            "add",
            "link0",
            "netns",
            names[0],
            "type",
            "veth",
            "peer",
            "link0",
            "netns",
            names[1],
        )
        for name, address in zip(names, near, strict=True):
            inside = ("ip", "netns", "exec", name)
            call(*inside, "ip", "address", "add", f"{address}/24", "dev", "link0")
            call(*inside, "ip", "link", "set", "lo", "up")
            call(*inside, "ip", "link", "set", "link0", "up")
            limit = ("rate", LINK, "burst", "64kb", "latency", "400ms")
            call(*inside, "tc", "qdisc", "add", "dev", "link0", "root", "tbf", *limit)
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
            (HOSTS / name / "hosts").unlink(missing_ok=True)
            (HOSTS / name).rmdir()


def sent() -> int:
    """Bytes that have left this process's side of the link; 0 without a link."""
    counter = Path("/sys/class/net/link0/statistics/tx_bytes")
    if counter.exists():
        return int(counter.read_text())
    rows = [line.split() for line in Path("/proc/net/dev").read_text().splitlines()]
    return next((int(row[9]) for row in rows if row[0] == "link0:"), 0)


def measure(address: str, count: int, number: int, file: Path) -> dict[str, Any]:
    """An epoch whose programs are compiled, after one that compiled them."""
    import jax

    jax.distributed.initialize(address, count, number, heartbeat_timeout_seconds=3600)
    from timelike.distributed.node_dealing import own_edges
    from timelike.distributed.sharded_edges import own_nodes, rows_of
    from timelike.distributed.sharded_run import mesh_of_all
    from timelike.distributed.sharded_train import Run
    from timelike.engine.config import Config

    config = Config(epochs=2, batch_size=BATCH, optimizer="adam", learning_rate=0.01)
    mesh = mesh_of_all()
    mine = own_edges([file], lambda nodes: own_nodes(mesh, rows_of(mesh, nodes))).dealt
    run = Run(mine, tfd("minkowski", DIM), config, None)
    while not run.history:
        run.advance()
    begin, before = time.perf_counter(), sent()
    while len(run.history) < 2:
        run.advance()
    taken = time.perf_counter() - begin
    return {
        "nodes": run.nodes,
        "edges": run.edges.num_edges,
        "seconds": taken,
        "steps": -(-run.edges.num_edges // run.cut.batch),
        "bucket": run.bucket,
        "sent": sent() - before,
        "peak_gib": peak_gib(),
    }


if __name__ == "__main__":
    address, count, number, file = sys.argv[1:]
    print(json.dumps(measure(address, int(count), int(number), Path(file))))
