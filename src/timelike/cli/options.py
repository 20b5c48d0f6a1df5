"""Options that several commands share."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import tyro

import timelike as tl
from timelike._util.choices import LikelihoodName, Storage

if TYPE_CHECKING:
    from timelike.distributed.processes import Place
    from timelike.estimator.settings import FitOptions

#: Default of --budget, in minutes.
MINUTES = 5.0


def optional(metavar: str, **others: Any) -> Any:
    """An option without a default value to show; its help says what happens without it."""
    return tyro.conf.arg(metavar=metavar, help_behavior_hint="", **others)


def chosen(kinds: Any, **others: Any) -> Any:
    """An optional choice whose help lists the choices."""
    return optional(f"{{{','.join(get_args(kinds))}}}", **others)


Count = Annotated[int | None, optional("INT")]
Number = Annotated[float | None, optional("FLOAT")]
File = Annotated[Path | None, optional("FILE")]
Flag = Annotated[bool, tyro.conf.arg(help_behavior_hint="")]
Log = Annotated[
    str | None,
    optional(
        "FILE",
        help="Log every epoch's metrics to a file of JSON lines, tensorboard:FOLDER, mlflow or wandb.",
    ),
]
Json = Annotated[bool, tyro.conf.arg(help="Print the result as JSON.", help_behavior_hint="")]


@dataclasses.dataclass(frozen=True)
class TrainingOptions:
    """How to train. The defaults depend on the geometry, the graph and validation."""

    likelihood: Annotated[LikelihoodName | None, chosen(LikelihoodName)] = None
    """Edge probability as a function of interval and time; default: one that suits the geometry."""

    dim: Count = None
    """Dimensions, time included; default: 10, or as many as points that are read off the edges need."""

    epochs: Count = None
    """Passes over the edges."""

    batch_size: Count = None
    """Edges per step."""

    learning_rate: Number = None
    """Step size."""

    negatives: Annotated[str | None, optional("N|KIND=N,…")] = None
    """Negatives per edge, as 4 or same_source=2,reversed=1; default: 4 of the kind that validation uses."""

    tables: Annotated[Storage | None, chosen(Storage)] = None
    """Number type of points and optimizer moments; default: float32. The others take half the memory."""

    seed: int = 0
    """Seed of all random numbers: the same seed gives the same model."""

    seeds: int = 1
    """Number of random starts, from --seed on; validation picks the best."""

    def options(self, geometry: Any = "auto", **others: Any) -> FitOptions:
        """The checked options of a fit."""
        from timelike.estimator.settings import FitOptions

        named = {**vars(self), "negatives": _negatives(self.negatives), **others}
        options = FitOptions(geometry, **named)
        options.check()
        return options


def _negatives(text: str | None) -> Any:
    """A number, or the `Negatives` that a text such as same_source=2,reversed=1 describes."""
    if text is None or text.lstrip("-").isdecimal():
        return None if text is None else int(text)
    kinds = [field.name for field in dataclasses.fields(tl.Negatives)[:-1] if field.name != "listed"]
    counts: dict[str, Any] = {}
    for part in text.split(","):
        kind, _, count = (word.strip() for word in part.partition("="))
        if not count.isdecimal():
            raise ValueError(f"negatives is {text!r}; it must be a number or like same_source=2,reversed=1")
        if kind not in kinds:
            raise ValueError(f"negatives is {text!r}; each kind must be one of {', '.join(kinds)}")
        if kind in counts:
            raise ValueError(f"negatives is {text!r}; it names {kind} twice")
        counts[kind] = int(count)
    if not any(counts.values()):
        raise ValueError(f"negatives is {text!r}; without negatives, every pair becomes a likely edge")
    try:
        return tl.Negatives(**counts)
    except ValueError as error:
        raise ValueError(f"negatives is {text!r}; {str(error).removeprefix('Negatives: ')}") from None


@dataclasses.dataclass(frozen=True)
class ManyOptions:
    """Train one model on many processes: start this command once per process, with the same other options."""

    coordinator: Annotated[str | None, optional("HOST:PORT")] = None
    """Address of the first process; auto: Slurm, Open MPI or Kubernetes provide it and both numbers below."""

    num_processes: Count = None
    """Number of processes."""

    process_id: Count = None
    """Number of this process, counted from 0."""

    ray: Count = None
    """Start this many actors on a Ray cluster (RAY_ADDRESS or local); a loss restarts from a checkpoint."""

    checkpoint_seconds: float = 60.0
    """Seconds between checkpoints. They are in the folder MODEL.checkpoint, which all processes must see."""

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
                    "--num-processes and --process-id need --coordinator; add --coordinator HOST:PORT or auto"
                )
            return None
        from timelike.distributed.processes import Place

        place = Place(self.coordinator, self.num_processes, self.process_id)
        place.check()
        return place
