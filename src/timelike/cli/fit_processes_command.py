"""`timelike fit` as one of many processes."""

from __future__ import annotations

import dataclasses
import shutil
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import timelike as tl
from timelike.cli.fit_summary import first_question
from timelike.cli.printing import print_json
from timelike.cli.reading_options import source_of
from timelike.cli.saved_models import beside, keeping
from timelike.distributed.processes import Place, join, losing, quiet_output, watch

if TYPE_CHECKING:
    from timelike.cli.fit_command import Fit


def fit_on_ray(command: Fit) -> None:
    """Run the fit as actors of a Ray cluster."""
    from timelike.distributed.processes import on_ray

    assert command.many.ray is not None
    edges = tuple(str(Path(one).absolute()) if Path(one).exists() else one for one in command.edges)
    here = dataclasses.replace(command, edges=edges, out=command.out.absolute())

    def with_place(place: Place, again: bool) -> tuple[Fit, Place]:
        return dataclasses.replace(here, resume=command.resume or again), place

    on_ray(command.many.ray, watch_fit, with_place)


def fit_partitions(command: Fit) -> None:
    """Fit in this process, with the points of all but two partitions of the nodes on disk."""
    from timelike.distributed.edge_buckets import MOST
    from timelike.distributed.fit_processes import fit_swapped
    from timelike.distributed.node_dealing import numbered_files

    start, partitions = time.monotonic(), command.partitions
    assert partitions is not None
    if partitions % 2 or not 2 <= partitions <= MOST:
        raise ValueError(f"--partitions is {partitions}; it must be an even number between 2 and {MOST}")
    if command.geometry == "auto" and (command.manifold, command.preset, command.settings) == (None,) * 3:
        raise ValueError("--partitions needs a --geometry, such as minkowski: it does not compare several")
    source, columns = source_of(command.edges), command.reading.layout.get("columns")
    with keeping(command.out, command.resume), numbered_files(source, columns) as files:
        if files is None:
            raise ValueError(
                f"{command.edges[0]}: --partitions needs Parquet files of node numbers without weights"
            )
        estimator = command.estimator()
        checkpoint = beside(command.out) / "run"
        every = command.many.checkpoint_seconds
        try:
            fit_swapped(estimator, files, columns, checkpoint, every, partitions)
        except tl.InterruptedTraining as stop:
            raise KeyboardInterrupt(str(stop)) from None
        estimator.save(command.out)
        shutil.rmtree(beside(command.out), ignore_errors=True)
    _print_summary(command, estimator.embedding_, start)


def watch_fit(command: Fit, place: Place) -> None:
    """Do this process's part of a fit; if another process is lost, tell the user what to do."""
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
        from timelike.distributed.node_dealing import numbered_files

        with keeping(command.out, command.resume) if is_first() else nullcontext():
            checkpoint: tuple[Path, float] = (beside(command.out) / "run", command.many.checkpoint_seconds)
            estimator = command.estimator()
            columns = command.reading.layout.get("columns")
            try:
                # Each process can read only its own edges from a file of node numbers, without validation.
                source = source_of(command.edges)
                with (
                    numbered_files(source, columns) if command.valid_fraction == 0 else nullcontext() as files
                ):
                    if files is not None:
                        fit_own(estimator, files, columns, *checkpoint)
                    else:
                        graph = command.reading.graph(source)
                        fit(estimator, graph, command.read_valid(graph), *checkpoint)
            except NotHere:
                return
            except tl.InterruptedTraining as stop:
                raise KeyboardInterrupt(f"{stop} (with --resume)") from None
            estimator.save(command.out)
            shutil.rmtree(beside(command.out), ignore_errors=True)
    if estimator.trained_on_ is not None:
        command.print_summary(estimator, start)
    else:
        _print_summary(command, estimator.embedding_, start)


def _print_summary(command: Fit, embedding: tl.Embedding, start: float) -> None:
    """Print a summary of a model whose whole graph no process has seen."""
    info, seconds = embedding.info, round(time.monotonic() - start, 1)
    facts = {name: info[name] for name in ("geometry", "graph", "best_epoch", "selected_by", "processes")}
    if command.json:
        print_json({"model": str(command.out), **facts, "seconds": seconds, "version": tl.__version__})
        return
    how = f", on {facts['processes']} processes" if facts["processes"] > 1 else ""
    print(f"{command.out}: {facts['graph']}{how} in {seconds} s")
    print(f"epoch          {facts['best_epoch']} ({facts['selected_by']})")
    print(f"next           {first_question(command.out, len(embedding.points))}")
