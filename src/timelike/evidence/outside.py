"""Evidence from outside of the graph: the one list of its kinds, and how it is given, stored and shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from timelike._util.checks import show
from timelike.evidence.expression import Expression
from timelike.evidence.node_features import NodeFeatures
from timelike.evidence.scored_pairs import ScoredPairs
from timelike.graphs.digraph import DiGraph

Outside = Expression | NodeFeatures | ScoredPairs

#: The one list of kinds: name → class. Each is stored as `tensors` and `about`, and `restored` from them.
KINDS: dict[str, type[Any]] = {one.kind: one for one in (Expression, NodeFeatures, ScoredPairs)}

#: Words for evidence from the graph itself.
EVIDENCE = ("structure", "none")


def split_evidence(given: Any) -> tuple[str, tuple[Outside, ...]]:
    """A word of `EVIDENCE` (default: structure), and the evidence from outside."""
    if isinstance(given, str):
        parts: list[Any] = [given]
    elif isinstance(given, tuple(KINDS.values())) or not isinstance(given, Iterable):
        parts = [given]
    else:
        parts = [*given]
    words = [part for part in parts if isinstance(part, str)]
    outside = tuple(part for part in parts if not isinstance(part, str))
    wrong = [part for part in words if part not in EVIDENCE]
    wrong += [part for part in outside if not isinstance(part, tuple(KINDS.values()))]
    if wrong or len(words) > 1 or not parts:
        kinds = ", ".join(kind.__name__ for kind in KINDS.values())
        allowed = f"{' or '.join(EVIDENCE)}, or a list with objects of {kinds}"
        raise ValueError(f"evidence is {show(wrong[0] if wrong else given)}; it must be {allowed}")
    names = [one.name for one in outside if isinstance(one, ScoredPairs)]
    others = [one.kind for one in outside if not isinstance(one, ScoredPairs)]
    for twice in (names, others):
        if len(set(twice)) < len(twice):
            repeated = next(name for name in twice if twice.count(name) > 1)
            raise ValueError(f"evidence has {show(repeated)} twice; leave one out, or give it another name")
    return (words or ["structure"])[0], outside


def evidence_again(word: str, used: Iterable[Any]) -> Any:
    """The evidence to give for a fit that uses the same."""
    outside = [one for one in used if isinstance(one, tuple(KINDS.values()))]
    return [word, *outside] if outside else word


def described(outside: Sequence[Outside], graph: DiGraph) -> dict[str, str]:
    """For each piece of evidence, how many nodes of the graph it knows; an error if it knows none."""
    return {
        one.name if isinstance(one, ScoredPairs) else one.kind: one.matching(graph).text for one in outside
    }


def packed(outside: Iterable[Outside]) -> tuple[dict[str, np.ndarray], list[dict[str, Any]]]:
    """Arrays by name and plain values, for a file."""
    tensors: dict[str, np.ndarray] = {}
    about = []
    for number, one in enumerate(outside):
        tensors |= {f"outside.{number}.{name}": table for name, table in one.tensors.items()}
        about.append({"kind": one.kind, **one.about})
    return tensors, about


def unpacked(tensors: Mapping[str, np.ndarray], about: Sequence[Mapping[str, Any]]) -> tuple[Outside, ...]:
    """The inverse of `packed`, or a `ValueError`."""
    found = []
    for number, one in enumerate(about):
        if one.get("kind") not in KINDS:
            raise ValueError(f"it has evidence of the kind {show(one.get('kind'))}; fit the model again")
        start = f"outside.{number}."
        own = {name.removeprefix(start): x for name, x in tensors.items() if name.startswith(start)}
        found.append(KINDS[one["kind"]].restored(own, one))
    return tuple(found)
