"""Options of commands that train, and how optional ones are shown."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import tyro

if TYPE_CHECKING:
    from timelike.core.model import Model
    from timelike.distributed.processes import Place
    from timelike.engine.config import Config
    from timelike.io.edge_shards import AnyGraph

#: Kept here as text so that `--help` and mistakes need no JAX; a test compares them with the lists.
Spacetime = Literal[
    "euclidean",
    "minkowski",
    "cylindrical-euclidean",
    "cylindrical-minkowski",
    "sphere",
    "hyperboloid",
    "de-sitter",
    "anti-de-sitter",
    "two-time-hyperboloid",
]
Geometry = Literal[
    Spacetime,
    "order-embedding",
    "euclidean-disk",
    "spherical-disk",
    "hyperbolic-disk",
    "entailment-cones",
    "poincare-embedding",
    "shadow-cones",
]
Preset = Literal["cyclic", "general", "hierarchy", "regulatory"]
Storage = Literal["float32", "bfloat16", "float16"]
Likelihood = Literal["fermi-dirac", "triple-fermi-dirac", "law-lucas", "cone"]

#: How long is searched for settings unless --budget says otherwise.
MINUTES = 5.0


def optional(metavar: str) -> Any:
    """An option that need not be given and whose help says what happens then."""
    return tyro.conf.arg(metavar=metavar, help_behavior_hint="")


Count = Annotated[int | None, optional("INT")]


@dataclasses.dataclass(frozen=True)
class TrainingOptions:
    """How to train. What is not given suits the geometry and the graph."""

    likelihood: Annotated[Likelihood | None, optional("{fermi-dirac,triple-fermi-dirac,law-lucas,cone}")] = (
        None
    )
    """How the probability of an edge depends on interval and time."""

    dim: Count = None
    """Dimensions, time included; 10 unless given."""

    epochs: Count = None
    """Passes over the edges."""

    batch_size: Count = None
    """Edges per step."""

    learning_rate: Annotated[float | None, optional("FLOAT")] = None
    """Step size."""

    negatives: Count = None
    """Non-edges drawn with every edge, any two nodes; unless given 4, of the kind that suits the graph."""

    tables: Annotated[Storage | None, optional(f"{{{','.join(get_args(Storage))}}}")] = None
    """How points and moments lie in memory; float32 unless given, the others take half of it."""

    seed: int = 0
    """Where all random numbers come from: the same seed gives the same model."""

    seeds: int = 1
    """How many random starts, from `seed` on; the best by validation is kept."""

    @property
    def given(self) -> dict[str, Any]:
        """The options that were given, by name."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: value for name, value in fields.items() if value is not None}

    def check(self) -> None:
        """Refuse numbers that cannot be: to find out after the edges are read may take long."""
        from timelike._util.checks import whole_number

        whole_number("seed", self.seed)
        whole_number("seeds", self.seeds, 1)
        self.recipe("minkowski", None)

    def recipe(
        self, geometry: str, graph: AnyGraph | None, protocol: str = "uniform"
    ) -> tuple[Model, Config]:
        """What suits the geometry, the graph and what edges are told from, changed by what was given."""
        from timelike.estimator.recipes import any_negatives, negatives_of, recipe, shortened

        model, config = recipe(geometry, 10 if self.dim is None else self.dim, self.likelihood, graph)
        known = ("batch_size", "learning_rate", "tables", "seed")
        given = {name: value for name, value in self.given.items() if name in known}
        drawn = negatives_of(protocol) if self.negatives is None else any_negatives(self.negatives)
        if drawn is not None:
            given["negatives"] = drawn
        return model, dataclasses.replace(shortened(config, self.epochs), **given)


@dataclasses.dataclass(frozen=True)
class ManyOptions:
    """One run on many processes: start this command once for each, with the same other options."""

    coordinator: Annotated[str | None, optional("HOST:PORT")] = None
    """Where the first process listens; auto: Slurm, Open MPI or Kubernetes say all three."""

    num_processes: Count = None
    """How many processes there are."""

    process_id: Count = None
    """Which of them this is, from 0."""

    ray: Count = None
    """Start so many processes as actors of a Ray cluster (RAY_ADDRESS, or one of this machine alone), and
    again from the last checkpoint if one is lost."""

    checkpoint_seconds: float = 60.0
    """Seconds between checkpoints, in MODEL.checkpoint: with many processes, a folder that all see."""

    @property
    def place(self) -> Place | None:
        """Which process this is; None if there is one only."""
        if self.ray is not None and self.ray < 1:
            raise ValueError(f"ray is {self.ray}; it must be ≥ 1")
        if self.ray is not None and self.coordinator is not None:
            raise ValueError("--ray and --coordinator exclude each other; leave one out")
        if self.coordinator is None:
            if self.num_processes is not None or self.process_id is not None:
                raise ValueError(
                    "--num-processes and --process-id need --coordinator too: HOST:PORT, or auto"
                )
            return None
        from timelike.distributed.processes import Place

        place = Place(self.coordinator, self.num_processes, self.process_id)
        place.check()
        return place
