"""Calls that XLA compiles separately on a CPU, instead of fusing them with their surroundings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax.experimental.scheduling_groups import xla_metadata_call
from jax.flatten_util import ravel_pytree

from timelike.core.model import Model
from timelike.engine.optimizers import Step


def computed_once(run: Callable) -> Callable:
    """`run`, with results computed once for all their uses; every argument must be used.

    XLA would recompute them for each use. `core.reductions.once` does the same for one number.
    """
    return xla_metadata_call(run, inlineable="false") if jax.default_backend() == "cpu" else run


def in_one_kernel(run: Callable) -> Callable:
    """`run`, whose first two arguments are trees of scalars, as one function of machine code on a CPU.

    XLA launches a kernel for every few operations, which takes as long as a short kernel runs. It compiles a
    call with this attribute as a whole. The call must contain no scatter, sort or library call. An unused
    argument crashes the process; a model may have numbers that only scores use, so all numbers are passed as
    one argument.
    """

    def call(model: Model, step: Step, *arguments: Any) -> Any:
        numbers, apart = ravel_pytree((model, step))
        kernel = xla_metadata_call(
            lambda numbers, *arguments: run(*apart(numbers), *arguments),
            xla_cpu_small_call="true",
            inlineable="false",
        )
        return kernel(numbers, *arguments)

    return call
