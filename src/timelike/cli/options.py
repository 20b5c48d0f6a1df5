"""Options that several commands share."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any, get_args

import tyro

from timelike._util.choices import LikelihoodName, Storage

if TYPE_CHECKING:
    from timelike.distributed.processes import Place
    from timelike.estimator.fit_options import FitOptions

#: Default of --budget, in minutes.
MINUTES = 5.0


def optional(metavar: str) -> Any:
    """An option without a default value to show; its help says what happens without it."""
    return tyro.conf.arg(metavar=metavar, help_behavior_hint="")


Count = Annotated[int | None, optional("INT")]


def chosen(kinds: Any) -> Any:
    """An optional choice whose help lists the choices."""
    return optional(f"{{{','.join(get_args(kinds))}}}")


@dataclasses.dataclass(frozen=True)
class TrainingOptions:
    """How to train. Defaults follow from the geometry, the graph and validation."""

    likelihood: Annotated[LikelihoodName | None, chosen(LikelihoodName)] = None
    """How the probability of an edge depends on interval and time."""

    dim: Count = None
    """Dimensions, time included; default: 10."""

    epochs: Count = None
    """Passes over the edges."""

    batch_size: Count = None
    """Edges per step."""

    learning_rate: Annotated[float | None, optional("FLOAT")] = None
    """Step size."""

    negatives: Annotated[str | None, optional("N|KIND=N,…")] = None
    """Negative samples per edge: a number of uniform ones, or kinds, such as same_source=2,reversed=1;
    default: 4 of the kind that validation uses."""

    tables: Annotated[Storage | None, chosen(Storage)] = None
    """Storage of points and moments; default: float32, the others take half of it."""

    seed: int = 0
    """The source of all random numbers: the same seed gives the same model."""

    seeds: int = 1
    """Random starts, from `seed` on; the best by validation is kept."""

    def options(self, geometry: Any = "auto", **others: Any) -> FitOptions:
        """The options of a fit, checked."""
        from timelike.estimator.fit_options import FitOptions

        named = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        named["negatives"] = _negatives(self.negatives)
        options = FitOptions(geometry, **{**named, **others})
        options.check()
        return options


def _negatives(text: str | None) -> Any:
    """A number, or `Negatives` from `same_source=2,reversed=1`."""
    from timelike.engine.negatives import Negatives

    if text is None:
        return None
    if text.lstrip("-").isdecimal():
        return int(text)
    counts: dict[str, Any] = {}
    for part in text.split(","):
        kind, _, count = part.partition("=")
        if not count.isdecimal():
            raise ValueError(f"negatives is {text!r}; it must be a number, or like same_source=2,reversed=1")
        counts[kind.strip()] = int(count)
    try:
        return Negatives(**counts)
    except TypeError:
        kinds = ", ".join(field.name for field in dataclasses.fields(Negatives)[:-1])
        raise ValueError(f"negatives is {text!r}; kinds are {kinds}") from None


@dataclasses.dataclass(frozen=True)
class ManyOptions:
    """One run on many processes: start this command once per process, with the same other options."""

    coordinator: Annotated[str | None, optional("HOST:PORT")] = None
    """Where the first process listens; auto: Slurm, Open MPI or Kubernetes provide all three."""

    num_processes: Count = None
    """Number of processes."""

    process_id: Count = None
    """The number of this process, from 0."""

    ray: Count = None
    """Start this many processes as actors of a Ray cluster (RAY_ADDRESS, or a local one); if one is lost,
    restart
    from the last checkpoint."""

    checkpoint_seconds: float = 60.0
    """Seconds between checkpoints in MODEL.checkpoint, a folder that all processes must see."""

    @property
    def place(self) -> Place | None:
        """Which process this is; None for a single process."""
        if self.ray is not None and self.ray < 1:
            raise ValueError(f"ray is {self.ray}; it must be ≥ 1")
        if self.ray is not None and self.coordinator is not None:
            raise ValueError("--ray cannot be combined with --coordinator")
        if self.coordinator is None:
            if self.num_processes is not None or self.process_id is not None:
                raise ValueError(
                    "--num-processes and --process-id also need --coordinator: HOST:PORT, or auto"
                )
            return None
        from timelike.distributed.processes import Place

        place = Place(self.coordinator, self.num_processes, self.process_id)
        place.check()
        return place
