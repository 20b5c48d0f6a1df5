"""Check the inputs of a run, copy them to the device, and identify them for checkpoints."""

from __future__ import annotations

import dataclasses
import hashlib
import warnings
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from timelike._util.checks import instance
from timelike.core.model import Model
from timelike.core.struct import numbers_of, with_numbers
from timelike.engine.config import Config, EpochPlan, Numbers
from timelike.engine.epoch import Data
from timelike.engine.filtered_edges import FilteredEdges
from timelike.engine.padded_edges import PaddedEdges, Room
from timelike.engine.sampling import EdgeTable, share_taken
from timelike.engine.table_storage import check_storage
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.graphs.digraph import DiGraph, checked_nodes, checked_pairs
from timelike.io.edge_shards import AnyGraph, EdgeShards
from timelike.training.cost_model import check_memory

#: On a GPU, steps on at least this number of rows use the kernels of `gpu_step`.
LONG_STEP = 1 << 15

#: On a CPU, steps on at most FEW_ROWS rows of a table of at most FEW_NODES nodes run in one kernel: longer
#: steps use several cores with a kernel per operation, and a larger table takes too long to hand over.
FEW_ROWS, FEW_NODES = 1 << 12, 1 << 14

#: More epochs than any run has.
NEVER = 2**31 - 1


def prepare(
    graph: AnyGraph,
    model: Model,
    config: Config,
    valid: LabelledPairs | None,
    test: LabelledPairs | None,
    listed: np.ndarray | None,
    alone: bool = False,
    room: Room | None = None,
) -> tuple[EpochPlan, Data]:
    """Check the inputs, make the epoch plan, and copy the data to the device.

    `alone`: a single run, not many side by side; only a single run may stream its edges. `room`: the lengths
    of the table's arrays.
    """
    if not (alone and isinstance(graph, EdgeShards)):
        instance("graph", graph, DiGraph, "timelike.read(file), or the part `train` of a Split")
    instance("model", model, Model, "Model(manifold, likelihood)")
    instance("config", config, Config, "Config(epochs=…)")
    _check_learned(model, config)
    check_storage(config.tables, model.manifold)
    if graph.num_edges == 0:
        raise ValueError(f"graph is {graph}; it has no edges to learn from")
    check_memory(graph, model, config)
    valid, test = (_checked(name, pairs, graph) for name, pairs in (("valid", valid), ("test", test)))
    plan = config.epoch_plan(valid is not None, test is not None)
    plan = _faster(plan, model, graph, alone)
    listed = None if listed is None else checked_pairs(listed, graph.num_nodes, "listed")
    _check_negatives(plan, graph, listed)
    if isinstance(graph, EdgeShards):
        return plan, Data(None, valid, test)
    table = EdgeTable.build(graph, listed, plan.negatives, by_node=plan.dense)
    if plan.fused:
        return plan, Data(FilteredEdges.of(table, graph, plan.rows(graph.num_edges)), valid, test)
    return plan, Data(table if room is None else PaddedEdges.of(table, room), valid, test)


def _check_learned(model: Model, config: Config) -> None:
    """Names to learn must be numbers of the model; numbers that share a name must start equal."""
    numbers = numbers_of(model)
    for name in config.learn:
        if name not in numbers:
            raise ValueError(f"Config: learn has {name!r}; the numbers of the model are {', '.join(numbers)}")
        if repr(with_numbers(model, {name: numbers[name]})) != repr(model):
            raise ValueError(
                f"Config: learn has {name!r}, which names several numbers of the model, not all "
                f"{numbers[name]}; make them equal to learn one for all, or give them different names"
            )


def _check_negatives(plan: EpochPlan, graph: AnyGraph, listed: np.ndarray | None) -> None:
    """Raise an error or warn if there are no negatives: every pair would become a likely edge."""
    if not plan.negatives.total:
        raise ValueError(
            "Negatives: all counts are 0, so every pair would become a likely edge; set uniform=4"
        )
    if plan.negatives.listed and (listed is None or not len(listed)):
        raise ValueError(
            f"Negatives: listed is {plan.negatives.listed}, but there are no listed pairs; pass listed=pairs"
        )
    if listed is not None and not plan.negatives.listed:
        raise ValueError(f"listed has {len(listed)} pairs, but Negatives draws none; set Negatives(listed=…)")
    if listed is not None and share_taken(graph, listed) == 1:
        raise ValueError(f"listed: all {len(listed)} pairs are training edges or self-pairs; list non-edges")
    if graph.num_edges >= graph.num_nodes * (graph.num_nodes - 1):
        warnings.warn(
            f"{graph} has all possible edges, so there are no negatives to learn from", stacklevel=4
        )


def _faster(plan: EpochPlan, model: Model, graph: AnyGraph, alone: bool) -> EpochPlan:
    """The plan with fused GPU kernels, or with one kernel on a CPU, where that is faster."""
    rows = plan.rows(graph.num_edges)
    if jax.default_backend() == "cpu":
        few = rows <= FEW_ROWS and graph.num_nodes <= FEW_NODES
        return dataclasses.replace(plan, in_one_kernel=few and not plan.dense and _is_ours(model))
    if not alone or rows < LONG_STEP or jax.default_backend() != "gpu":
        return plan
    try:
        from timelike.engine.gpu_step import fits
        from timelike.engine.gpu_tiles import work
    except ImportError:  # this version of JAX compiles kernels without Triton
        return plan
    return dataclasses.replace(plan, fused=fits(model, plan.dense) and plan.tables != "float16" and work())


def _is_ours(struct: Any) -> bool:
    """Whether all parts are ours: a user's own may need a scatter, which one kernel cannot contain."""
    if not type(struct).__module__.startswith("timelike."):
        return False
    return all(_is_ours(getattr(struct, f.name)) for f in dataclasses.fields(struct) if "kind" in f.metadata)


def _checked(name: str, pairs: LabelledPairs | None, graph: AnyGraph) -> LabelledPairs | None:
    """The pairs after checks, or None if there are none."""
    if pairs is None:
        return None
    hint = f"the part `{name}` of a Split, or LabelledPairs.build(positives, negatives)"
    instance(name, pairs, LabelledPairs, hint)
    labels = np.asarray(pairs.labels)
    if labels.size == 0:
        return None
    if labels.all() or not labels.any():
        raise ValueError(
            f"{name} has {labels.sum()} positive and {(~labels).sum()} negative pairs; it needs both, or none"
        )
    for end in (pairs.sources, pairs.targets):
        checked_nodes(np.asarray(end), graph.num_nodes, name)
    return pairs


def checked_start(start: np.ndarray, model: Model, shape: tuple[int, ...]) -> np.ndarray:
    """Initial points of the model, in an array of this shape: one for each node, or for each run and node."""
    points = np.asarray(start)
    if points.shape[:-1] != shape:
        wanted = " × ".join(map(str, shape))
        raise ValueError(f"start has shape {points.shape}; it must hold {wanted} points")
    model.manifold.check_points(points.reshape(-1, points.shape[-1]), "start")
    return points


def make_numbers(model: Model, config: Config) -> Numbers:
    """The settings as arrays on the device, so that new values need no new compilation."""
    return jax.device_put(plain_numbers(model, config))


def plain_numbers(model: Model, config: Config) -> Numbers:
    """The same in NumPy."""
    real = jnp.result_type(float)
    settings = {name: getattr(config, name) for name in Numbers._fields if name != "model"}
    settings["patience"] = NEVER if config.patience is None else config.patience
    arrays: Any = {
        name: np.asarray(x, np.int32 if isinstance(x, int) else real) for name, x in settings.items()
    }
    return Numbers(jax.tree.map(partial(np.asarray, dtype=real), model), **arrays)


def settings_of(
    graph: AnyGraph,
    model: Model,
    config: Config,
    plan: EpochPlan,
    data: Data,
    listed: np.ndarray | None = None,
) -> dict[str, Any]:
    """What must be the same to resume a checkpoint."""
    return {
        **config.to_dict(),
        "model": repr(model),
        "nodes": graph.num_nodes,
        "edges": graph.checksum if isinstance(graph, EdgeShards) else digest(*edges_of(graph)),
        "listed": digest(*(() if listed is None else np.asarray(listed, np.int32).T)),
        "valid": digest(*(data.valid or ())),
        "test": digest(*(data.test or ())),
        "selected by": plan.select,
    }


def edges_of(graph: DiGraph) -> list[np.ndarray]:
    """Sources, targets and, in a weighted graph, weights."""
    return [x for x in (graph.sources, graph.targets, graph.weights) if x is not None]


def digest(*arrays: Any) -> str:
    """A short hash of arrays."""
    sha = hashlib.sha256()
    for array in arrays:
        sha.update(np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()[:16]
