"""Update a fitted model to a changed graph: new edges and nodes, and edges that are gone."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from timelike._util.checks import positive_number, whole_number
from timelike.embedding.embedding import Embedding
from timelike.embedding.trained_on import TrainedOn
from timelike.engine.config import Config
from timelike.estimator.candidates import Checkpoint
from timelike.estimator.made_again import made
from timelike.estimator.read_off_candidates import ReadOff
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evidence.density import missing_ratio
from timelike.evidence.joint import Joint
from timelike.graphs.digraph import DiGraph
from timelike.graphs.growth import grown_numbers
from timelike.io import read
from timelike.training.checkpoint import beside
from timelike.training.first_points import first_points
from timelike.training.prepare import digest, edges_of
from timelike.training.warm_update import Change, spread_of, update_config, update_points

#: Default of the farthest that an old node may move, as a share of the spread of the points.
DRIFT = 0.5
#: A model that has gained this share of its edges by updates should be fitted anew.
MUCH = 0.5


class Updated(NamedTuple):
    """An updated embedding, what it was trained on, and the joint model; None if the geometry is alone."""

    embedding: Embedding
    trained_on: TrainedOn
    joint: Joint | None


def update(
    embedding: Embedding,
    trained_on: TrainedOn,
    joint: Joint | None,
    edges: Any = None,
    removed: Any = None,
    *,
    epochs: int | None = None,
    drift: float = DRIFT,
    checkpoint: Checkpoint = None,
    progress: bool | None = None,
) -> Updated:
    """Learn new `edges` and forget `removed` ones, see `SpacetimeEmbedding.update`.

    `info["updates"]` gets a record: what changed, and how far the old nodes moved.
    """
    positive_number("drift", drift)
    if epochs is not None:
        whole_number("epochs", epochs, 1)
    if edges is None and removed is None:
        raise ValueError("there is nothing to update: pass new edges, removed edges, or both")
    grown, change, counts = _changed(embedding, trained_on, edges, removed)
    if not counts["edges"] and not counts["removed"]:
        raise ValueError("every new edge is known already, and no removed edge is; nothing is left to update")
    tables = [embedding.points, *(() if embedding.others is None else embedding.others)]
    done = len(embedding.info.get("updates", []))
    method = made(embedding)
    if isinstance(method, ReadOff):
        seeds = [one["seed"] for one in embedding.info.get("members", [embedding.info])]
        tables = [method.place_again(grown.graph, seed, x) for seed, x in zip(seeds, tables, strict=True)]
    else:
        config = Config.from_dict(embedding.info["config"])
        config = dataclasses.replace(config, seed=(config.seed + done + 1) % 2**31)
        config = update_config(config, epochs, change, len(change.lessons(config.seed)))
        for number, points in enumerate(tables):
            start = first_points(embedding.model, points, change.graph, config.init_scale, config.seed)
            kept = beside(checkpoint, [str(number)] * (len(tables) > 1))
            run = {"checkpoint": kept, "progress": progress}
            tables[number] = update_points(change, embedding.model, start, config, drift, **run)
            embedding.model.manifold.check_points(tables[number], "the updated points")
    record = {**counts, **_moves(embedding, tables, change, drift)}
    info = {**embedding.info, "updates": [*embedding.info.get("updates", []), record]}
    info |= {"graph": repr(grown.graph), "checksum": digest(*edges_of(grown.graph)[:2])}
    info |= _still_learned(embedding.info, trained_on, grown)
    others = None if embedding.others is None else np.stack(tables[1:])
    found = dataclasses.replace(
        embedding, points=tables[0], names=grown.graph.names, others=others, info=info
    )
    if joint is not None:
        known = grown.known
        joint = joint.grown(found, known).at_ratio(missing_ratio(known.num_nodes, known.num_edges))
    return Updated(found, grown, joint)


def _changed(
    embedding: Embedding, trained_on: TrainedOn, edges: Any, removed: Any
) -> tuple[TrainedOn, Change, dict[str, int]]:
    """The training data after the change, the change, and counts for the record."""
    graph, nodes = trained_on.graph, len(embedding.points)
    known = trained_on.known
    new, count, names = _added(edges, nodes, embedding.names)
    gone = _removed(removed, known)
    fresh = ~_among(known.pairs, new.pairs, count)
    there = known.has_edges(*gone.T)
    counts = {
        "edges": int(fresh.sum()),
        "known_already": int((~fresh).sum()),
        "nodes": count - nodes,
        "removed": int(there.sum()),
        "unknown_removed": int((~there).sum()),
    }
    gone, new = gone[there], new.subgraph(fresh)
    kept = graph.subgraph(~_among(gone, graph.pairs, count))
    after = _with(kept, new, count, names)
    added = ~kept_edges(after, kept)
    valid = None if trained_on.valid is None else _valid_after(trained_on.valid, after, gone, count)
    return TrainedOn(after, valid), Change(after, added, gone, nodes), counts


def kept_edges(after: DiGraph, before: DiGraph) -> np.ndarray:
    """A mask of the edges that were there before."""
    return _among(before.pairs, after.pairs, after.num_nodes)


def _among(some: np.ndarray, pairs: np.ndarray, nodes: int) -> np.ndarray:
    """Whether each of the (n, 2) pairs is among `some`."""
    keys, wanted = (x[:, 0].astype(np.int64) * nodes + x[:, 1] for x in (pairs, some))
    return np.isin(keys, wanted)


def _added(edges: Any, nodes: int, names: Any) -> tuple[DiGraph, int, Any]:
    """The new edges in the numbers of the model, how many nodes there are then, and their names."""
    if edges is None:
        return DiGraph(np.zeros(0, np.int32), np.zeros(0, np.int32), nodes, names), nodes, names
    new = read(edges)
    numbers, count, names = grown_numbers(new, nodes, names)
    pairs = numbers[new.pairs]
    more = (count, names, new.weights, new.times)
    return DiGraph.from_arrays(pairs[:, 0], pairs[:, 1], *more), count, names


def _removed(removed: Any, known: DiGraph) -> np.ndarray:
    """The removed edges, (n, 2), in the numbers of the model."""
    if removed is None:
        return np.zeros((0, 2), np.int32)
    if isinstance(removed, np.ndarray) and removed.dtype.kind == "i" and removed.ndim == 2:
        return removed.astype(np.int32)
    graph = read(removed)
    numbers, count, _ = grown_numbers(graph, known.num_nodes, known.names)
    if count > known.num_nodes:
        wrong = graph.name(int(np.argmax(numbers >= known.num_nodes)))
        raise ValueError(f"removed has the node {wrong!r}, which the model does not know")
    return numbers[graph.pairs].astype(np.int32)


def _with(graph: DiGraph, new: DiGraph, count: int, names: Any) -> DiGraph:
    """The edges of both; new edges of a graph with weights or times need theirs, or have weight 1."""
    if graph.times is not None and new.times is None and new.num_edges:
        raise ValueError(
            "time: the edges of the model have times, and the new ones have none; name their column"
        )
    s, t = (np.concatenate([a, b]) for a, b in ((graph.sources, new.sources), (graph.targets, new.targets)))
    weights = None
    if graph.weights is not None or new.weights is not None:
        weights = np.concatenate([_weights(graph), _weights(new)])
    times = None
    if graph.times is not None:
        times = np.concatenate([graph.times, *([] if new.times is None else [new.times])])
    return DiGraph.from_arrays(s, t, count, names, weights, times)


def _weights(graph: DiGraph) -> np.ndarray:
    return np.ones(graph.num_edges, np.float32) if graph.weights is None else graph.weights


def _valid_after(valid: LabelledPairs, graph: DiGraph, gone: np.ndarray, nodes: int) -> LabelledPairs | None:
    """The validation pairs without removed edges, and without non-edges that are edges now."""
    positives = valid.positives[~_among(gone, valid.positives, nodes)]
    negatives = valid.negatives[~graph.has_edges(*valid.negatives.T)]
    if len(positives) == len(valid.positives) and len(negatives) == len(valid.negatives):
        return valid
    return LabelledPairs.build(positives, negatives) if len(positives) and len(negatives) else None


def _still_learned(info: dict[str, Any], before: TrainedOn, after: TrainedOn) -> dict[str, Any]:
    """The record of a refit follows the validation pairs, which were learned."""
    found = info.get("refit")
    if not isinstance(found, dict) or before.valid is None or found.get("valid") != before.valid.digest:
        return {}
    now = None if after.valid is None else after.valid.digest
    return {"refit": {**found, "edges": after.graph.num_edges, "valid": now}}


def _moves(embedding: Embedding, tables: list[np.ndarray], change: Change, drift: float) -> dict[str, Any]:
    """How far the old nodes moved, as shares of the spread of the points; the mean over members."""
    before = [embedding.points, *(() if embedding.others is None else embedding.others)]
    moved = [
        np.linalg.norm(new[: len(old)] - old, axis=1) / max(spread_of(old), 1e-30)
        for old, new in zip(before, tables, strict=True)
    ]
    far = np.mean(moved, axis=0)
    stirred = far[far > 0]
    return {
        "moved_nodes": int(stirred.size),
        "median_drift": float(np.median(stirred)) if stirred.size else 0.0,
        "largest_drift": float(far.max(initial=0.0)),
        "drift_limit": drift,
    }


def growth(info: dict[str, Any], graph: DiGraph) -> float:
    """The share of the edges that came or went by updates since the fit."""
    changed = sum(one.get("edges", 0) + one.get("removed", 0) for one in info.get("updates", []))
    return float(changed / max(graph.num_edges, 1))
