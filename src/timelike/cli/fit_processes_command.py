"""`timelike fit` as one of many processes."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from timelike._version import __version__
from timelike.cli.fit_summary import question
from timelike.cli.printing import print_json
from timelike.distributed.processes import Place, join, losing, quiet_output, watch

if TYPE_CHECKING:
    from timelike.cli.fit_command import Fit
    from timelike.embedding.embedding import Embedding


def fit_on_ray(command: Fit) -> None:
    """Let actors of Ray do it."""
    from timelike.distributed.ray_actors import on_ray

    assert command.many.ray is not None
    here = dataclasses.replace(command, edges=_absolute(command.edges), out=command.out.absolute())

    def with_place(place: Place, again: bool) -> tuple[Fit, Place]:
        return dataclasses.replace(here, resume=command.resume or again), place

    check(command)
    on_ray(command.many.ray, watch_fit, with_place)


def _absolute(edges: str) -> str:
    """A file by its whole path; data sets keep their names."""
    return str(Path(edges).absolute()) if Path(edges).exists() else edges


def check(command: Fit) -> None:
    """Raise a `ValueError` for options that are for one process."""
    for name in ("tune", "snapshots"):
        if getattr(command, name):
            raise ValueError(f"{name} is for one process; leave it out, or coordinator")
    if command.refit == "yes":
        raise ValueError("refit is for one process; leave it out, or coordinator")
    for name, count in (("seeds", command.training.seeds), ("members", command.members)):
        if count != 1:
            raise ValueError(f"{name} is {count}; many processes train one")


def watch_fit(command: Fit, place: Place) -> None:
    """Do this process's part of a fit, and say what to do if another process is lost."""
    check(command)
    watch(place, _carry_out, command, place, restart="start all again with --resume")


def _carry_out(command: Fit, place: Place) -> None:
    from timelike.cli.main import carry_out

    carry_out(command, lambda: _fit(command, place))


def _fit(command: Fit, place: Place) -> None:
    """Join the others, train, and in the first process save the model and say what came of it."""
    start = time.monotonic()
    with quiet_output(), losing():
        join(place)
        from timelike.distributed.fit_processes import NotHere, fit, fit_own, is_first
        from timelike.training.training_loop import InterruptedTraining

        with command.keeping() if is_first() else contextlib.nullcontext():
            kept: tuple[Path, float] = (command.checkpoints / "run", command.many.checkpoint_seconds)
            estimator = command.estimator()
            columns = command.reading.layout.get("columns")
            try:
                if _by_parts(command, columns):
                    estimator.embedding_ = fit_own(estimator, Path(command.edges), columns, *kept)
                    estimator.trained_on_ = None
                else:
                    graph = command.reading.graph(command.edges)
                    fit(estimator, graph, command.read_valid(graph), *kept)
            except NotHere:
                return
            except InterruptedTraining as stop:
                raise KeyboardInterrupt(f"{stop} (with --resume)") from None
            estimator.save(command.out)
            shutil.rmtree(command.checkpoints, ignore_errors=True)
    if estimator.trained_on_ is not None:
        command.say(estimator, start)
    else:
        _say(command, estimator.embedding_, start)


def _by_parts(command: Fit, columns: Any) -> bool:
    """Whether each process reads its own edges only: of a file of node numbers, without validation."""
    from timelike.distributed.own_edges import is_numbered

    return command.valid_fraction == 0 and is_numbered(Path(command.edges), columns)


def _say(command: Fit, embedding: Embedding, start: float) -> None:
    """What is worth knowing about a model whose graph no process has seen as a whole."""
    info, seconds = embedding.info, round(time.monotonic() - start, 1)
    found = {name: info[name] for name in ("geometry", "graph", "best_epoch", "selected_by", "processes")}
    if command.json:
        print_json({"model": str(command.out), **found, "seconds": seconds, "version": __version__})
        return
    print(f"{command.out}: {found['graph']}, on {found['processes']} processes in {seconds} s")
    print(f"epoch          {found['best_epoch']} ({found['selected_by']})")
    print(f"next           {question(command.out, len(embedding.points))}")
