"""`timelike plan`: memory, time and network traffic of a run, estimated in advance."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Literal

import tyro

from timelike._util.choices import Spacetime, Storage
from timelike.cli.options import Count, Flag, Json, optional
from timelike.cli.printing import print_json
from timelike.cli.reading_options import LayoutOptions

Size = Annotated[float | None, optional("N")]


@dataclasses.dataclass(frozen=True)
class Plan:
    """Estimate memory, time and network traffic of a run, and the number of processes it needs.

    Example: timelike plan edges.tsv
    Example: timelike plan --nodes 1e9 --edges 1e11 --dim 32 --device h200 --network 400
    """

    graph: Annotated[str | None, tyro.conf.Positional, optional("[GRAPH]")] = None
    """Edge file or data set, to count the nodes and edges in."""

    nodes: Size = None
    """Number of nodes; default: counted in GRAPH."""

    edges: Size = None
    """Number of edges; default: counted in GRAPH."""

    dim: int = 10
    """Dimensions, time included."""

    geometry: Spacetime = "minkowski"
    """The spacetime; points of a curved one have an extra coordinate."""

    optimizer: Literal["sgd", "adagrad", "adam", "dense-adam"] = "adam"
    """Optimizer of the points."""

    tables: Storage = "float32"
    """Number type of points and optimizer moments."""

    negatives: int = 4
    """Negative samples per edge."""

    batch_size: int = 4096
    """Edges per step, over all processes."""

    epochs: int = 10
    """Passes over the edges."""

    processes: Count = None
    """Number of processes; default: the smallest power of two with enough memory."""

    machines: Count = None
    """Machines that share the processes; default: one machine each."""

    device: Literal["cpu", "h200"] = "cpu"
    """Device of each process; both were measured."""

    memory: Annotated[float | None, optional("GiB")] = None
    """Memory of each process; default: 16 on a cpu, 139 on an h200."""

    network: Annotated[float, tyro.conf.arg(metavar="GBIT/S")] = 10.0
    """Network bandwidth of each process."""

    validated: Flag = False
    """Count the memory that validation needs to keep the best epoch."""

    json: Json = False

    reading: tyro.conf.OmitArgPrefixes[LayoutOptions] = dataclasses.field(default_factory=LayoutOptions)

    def run(self) -> None:
        """Print the plan."""
        from timelike.engine.table_storage import check_storage, is_flat
        from timelike.manifolds import MANIFOLDS
        from timelike.training.cost_model import LARGEST, Workload, estimate_cost

        nodes, edges = self._size()
        for name, value in (("nodes", nodes), ("edges", edges)):
            if value % 1 or not 1 <= value <= LARGEST:
                raise ValueError(f"{name} is {value:g}; it must be a whole number between 1 and {LARGEST:g}")
        manifold = MANIFOLDS[self.geometry](self.dim)
        check_storage(self.tables, manifold)
        own = ("optimizer", "negatives", "batch_size", "epochs", "validated", "tables")
        work = Workload(
            int(nodes),
            int(edges),
            manifold.ambient_dim,
            flat=is_flat(manifold),
            **{name: getattr(self, name) for name in own},
        )
        estimate = estimate_cost(
            work,
            self.processes,
            device=self.device,
            memory=self.memory,
            network=self.network,
            machines=self.machines,
        )
        if self.json:
            print_json(estimate)
        else:
            _print(estimate)

    def _size(self) -> tuple[float, float]:
        """The numbers of nodes and edges: given, else counted in the file."""
        if self.graph is None:
            for name, value in (("nodes", self.nodes), ("edges", self.edges)):
                if value is None:
                    raise ValueError(f"plan needs an edge file, or --nodes and --edges; --{name} is missing")
            return self.nodes, self.edges  # type: ignore[return-value]
        graph = self.reading.graph(self.graph)
        return self.nodes or graph.num_nodes, self.edges or graph.num_edges


def _print(estimate: dict[str, Any]) -> None:
    from timelike.training.cost_model import DENSE

    at_least = "at least " if estimate["optimizer"] in DENSE else ""  # moving every node was not measured
    rows = {
        "graph": "{nodes:,} nodes, {edges:,} edges",
        "processes": "{processes:,}, each with {gib_per_process:.3g} GiB in addition to the runtime",
        "memory": "{bytes_per_node} bytes per node, {bytes_per_edge} per edge",
        "speed": "{examples_per_second:.3g} examples/s, measured on {device}",
        "steps": "{steps:,}",
        "network": f"{estimate['bytes_sent_per_step'] / 1e6:.3g} MB sent per step by each process",
        "time": f"{at_least}{_time(estimate['seconds'])}",
        "not possible": "more than 2³¹ − 1 " + " and ".join(estimate["beyond_limits"]),
    }
    if estimate["processes"] == 1:
        del rows["network"]
    else:
        parts = [_time(estimate[f"{part}_seconds"]) for part in ("compute", "network")]
        rows["time"] += f": {parts[0]} computing, {parts[1]} exchanging"
        rows["one process"] = _compared(estimate)
    if not estimate["beyond_limits"]:
        del rows["not possible"]
    for name, text in rows.items():
        print(f"{name:<15}{text.format(**estimate)}")


def _compared(estimate: dict[str, Any]) -> str:
    """How long one process would take, and from which batch size on the others pay."""
    from timelike.training.cost_model import PAYS

    batch, alone = estimate["pays_from_batch_size"], _time(estimate["seconds_of_one"])
    if estimate["seconds"] < PAYS * estimate["seconds_of_one"]:
        return f"{alone}, if its memory is enough"
    cure = "at any batch size" if batch is None else f"below --batch-size {batch:,}"
    return f"{alone}: as fast or faster {cure}, if its memory is enough"


def _time(seconds: float) -> str:
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.2g} seconds"
