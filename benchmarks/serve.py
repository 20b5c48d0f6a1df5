"""Requests a second of `timelike serve` by wrk.

Command: `python -m benchmarks.serve [nodes] [connections] [cache] [rate]`.

With a rate, each connection waits between its requests, so that all together ask about that often a second.

Prints what wrk reports and the CPU time of the service per request, which other load on the machine hardly
changes. wrk is a Debian package.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import timelike as tl

SECONDS = 15
LUA = """
request = function()
  return wrk.format("GET", "/v1/models/model/targets?k=10&node=" .. math.random(0, {last}))
end
function init(args) math.randomseed(7) end
"""
WAIT = "function delay() return {milliseconds} end\n"


def cpu_seconds(process: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(nodes: int = 100_000, connections: int = 32, cache: int = 0, rate: int = 0) -> None:
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is not installed: apt-get install wrk")
    points = np.random.default_rng(0).normal(size=(nodes, 10)).astype(np.float32)
    model = tl.Model(tl.manifolds.Minkowski(10), tl.likelihoods.TripleFermiDirac())
    with tempfile.TemporaryDirectory() as folder:
        tl.Embedding(model, points, None, {}, {}).save(Path(folder, "model"))
        wait = WAIT.format(milliseconds=1000 * connections // rate) if rate else ""
        Path(folder, "ask.lua").write_text(LUA.format(last=nodes - 1) + wait)
        command = [sys.executable, "-m", "timelike", "serve", f"{folder}/model", "--cache", str(cache)]
        service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            address = service.stdout.readline().strip()
            ask = ["wrk", "-t1", f"-c{connections}", f"-d{SECONDS}", "--latency", "--timeout", "10s"]
            before = cpu_seconds(service.pid)
            said = subprocess.run([*ask, "-s", f"{folder}/ask.lua", address], capture_output=True, text=True)
            used = cpu_seconds(service.pid) - before
        finally:
            service.terminate()
            service.wait(30)
    requests = next(int(line.split()[0]) for line in said.stdout.splitlines() if "requests in" in line)
    print(said.stdout)
    print(f"{1000 * used / requests:.3f} ms of CPU per request, {nodes:,} nodes, {cache} MiB of cache")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
