"""Where the metrics of a training run go: files of JSON lines, and trackers of experiments."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import Any

from timelike._util.checks import output_path
from timelike._util.progress import Listener, heard_by

#: What to install for a writer of TensorBoard's files.
NO_WRITER = "tensorboard needs torch or tensorboardX: pip install tensorboardX"


@contextmanager
def logged(*to: Any) -> Iterator[None]:
    """While the block runs, report every epoch of every training run in it.

    Each of `to` is a function of a record (a dict with stage, epoch, epochs, seconds and the metrics of
    `Embedding.history`; runs side by side have a list for each metric), a file that gets a line of JSON for
    each record, "tensorboard:FOLDER", "mlflow" or "wandb", with ":NAME" for an experiment or project, or a
    list of these. MLflow and W&B write to the active run, if there is one. None stands for nothing.
    """
    with ExitStack() as stack:
        listeners = [stack.enter_context(_listening(one)) for one in _flat(to)]
        with heard_by(*listeners):
            yield


def scalars(record: Mapping[str, Any]) -> dict[str, float]:
    """The metrics of a record, named stage/metric; of runs side by side those of the best one."""
    rows = {name: value for name, value in record.items() if isinstance(value, list)}
    rank = [x if x is not None else -1.0 for x in rows["valid_ap"]] if "valid_ap" in rows else None
    if rank is None:
        rank = [-x if x is not None else float("-inf") for x in rows.get("loss", [0.0])]
    best = max(range(len(rank)), key=rank.__getitem__)
    picked = {name: rows[name][best] if name in rows else value for name, value in record.items()}
    names = picked.keys() - {"stage", "epoch", "epochs"}
    return {f"{record['stage']}/{n}": float(picked[n]) for n in names if isinstance(picked[n], int | float)}


def _flat(to: Any) -> list[Any]:
    if to is None:
        return []
    return [one for some in to for one in _flat(some)] if isinstance(to, tuple | list) else [to]


@contextmanager
def _listening(to: Any) -> Iterator[Listener]:
    """The listener for one destination; what it opens is closed at the end."""
    kind, _, name = str(to).partition(":") if isinstance(to, str) else ("", "", "")
    if callable(to):
        yield to
    elif kind in TRACKERS:
        with TRACKERS[kind](name) as listener:
            yield listener
    elif isinstance(to, str | os.PathLike):
        with _json_lines(to) as listener:
            yield listener
    else:
        raise TypeError(
            f"log is {to!r}; it must be a function, a file, {', '.join(TRACKERS)}, or a list of these"
        )


@contextmanager
def _json_lines(path: str | os.PathLike) -> Iterator[Listener]:
    """Append a line with the time, then one for each record."""
    with open(output_path("log", path), "a", encoding="utf-8") as out:

        def write(record: Mapping[str, Any]) -> None:
            print(json.dumps(record), file=out, flush=True)

        write({"began": datetime.now(UTC).isoformat(timespec="seconds")})
        yield write


@contextmanager
def _tensorboard(folder: str) -> Iterator[Listener]:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        try:
            from tensorboardX import SummaryWriter
        except ImportError:
            raise ImportError(NO_WRITER) from None
    with SummaryWriter(folder or None) as writer:

        def add(record: Mapping[str, Any]) -> None:
            for name, value in scalars(record).items():
                writer.add_scalar(name, value, record.get("epoch", 0))

        yield add


@contextmanager
def _mlflow(experiment: str) -> Iterator[Listener]:
    import mlflow

    if experiment:
        mlflow.set_experiment(experiment)
    with ExitStack() as stack:
        if mlflow.active_run() is None:
            stack.enter_context(mlflow.start_run())

        def log(record: Mapping[str, Any]) -> None:
            mlflow.log_metrics(scalars(record), step=record.get("epoch", 0))

        yield log


@contextmanager
def _wandb(project: str) -> Iterator[Listener]:
    import wandb

    with ExitStack() as stack:
        run = wandb.run or stack.enter_context(wandb.init(project=project or None))

        def log(record: Mapping[str, Any]) -> None:
            stage = record["stage"]
            run.define_metric(f"{stage}/*", step_metric=f"{stage}/epoch")
            run.log({**scalars(record), f"{stage}/epoch": record.get("epoch", 0)})

        yield log


#: The trackers: name → a context that gives a listener.
TRACKERS: dict[str, Callable[[str], Any]] = {
    "tensorboard": _tensorboard,
    "mlflow": _mlflow,
    "wandb": _wandb,
}
