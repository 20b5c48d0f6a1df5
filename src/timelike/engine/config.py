"""Training settings, checked on construction, and their static and variable part in a compiled epoch."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import optax
from jaxtyping import Array, Float, Int, Key

from timelike._util.checks import one_of, positive_number, whole_number
from timelike.core.model import Model
from timelike.core.struct import with_scaled
from timelike.engine.negatives import Negatives
from timelike.engine.optimizers import DENSE, OPTIMIZERS, Step, heating, schedule
from timelike.engine.table_storage import STORAGES

#: The smallest learning rate with which points may move.
SLOWEST = 1e-12


@dataclasses.dataclass(frozen=True)
class Config:
    """Training settings. The defaults are the paper's, except for larger batches.

    The loss is summed over a batch, so the learning rate does not depend on the batch size.
    """

    #: Passes over the edges.
    epochs: int = 100
    #: Edges per step, each with its negatives. The paper uses 2 to 50.
    batch_size: int = 16
    #: Step size λ of eq. 3.
    learning_rate: float = 0.02
    #: Negative samples per edge, by kind.
    negatives: Negatives = dataclasses.field(default_factory=lambda: Negatives(uniform=4))
    #: "sgd" (the paper's pseudo-Riemannian SGD), "adam", "dense-adam" (moves every node) or "adagrad".
    optimizer: str = "sgd"
    #: Number of first epochs that run at a hundredth of the learning rate.
    burn_in: int = 10
    #: The learning rate of the last epoch as a share of the first; it falls linearly. The paper: ¼.
    final_rate: float = 0.25
    #: Temperatures (numbers named tau…) start at this multiple of their value and fall to it; scores use
    #: the value itself. Learned temperatures are not annealed.
    anneal: float = 1.0
    #: Half-width of the patch around the origin in which points start.
    init_scale: float = 0.01
    #: Largest tangent norm of a gradient of a node in one step; infinite: no clipping.
    clip: float = math.inf
    #: The epoch to keep: best validation AP ("valid"; the last epoch without validation pairs), best
    #: test AP ("test": the paper's protocol, which looks at the test pairs) or the last ("last").
    select: str = "valid"
    #: Stop after this number of epochs without a better score; None: never.
    patience: int | None = None
    #: Stop after this epoch, with the learning-rate schedule of all `epochs`; None: run them all.
    until: int | None = None
    #: Storage of points and optimiser moments: "float32", or half the memory: "bfloat16", "float16".
    tables: str = "float32"
    #: Numbers of the model to learn along with the points: "tau1", "alpha", "circumference", …
    learn: tuple[str, ...] = ()
    #: Seed of all randomness.
    seed: int = 0

    def __post_init__(self) -> None:
        least_of = {"epochs": 1, "batch_size": 1, "burn_in": 0, "seed": 0, "patience": 1, "until": 1}
        for name, least in least_of.items():
            if not (name in ("patience", "until") and getattr(self, name) is None):
                value = whole_number(f"Config: {name}", getattr(self, name), least, 2**31 - 1)
                object.__setattr__(self, name, value)
        for name in ("learning_rate", "final_rate", "anneal", "init_scale", "clip"):
            number = positive_number(f"Config: {name}", getattr(self, name), finite=name != "clip")
            object.__setattr__(self, name, number)
        if self.learning_rate < SLOWEST:
            raise ValueError(
                f"Config: learning_rate is {self.learning_rate:g}; it must be ≥ {SLOWEST:g}: no point would "
                "move in single precision"
            )
        allowed = {"optimizer": OPTIMIZERS, "select": ("valid", "test", "last"), "tables": STORAGES}
        for name, known in allowed.items():
            one_of(f"Config: {name}", getattr(self, name), known)
        if self.tables != "float32" and self.optimizer in DENSE:
            raise ValueError(
                f"Config: tables is {self.tables!r}; optimizer {self.optimizer!r} needs 'float32'"
            )
        listed = isinstance(self.learn, list | tuple) and all(isinstance(name, str) for name in self.learn)
        if not listed:
            raise TypeError(f"Config: learn is {self.learn!r}; it must be a list of names of model numbers")
        object.__setattr__(self, "learn", tuple(self.learn))
        if not isinstance(self.negatives, Negatives):
            raise TypeError(f"Config: negatives is {self.negatives!r}; it must be a Negatives(…)")

    @property
    def last_epoch(self) -> int:
        """The epoch after which the run ends, unless it stops early."""
        return self.epochs if self.until is None else min(self.until, self.epochs)

    def ended_at(self, epoch: int) -> Config:
        """The same run without validation, ending with this epoch and keeping it."""
        return dataclasses.replace(self, until=epoch, select="last", patience=None)

    def epoch_plan(self, has_valid: bool, has_test: bool) -> EpochPlan:
        """The part of the settings that a compiled epoch fixes."""
        if self.select == "test" and not has_test:
            raise ValueError('Config: select is "test", but there are no test pairs; pass test=pairs')
        select = "last" if self.select == "valid" and not has_valid else self.select
        if self.patience is not None and select == "last":
            cure = 'set select="valid"' if self.select == "last" else "pass valid=pairs"
            raise ValueError(f"Config: patience is {self.patience}, but the last epoch is kept; {cure}")
        return EpochPlan(self.batch_size, self.negatives, self.optimizer, select, self.learn, self.tables)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for provenance and checkpoints."""
        plain = dataclasses.asdict(self)
        plain["negatives"]["weights"] = dict(self.negatives.weights)
        return {**plain, "learn": list(self.learn)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Config:
        """The inverse of `to_dict`; missing settings get their defaults."""
        kinds = {"negatives": Negatives(**plain["negatives"])} if "negatives" in plain else {}
        return cls(**{**plain, **kinds})


@dataclasses.dataclass(frozen=True)
class EpochPlan:
    """The settings that a compiled epoch fixes."""

    batch_size: int
    negatives: Negatives
    optimizer: str
    select: str
    learn: tuple[str, ...]
    #: Storage of points and moments: see `table_storage`.
    tables: str = "float32"
    #: Whether steps use the GPU kernels of `gpu_step`.
    fused: bool = False
    #: Whether the steps of a block are one loop of machine code: see `passes.in_one_kernel`.
    in_one_kernel: bool = False

    @property
    def dense(self) -> bool:
        """Whether every step moves every node, not only those of the batch."""
        return self.optimizer in DENSE

    def rows(self, edges: int) -> int:
        """Number of table rows, with repeats, that a step touches in a graph of this number of edges."""
        return 2 * min(self.batch_size, edges) * (1 + self.negatives.total)

    def transformation(self) -> optax.GradientTransformation:
        """The optax part of the optimiser."""
        return OPTIMIZERS[self.optimizer]()


class Numbers(NamedTuple):
    """The settings of one run that may change without recompiling; a sweep stacks them."""

    model: Model
    learning_rate: Float[Array, ""]
    init_scale: Float[Array, ""]
    clip: Float[Array, ""]
    epochs: Int[Array, ""]
    burn_in: Int[Array, ""]
    final_rate: Float[Array, ""]
    anneal: Float[Array, ""]
    patience: Int[Array, ""]
    seed: Int[Array, ""]


def in_epoch(numbers: Numbers, epoch: Int[Array, ""], dtype: Any) -> tuple[Key[Array, ""], Step, Model]:
    """The key, the step and the annealed model of an epoch."""
    key = jax.random.fold_in(jax.random.key(numbers.seed), epoch + 1)
    done = epoch.astype(dtype)
    rate = numbers.learning_rate * schedule(done, numbers.epochs, numbers.burn_in, numbers.final_rate)
    heat = heating(done, numbers.epochs, numbers.anneal).astype(dtype)
    return key, Step(rate.astype(dtype), numbers.clip), with_scaled(numbers.model, "tau", heat)
