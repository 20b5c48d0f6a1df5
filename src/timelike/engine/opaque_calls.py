"""Calls that XLA keeps as they are on a CPU, instead of mixing them with what is around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax.experimental.scheduling_groups import xla_metadata_call
from jax.flatten_util import ravel_pytree

from timelike.core.model import Model
from timelike.engine.optimizers import Step


def computed_once(run: Callable) -> Callable:
    """`run`, whose results are kept for all that need them; every argument must be used.

    XLA would compute them again for each: as `core.reductions.once` for one number, for any arrays.
    """
    return xla_metadata_call(run, inlineable="false") if jax.default_backend() == "cpu" else run


def in_one_kernel(run: Callable) -> Callable:
    """`run`, whose first two arguments are single numbers, as one function of machine code on a CPU.

    XLA starts a kernel for every few operations there, which takes as long as a short one runs. A call with
    this attribute it compiles as a whole; it may have no scatter, sort or call of a library in it. Nor an
    argument that it does not use, which ends the process; a model may have numbers that are for scores alone,
    so all numbers are one argument.
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
