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
    """Run the fit as actors of a Ray cluster."""
    from timelike.distributed.ray_actors import on_ray

    assert command.many.ray is not None
    here = dataclasses.replace(command, edges=_absolute(command.edges), out=command.out.absolute())

    def with_place(place: Place, again: bool) -> tuple[Fit, Place]:
        return dataclasses.replace(here, resume=command.resume or again), place

    check(command)
    on_ray(command.many.ray, watch_fit, with_place)


def _absolute(edges: str) -> str:
    """The absolute path of a file; data sets keep their names."""
    return str(Path(edges).absolute()) if Path(edges).exists() else edges


def check(command: Fit) -> None:
    """Reject options that need a single process."""
    for name in ("tune", "snapshots", "plan"):
        if getattr(command, name):
            raise ValueError(
                f"--{name} runs in one process; it cannot be combined with --coordinator or --ray"
            )
    if command.refit == "yes":
        raise ValueError("--refit yes runs in one process; it cannot be combined with --coordinator or --ray")
    for name, count in (("seeds", command.training.seeds), ("members", command.members)):
        if count != 1:
            raise ValueError(f"{name} is {count}; many processes train one run")


def watch_fit(command: Fit, place: Place) -> None:
    """Do this process's part of a fit; if another process is lost, say what to do."""
    check(command)
    watch(place, _carry_out, command, place, restart="restart all processes with --resume")


def _carry_out(command: Fit, place: Place) -> None:
    from timelike.cli.main import carry_out

    carry_out(command, lambda: _fit(command, place))


def _fit(command: Fit, place: Place) -> None:
    """Join the others and train; the first process saves the model and prints a summary."""
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
                    fit_own(estimator, Path(command.edges), columns, *kept)
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
    """Whether each process reads only its own edges: from a file of node numbers, without validation."""
    from timelike.distributed.own_edges import is_numbered

    return command.valid_fraction == 0 and is_numbered(Path(command.edges), columns)


def _say(command: Fit, embedding: Embedding, start: float) -> None:
    """A summary of a model whose graph no process has seen as a whole."""
    info, seconds = embedding.info, round(time.monotonic() - start, 1)
    found = {name: info[name] for name in ("geometry", "graph", "best_epoch", "selected_by", "processes")}
    if command.json:
        print_json({"model": str(command.out), **found, "seconds": seconds, "version": __version__})
        return
    print(f"{command.out}: {found['graph']}, on {found['processes']} processes in {seconds} s")
    print(f"epoch          {found['best_epoch']} ({found['selected_by']})")
    print(f"next           {question(command.out, len(embedding.points))}")
