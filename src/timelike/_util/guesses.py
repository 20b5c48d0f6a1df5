"""Names of other libraries that users guess: the error says which name of ours does the same."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def keywords(**ours: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: for a keyword of another library, a `TypeError` names our keyword.

    A value that is a whole call, with brackets, is named as it is.
    """

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for guess in ours.keys() & kwargs.keys():
                method = "." in function.__qualname__
                name = f"{type(args[0]).__name__}." * method + function.__name__
                right = ours[guess] if "(" in ours[guess] else f"{ours[guess]}={kwargs[guess]!r}"
                raise TypeError(f"{name.removesuffix('.__init__')} has no {guess}; use {right}")
            return function(*args, **kwargs)

        return call

    return wrap


#: For functions that rank: how many results.
how_many = keywords(topn="k", top_k="k", n="k", n_neighbors="k")

#: For functions that rank the neighbours of a node.
of_node = keywords(topn="k", top_k="k", n="k", n_neighbors="k", positive="node")


class SaysTheRightCall:
    """A class whose `RIGHT_CALLS` (guessed attribute → what to write) complete the `AttributeError`."""

    RIGHT_CALLS: ClassVar[Mapping[str, str]] = {}

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in type(self).RIGHT_CALLS:
                right = type(self).RIGHT_CALLS[name]
                raise AttributeError(f"{type(self).__name__} has no {name}; use {right}", name=name)
            return self.__getattribute__(name)  # raises the error of a property once more
