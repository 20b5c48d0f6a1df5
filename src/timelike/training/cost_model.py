"""Memory, time and network of a run, before it is started: a model of what the engine keeps and sends.

Bytes follow from the shapes of tables, edges and buckets. Examples per second were measured (`rates.json`,
by `python -m benchmarks.rates`). An example is a pair that is scored and whose two rows move.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from pathlib import Path
from typing import Any

from timelike._util.checks import one_of, positive_number, whole_number
from timelike._util.hardware import memory
from timelike.engine.negatives import PAIRS_PER_BLOCK
from timelike.graphs.digraph import MOST_EDGES, MOST_NODES
from timelike.training.exchange_buckets import usual, with_room

#: Bytes of a number that is computed with, and of that of a node or an edge.
WORD = 4
#: Bytes of a coordinate where it is kept: see `timelike.engine.table_storage`.
KEPT = {"float32": 4, "bfloat16": 2, "float16": 2}
#: Tables like that of the points that each optimiser keeps.
MOMENTS = {"sgd": 0, "adagrad": 1, "adam": 2, "dense-adam": 2}
#: Tables of all nodes in a step that moves every node: sums of derivatives, and directions.
DENSE = {"dense-adam": 2}
#: How often the rows of a step are in memory, besides their moments.
COPIES = 8
#: Nobody plans for more of anything than this.
LARGEST = 10**15
#: The most processes that are tried.
MOST_PROCESSES = 1 << 16
#: GiB of each process, where it is not said.
MEMORY = {"cpu": 16.0, "h200": 139.0}


@dataclasses.dataclass(frozen=True)
class Workload:
    """What is to be trained: `ambient` numbers for a point, `negatives` to an edge, in a `flat` space."""

    nodes: int
    edges: int
    ambient: int = 10
    optimizer: str = "adam"
    negatives: int = 4
    batch_size: int = 4096
    epochs: int = 10
    validated: bool = False
    tables: str = "float32"
    flat: bool = True

    def __post_init__(self) -> None:
        for name in ("nodes", "edges", "ambient", "batch_size", "epochs"):
            whole_number(name, getattr(self, name), 1, LARGEST)
        whole_number("negatives", self.negatives, 0, LARGEST)
        for name, known in (("optimizer", MOMENTS), ("tables", KEPT)):
            one_of(name, getattr(self, name), known)

    @property
    def pairs(self) -> int:
        """Examples of an edge."""
        return 1 + self.negatives

    @property
    def examples(self) -> int:
        """Of the whole run."""
        return self.edges * self.pairs * self.epochs

    @property
    def steps(self) -> int:
        """Of the whole run."""
        return self.epochs * math.ceil(self.edges / self.batch_size)

    def bytes_per_node(self, processes: int = 1) -> int:
        """Points and optimiser state; what `train` keeps in case an epoch fails; the best epoch so far."""
        tables = 1 + MOMENTS[self.optimizer]
        tables = 2 * tables + 1 if processes == 1 else tables + self.validated
        step = WORD * DENSE.get(self.optimizer, 0) * self.ambient
        return KEPT[self.tables] * tables * self.ambient + step + 2 * WORD  # a slot and the start of a row

    def bytes_per_edge(self, processes: int = 1) -> int:
        """Source and target as they were read, and again on the device; there only targets if spread."""
        return WORD * (2 + (2 if processes == 1 else 1))

    def bytes_per_step(self) -> int:
        """Rows of a step, their derivatives, sums, directions, and moments before and after."""
        copies = COPIES + 2 * MOMENTS[self.optimizer]
        return copies * WORD * 2 * self.pairs * self.batch_size * self.ambient

    def memory(self, processes: int = 1) -> int:
        """Bytes of a process, without the runtime and the compiler."""
        rows, edges = math.ceil(self.nodes / processes), math.ceil(self.edges / processes)
        tables = rows * self.bytes_per_node(processes) + edges * self.bytes_per_edge(processes)
        return tables + self.bytes_per_step() // processes

    def sent(self, processes: int) -> int:
        """Bytes that a process sends in a step: rows, derivatives back, and what is asked in drawing."""
        if processes == 1:
            return 0
        mine = math.ceil(self.batch_size / processes)
        rows = self.nodes * -math.expm1(-2 * self.pairs * mine / self.nodes)  # without those that repeat
        steps = max(1, PAIRS_PER_BLOCK // (self.batch_size * self.pairs))
        deviations = math.sqrt(2 * math.log(processes**2 * steps))  # of the largest bucket of a block
        mean = rows / processes
        row = with_room(math.ceil(mean + deviations * math.sqrt(mean)))
        row *= WORD + (KEPT[self.tables] + WORD) * self.ambient
        edge = usual(steps * mine, processes) * 3 * WORD
        negative = usual(self.negatives * steps * mine, processes) * (2 * WORD + 1)
        return (processes - 1) * (row + (edge + negative) // steps)


@dataclasses.dataclass(frozen=True)
class Device:
    """What a process runs on: where its speed was measured, and examples per second by dimensions."""

    name: str
    machine: str
    measured: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, name: str, optimizer: str, alone: bool = False) -> Device:
        """A device of `rates.json`, one that is `alone` and has kernels of our own or not.

        Optimisers that were not measured count as Adam.
        """
        known = devices()
        one_of("device", name, known)
        rates = known[name].get("alone" if alone else "rates", known[name]["rates"])
        found = rates.get(optimizer, rates["adam"])
        return cls(name, known[name]["machine"], tuple((dim, rate) for dim, rate in found))

    def rate(self, ambient: int) -> float:
        """Examples per second: the time of one is a line through two measurements, or through one and 0."""
        (low, first), *more = self.measured
        if not more:
            return first * min(1.0, low / ambient)
        high, last = more[-1]
        slope = (1 / last - 1 / first) / (high - low)
        return 1 / max(1 / first + slope * (ambient - low), 1 / (2 * first))


@functools.cache
def devices() -> dict[str, Any]:
    """What was measured, by device."""
    return json.loads(Path(__file__).with_name("rates.json").read_text(encoding="utf-8"))


def estimate_cost(
    work: Workload,
    processes: int | None = None,
    *,
    device: str = "cpu",
    memory: float | None = None,
    network: float = 10.0,
) -> dict[str, Any]:
    """Memory, time and network of a run as plain values.

    `processes`: None for as few as have enough memory, of `memory` GiB each (None: of such a device);
    `network` is in Gbit/s each.
    """
    memory = MEMORY.get(device, 16.0) if memory is None else memory
    for name, value in (("memory", memory), ("network", network)):
        positive_number(name, value)
    if processes is None:
        fits = (1 << i for i in range(MOST_PROCESSES.bit_length()))
        processes = next((n for n in fits if work.memory(n) <= memory * 2**30), None)
        if processes is None:
            raise ValueError(
                f"memory is {memory:g} GiB; no number of processes up to {MOST_PROCESSES:,} is enough"
            )
    if whole_number("processes", processes, 1, LARGEST) > 1 and work.optimizer in DENSE:
        raise ValueError(
            f'optimizer is {work.optimizer!r}, which moves every node; {processes:,} processes take "adam"'
        )
    by_kernels = processes == 1 and work.flat and work.optimizer not in DENSE
    where = Device.of(device, work.optimizer, alone=by_kernels)
    compute = work.examples / where.rate(work.ambient) / processes
    sent = work.sent(processes)
    exchange = work.steps * sent * 8 / (network * 1e9)
    most = {"nodes": MOST_NODES, "edges": MOST_EDGES}
    return {
        **dataclasses.asdict(work),
        "processes": processes,
        "bytes_per_node": work.bytes_per_node(processes),
        "bytes_per_edge": work.bytes_per_edge(processes),
        "gib_per_process": work.memory(processes) / 2**30,
        "device": where.machine,
        "examples_per_second": where.rate(work.ambient),
        "steps": work.steps,
        "bytes_sent_per_step": sent,
        "compute_seconds": compute,
        "network_seconds": exchange,
        "seconds": compute + exchange,
        "beyond_limits": [name for name, limit in most.items() if getattr(work, name) > limit],
    }


def workload_of(graph: Any, model: Any, config: Any) -> Workload:
    """What `train` would have to do."""
    return Workload(
        nodes=graph.num_nodes,
        edges=max(graph.num_edges, 1),
        ambient=model.manifold.ambient_dim,
        optimizer=config.optimizer,
        negatives=config.negatives.total,
        batch_size=min(config.batch_size, max(graph.num_edges, 1)),
        tables=config.tables,
    )


def check_memory(graph: Any, model: Any, config: Any) -> None:
    """Raise a `ValueError` if one process of this machine cannot hold what `train` keeps of every node.

    Only where that lies in the machine's own memory; a GPU says by itself what it has no room for.
    """
    import jax

    work, room = workload_of(graph, model, config), memory()
    if jax.default_backend() == "cpu" and room is not None and work.nodes * work.bytes_per_node() > room:
        raise ValueError(
            f"dim is {model.manifold.dim:,}: to train {work.nodes:,} nodes takes about "
            f"{work.memory() / 2**30:,.0f} GiB, and there are {room / 2**30:,.0f}; fewer dimensions take "
            "less (`timelike plan` says how much)"
        )
