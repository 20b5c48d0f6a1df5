"""Estimate memory, time and network traffic of a run before it starts.

Bytes follow from the shapes of tables, edges and buckets. Examples per second of a GPU, and what the parts of
a step take on a CPU, were measured (`rates.json`, written by `python -m benchmarks.rates`). An example is a
pair that is scored and whose two rows move.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from timelike._util.checks import one_of, positive_number, whole_number
from timelike._util.hardware import memory
from timelike.engine.negatives import PAIRS_PER_BLOCK
from timelike.graphs.digraph import MOST_EDGES, MOST_NODES

#: Bytes of a number in arithmetic, and of a node or edge number.
WORD = 4
#: Bytes of a stored coordinate: see `timelike.engine.table_storage`.
KEPT = {"float32": 4, "bfloat16": 2, "float16": 2}
#: Tables of the size of the points that each optimiser keeps.
MOMENTS = {"sgd": 0, "adagrad": 1, "adam": 2, "dense-adam": 2}
#: Tables of all nodes in a step that moves every node: summed derivatives, and directions.
DENSE = {"dense-adam": 2}
#: Copies of the rows of a step in memory, besides their moments.
COPIES = 8
#: Bytes of a drawn pair: two ends and a weight.
PAIR_BYTES = 12
#: Upper limit of every size.
LARGEST = 10**15
#: Fewer coordinates than this are never too many, however small the graph.
WIDE = 4096
#: Several processes pay if they need at most this share of the time of one; the estimate is no better.
PAYS = 0.8
#: Largest batch to try.
LARGEST_BATCH = 1 << 24
#: Largest number of processes to try.
MOST_PROCESSES = 1 << 16
#: Default memory of each process, in GiB.
MEMORY = {"cpu": 16.0, "h200": 139.0}
#: Blocks of `PAIRS_PER_BLOCK` pairs that several processes draw at once.
TOGETHER = 16
#: Exchanges of several processes in a step: rows to those who need them, and derivatives back.
EXCHANGES = 2
#: Standard deviations of a random number of requests for which a bucket of the usual size has room.
DEVIATIONS = 6


@dataclasses.dataclass(frozen=True)
class Workload:
    """What to train: `ambient` numbers per point, `negatives` per edge, in a `flat` space or another."""

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
        """Examples per edge."""
        return 1 + self.negatives

    @property
    def steps(self) -> int:
        """Steps of the whole run."""
        return self.epochs * math.ceil(self.edges / self.batch_size)

    def bytes_per_node(self, processes: int = 1) -> int:
        """Points and optimiser state, their copy in case an epoch fails, and the best epoch so far."""
        tables = 1 + MOMENTS[self.optimizer]
        tables = 2 * tables + 1 if processes == 1 else tables + self.validated
        step = WORD * DENSE.get(self.optimizer, 0) * self.ambient
        return KEPT[self.tables] * tables * self.ambient + step + 2 * WORD  # a slot and the start of a row

    def bytes_per_edge(self, processes: int = 1) -> int:
        """Source and target as read, and again on the device; only targets there with several processes."""
        return WORD * (2 + (2 if processes == 1 else 1))

    def bytes_per_step(self) -> int:
        """The rows of a step, their derivatives, sums, directions, and moments before and after."""
        copies = COPIES + 2 * MOMENTS[self.optimizer]
        return copies * WORD * 2 * self.pairs * self.batch_size * self.ambient

    def memory(self, processes: int = 1) -> int:
        """Bytes per process, without the runtime and the compiler."""
        rows, edges = math.ceil(self.nodes / processes), math.ceil(self.edges / processes)
        tables = rows * self.bytes_per_node(processes) + edges * self.bytes_per_edge(processes)
        return tables + self.bytes_per_step() // processes

    def sent(self, processes: int) -> int:
        """Bytes that a process sends per step: rows, their derivatives, and requests of the sampler."""
        if processes == 1:
            return 0
        own = math.ceil(self.batch_size / processes)
        rows = self.nodes * -math.expm1(-2 * self.pairs * own / self.nodes)  # without repeats
        steps = max(1, PAIRS_PER_BLOCK // (self.batch_size * self.pairs)) * TOGETHER
        deviations = math.sqrt(2 * math.log(processes**2 * steps))  # of the fullest bucket of a block
        mean = rows / processes
        row = rounded_bucket(math.ceil(mean + deviations * math.sqrt(mean)))
        if 2 * self.pairs * own >= self.nodes:  # whole tables
            row = math.ceil(self.nodes / processes)
        row *= WORD + (KEPT[self.tables] + WORD) * self.ambient
        edge = bucket_size(steps * own, processes) * 3 * WORD
        negative = bucket_size(self.negatives * steps * own, processes) * (2 * WORD + 1)
        return (processes - 1) * (row + (edge + negative) // steps)


def examples_per_second(device: str, optimizer: str, ambient: int, alone: bool = False) -> float:
    """The speed of a GPU of `rates.json`; one that trains `alone` may have kernels of its own.

    The time per example is linear in `ambient`, through two measurements. Optimisers without measurements
    count as Adam.
    """
    rates = devices()[device].get("alone" if alone else "rates", devices()[device]["rates"])
    (low, first), *_, (high, last) = rates.get(optimizer, rates["adam"])
    slope = (1 / last - 1 / first) / (high - low)
    return 1 / max(1 / first + slope * (ambient - low), 1 / (2 * first))


def step_seconds(work: Workload, processes: int, shared: float, of: Mapping[str, float]) -> float:
    """The time of a step's arithmetic on a CPU of `rates.json`, on each of `processes`.

    Scoring a pair and moving a row take longer in more dimensions, and with tables that no cache holds.
    `shared` processes run on a core, if they are more than one; `of`: the measured times.
    """
    pairs = work.pairs * work.batch_size / processes
    rows = min(2 * pairs, work.nodes)
    table = work.nodes * KEPT[work.tables] * work.ambient * (1 + MOMENTS[work.optimizer]) / processes
    uncached = min(max(math.log10(table / of["cached_bytes"]), 0.0), 1.0)
    each = (of["ns"] + of["ns_per_coordinate"] * work.ambient) * (1 + of["uncached"] * uncached)
    share = of["scoring"] * pairs + (1 - of["scoring"]) * rows / 2
    slower = of["sgd"] if work.optimizer == "sgd" else 1.0
    return max(shared, 1.0) * 1e-9 * each * share * slower


def bucket_size(requests: int, owners: int) -> int:
    """A bucket size that random requests hardly ever exceed: mean plus six standard deviations."""
    mean = requests / owners
    return min(requests, math.ceil(mean + DEVIATIONS * math.sqrt(mean)))


def rounded_bucket(needed: int) -> int:
    """`needed`, rounded up in steps of an eighth: a new bucket size means a new compilation."""
    quantum = max(1, 2 ** (needed.bit_length() - 4))
    return quantum * -(-needed // quantum)


@functools.cache
def devices() -> dict[str, Any]:
    """The measurements, by device."""
    return json.loads(Path(__file__).with_name("rates.json").read_text(encoding="utf-8"))


def estimate_cost(
    work: Workload,
    processes: int | None = None,
    *,
    device: str = "cpu",
    memory: float | None = None,
    network: float = 10.0,
    machines: int | None = None,
) -> dict[str, Any]:
    """Memory, time and network traffic of a run, as plain values.

    `processes`: default: the fewest that have enough memory, at `memory` GiB each (default: that of the
    device); `network`: Gbit/s of each process; `machines` that share the processes: default: one for each.
    """
    memory = MEMORY.get(device, 16.0) if memory is None else memory
    for name, value in (("memory", memory), ("network", network)):
        positive_number(name, value)
    if processes is None:
        fits = (1 << i for i in range(MOST_PROCESSES.bit_length()))
        processes = next((n for n in fits if work.memory(n) <= memory * 2**30), None)
        if processes is None:
            raise ValueError(
                f"memory is {memory:g} GiB, too little for up to {MOST_PROCESSES:,} processes; allow more"
            )
    if whole_number("processes", processes, 1, LARGEST) > 1 and work.optimizer in DENSE:
        raise ValueError(
            f'optimizer is {work.optimizer!r}, which moves every node; {processes:,} processes need "adam"'
        )
    machines = processes if machines is None else whole_number("machines", machines, 1, processes)
    one_of("device", device, devices())
    compute, exchange = _seconds(work, processes, device, network, machines)
    most = {"nodes": MOST_NODES, "edges": MOST_EDGES}
    return {
        **dataclasses.asdict(work),
        "processes": processes,
        "machines": machines,
        "bytes_per_node": work.bytes_per_node(processes),
        "bytes_per_edge": work.bytes_per_edge(processes),
        "gib_per_process": work.memory(processes) / 2**30,
        "device": devices()[device]["machine"],
        "examples_per_second": work.edges * work.pairs * work.epochs / compute / processes,
        "steps": work.steps,
        "bytes_sent_per_step": work.sent(processes),
        "compute_seconds": compute,
        "network_seconds": exchange,
        "seconds": compute + exchange,
        "seconds_of_one": sum(_seconds(work, 1, device, network, 1)) if processes > 1 else None,
        "pays_from_batch_size": _pays_from(work, processes, device, network, machines),
        "beyond_limits": [name for name, limit in most.items() if getattr(work, name) > limit],
    }


def _seconds(
    work: Workload, processes: int, device: str, network: float, machines: int
) -> tuple[float, float]:
    """The seconds of a run for arithmetic, and for exchanges."""
    about = devices()[device]
    wait, fastest = about.get("exchange", {"seconds": 0.0, "gbit": math.inf}).values()
    sending = EXCHANGES * wait + work.sent(processes) * 8 / (min(network, fastest) * 1e9)
    exchange = work.steps * sending if processes > 1 else 0.0
    if "step" in about:
        shared = processes / machines / about["step"]["cores"]
        return work.steps * step_seconds(work, processes, shared, about["step"]), exchange
    by_kernels = processes == 1 and work.flat and work.optimizer not in DENSE
    rate = examples_per_second(device, work.optimizer, work.ambient, alone=by_kernels)
    return work.edges * work.pairs * work.epochs / rate / processes, exchange


def _pays_from(work: Workload, processes: int, device: str, network: float, machines: int) -> int | None:
    """The smallest power of two of edges in a step for which these processes save time for sure, if any."""
    for batch in (1 << i for i in range(6, LARGEST_BATCH.bit_length())) if processes > 1 else ():
        other = dataclasses.replace(work, batch_size=batch)
        many = sum(_seconds(other, processes, device, network, machines))
        if many < PAYS * sum(_seconds(other, 1, device, network, 1)):
            return batch
    return None


def workload_of(graph: Any, model: Any, config: Any) -> Workload:
    """The workload of `train`."""
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
    """Raise a `ValueError` if the memory of this machine cannot hold the tables and the steps of `train`.

    Checked on a CPU only; a GPU reports by itself that it is out of memory.
    """
    import jax

    if jax.default_backend() != "cpu":
        return
    work = workload_of(graph, model, config)
    tables, step = work.nodes * work.bytes_per_node(), work.bytes_per_step()
    check_room(f"dim is {model.manifold.dim:,}", f"training {work.nodes:,} nodes", tables)
    drawn = f"negatives is {work.negatives:,}"
    check_room(drawn, f"{work.pairs:,} pairs per edge", PAIR_BYTES * work.pairs * work.batch_size)
    where = f"dim is {model.manifold.dim:,}" if work.ambient > work.pairs else drawn
    what = f"a step of {work.batch_size:,} edges with {work.negatives:,} negatives each"
    check_room(where, what, tables + step)


def check_span(nodes: int, dim: int) -> None:
    """Raise a `ValueError` if the nodes are too few for so many dimensions: N points span at most N − 1."""
    if dim > (most := max(WIDE, nodes)):
        spanned = f"{nodes:,} nodes span at most {nodes - 1:,} dimensions"
        raise ValueError(f"dim is {dim:,}; {spanned}: use at most {most:,}")


def check_room(where: str, what: str, needed: int) -> None:
    """Raise a `ValueError` about an argument (`where`) if this machine has less memory than `what` needs."""
    room = memory()
    if room is not None and needed > room:
        raise ValueError(
            f"{where}: {what} would take {needed / 2**30:,.3g} GiB, and there are {room / 2**30:,.3g}; "
            "use less (`timelike plan` estimates the memory of a run)"
        )
