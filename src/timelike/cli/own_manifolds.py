"""Manifolds of the user's own, named MODULE:CLASS."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from timelike.cli.options import optional

OwnManifold = Annotated[str | None, optional("MODULE:CLASS")]


def own_manifold(name: str) -> Callable[..., Any]:
    """Import and register the class that MODULE:CLASS names, so that models can be saved and loaded with it.

    A function of `dim` that returns a manifold will do too. The current folder is searched first. Only a user
    who types the option runs the module; a model folder never does.
    """
    from timelike.core.manifold import Manifold
    from timelike.manifolds import MANIFOLDS

    module, _, kind = name.partition(":")
    if not module or not kind:
        raise ValueError(f"--manifold is {name!r}; it must be MODULE:CLASS, such as torus:Torus")
    sys.path.insert(0, str(Path.cwd()))
    try:
        make: Callable[..., Any] = getattr(importlib.import_module(module), kind)
        example = make(3)
    except (AttributeError, ImportError, TypeError, ValueError) as error:
        raise ValueError(f"--manifold is {name!r}; {error}") from None
    finally:
        sys.path.pop(0)
    if not isinstance(example, Manifold):
        raise ValueError(f"--manifold is {name!r}; {kind}(dim) must be a timelike.core.Manifold")
    MANIFOLDS.setdefault(name, make)
    return make
