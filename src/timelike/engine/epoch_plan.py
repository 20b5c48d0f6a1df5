"""The static part of a compiled epoch, and the numbers that may change without recompiling."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import optax
from jaxtyping import Array, Float, Int, Key

from timelike.core.model import Model
from timelike.core.struct import with_scaled
from timelike.engine.negatives import Negatives
from timelike.engine.optimizers import DENSE, OPTIMIZERS, Step, heating, schedule


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
    #: Whether the steps of a block are one loop of machine code: see `opaque_calls.in_one_kernel`.
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
