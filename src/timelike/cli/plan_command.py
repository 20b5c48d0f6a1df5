"""`timelike plan`: memory, time and network of a run, before it is started."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Literal

import tyro

from timelike._util.choices import Spacetime, Storage
from timelike.cli.options import Count
from timelike.cli.printing import print_json

Size = Annotated[float, tyro.conf.arg(metavar="N")]


@dataclasses.dataclass(frozen=True)
class Plan:
    """Say how much memory, time and network a run will take, and how many processes it needs.

    Example: timelike plan --nodes 1e9 --edges 1e11 --dim 32 --device h200 --network 400
    """

    nodes: Size
    """How many nodes."""

    edges: Size
    """How many edges."""

    dim: int = 10
    """Dimensions, time included."""

    geometry: Spacetime = "minkowski"
    """The spacetime: points of a curved one have a coordinate more."""

    optimizer: Literal["sgd", "adagrad", "adam", "dense-adam"] = "adam"
    """What trains the points."""

    tables: Storage = "float32"
    """What points and moments are kept in."""

    negatives: int = 4
    """Non-edges drawn with every edge."""

    batch_size: int = 4096
    """Edges per step, of all processes together."""

    epochs: int = 10
    """Passes over the edges."""

    processes: Count = None
    """How many processes; if not given, as few as have enough memory (a power of two)."""

    device: Literal["cpu", "h200"] = "cpu"
    """What each process runs on, of those that were measured."""

    memory: Annotated[float | None, tyro.conf.arg(metavar="GiB", help_behavior_hint="")] = None
    """Memory of each process; if not given, 16 on a cpu and 139 on an h200."""

    network: Annotated[float, tyro.conf.arg(metavar="GBIT/S")] = 10.0
    """Bandwidth of each process."""

    validated: Annotated[bool, tyro.conf.arg(help_behavior_hint="")] = False
    """Whether the best epoch is kept too, by validation."""

    json: bool = False
    """Print the result as JSON."""

    def run(self) -> None:
        """Print the plan."""
        from timelike.engine.table_storage import check_storage, is_flat
        from timelike.manifolds import MANIFOLDS
        from timelike.training.cost_model import LARGEST, Workload, estimate_cost

        for name, value in (("nodes", self.nodes), ("edges", self.edges)):
            if value % 1 or not 1 <= value <= LARGEST:
                raise ValueError(f"{name} is {value:g}; it must be a whole number from 1 to {LARGEST:g}")
        manifold = MANIFOLDS[self.geometry](self.dim)
        check_storage(self.tables, manifold)
        work = Workload(
            nodes=int(self.nodes),
            edges=int(self.edges),
            ambient=manifold.ambient_dim,
            optimizer=self.optimizer,
            negatives=self.negatives,
            batch_size=self.batch_size,
            epochs=self.epochs,
            validated=self.validated,
            tables=self.tables,
            flat=is_flat(manifold),
        )
        found = estimate_cost(
            work, self.processes, device=self.device, memory=self.memory, network=self.network
        )
        if self.json:
            print_json(found)
        else:
            _print(found)


def _print(found: dict[str, Any]) -> None:
    from timelike.training.cost_model import DENSE

    count = found["processes"]
    print(f"processes      {count:,}, each with {found['gib_per_process']:.3g} GiB and the runtime")
    print(f"memory         {found['bytes_per_node']} bytes per node, {found['bytes_per_edge']} per edge")
    print(f"speed          {found['examples_per_second']:.3g} examples/s, measured on {found['device']}")
    print(f"steps          {found['steps']:,}")
    if count > 1:
        print(f"network        {found['bytes_sent_per_step'] / 1e6:.3g} MB sent per step by each process")
    least = "at least " if found["optimizer"] in DENSE else ""  # moving every node was not measured
    print(f"time           {least}{_time(found['seconds'])}" + _parts(found))
    if found["beyond_limits"]:
        what = " and ".join(found["beyond_limits"])
        print(f"not possible   more than 2³¹ − 1 {what}: numbers are 32 bits; this is what it would take")


def _parts(found: dict[str, Any]) -> str:
    if found["processes"] == 1:
        return ""
    return f": {_time(found['compute_seconds'])} computing, {_time(found['network_seconds'])} sending"


def _time(seconds: float) -> str:
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.2g} seconds"
