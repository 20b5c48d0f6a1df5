"""Manifolds of the user's own, by MODULE:CLASS; they join the list of geometries for this command."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from timelike.cli.options import optional

OwnManifold = Annotated[str | None, optional("MODULE:CLASS")]


def own_manifold(name: str) -> Callable[..., Any]:
    """The class that MODULE:CLASS names, registered so that models with it can be saved and loaded.

    Modules in the current folder are found too. Only a user who types the option runs the module: a model
    folder
    alone never does.
    """
    from timelike.core.manifold import Manifold
    from timelike.manifolds import MANIFOLDS

    module, _, kind = name.partition(":")
    if not module or not kind:
        raise ValueError(f"--manifold is {name!r}; it must be MODULE:CLASS, such as torus:Torus")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(importlib.import_module(module), kind)
    except ImportError as error:
        raise ImportError(f"--manifold is {name!r}; {error}") from None
    except AttributeError:
        raise ValueError(f"--manifold is {name!r}; the module {module} has no {kind}") from None
    finally:
        sys.path.pop(0)
    if not (isinstance(found, type) and issubclass(found, Manifold)):
        raise ValueError(f"--manifold is {name!r}; {kind} is not a timelike.core.Manifold")
    MANIFOLDS.setdefault(name, found)
    return found
