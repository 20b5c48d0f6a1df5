"""Options of `timelike fit` that contradict each other, rejected before anything is read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from timelike._util.checks import positive_number
from timelike._util.remote_files import url_of
from timelike.cli.reading_options import is_there, source_of

if TYPE_CHECKING:
    from timelike.cli.fit_command import Fit


#: No model folder: enough for a plan.
UNNAMED = Path()


def check_fit(command: Fit) -> None:
    """Raise an error for options that cannot be combined, or whose value is impossible."""
    start = "--ray" if command.many.ray is not None else "--coordinator"
    many = command.many.coordinator is not None or command.many.ray is not None
    for (first, second), both in {**_pairs(command, start, many), **_kinds(command, start, many)}.items():
        if both:
            raise ValueError(f"{first} cannot be combined with {second}")
    partitions = command.partitions is not None
    command.outside.check({"--stream": command.stream, start: many, "--partitions": partitions})
    if command.budget is not None and not command.tune:
        raise ValueError("--budget needs --tune; add --tune or remove --budget")
    positive_number("checkpoint_seconds", command.many.checkpoint_seconds, finite=False)
    if command.snapshots is not None and command.snapshots < 2:
        raise ValueError(f"--snapshots is {command.snapshots}; it must be ≥ 2")
    source_of(command.edges)
    if command.out == UNNAMED and not command.plan:
        raise ValueError(
            "fit needs --out MODEL, a folder other than the current one (see `timelike fit --help`)"
        )
    gone = next((one for one in command.edges if url_of(one) is None and not is_there(one)), None)
    if command.stream and gone is not None:
        raise FileNotFoundError(f"{gone}: no such file; --stream needs edge files")


def _pairs(command: Fit, start: str, many: bool) -> dict[tuple[str, str], bool]:
    """Pairs of options, and whether both are used; `start` is the option that starts many processes."""
    valid = command.valid is not None
    return {
        ("--valid", "--valid-fraction"): valid and command.valid_fraction is not None,
        ("--valid", "--time"): valid and command.reading.time is not None,
        ("--preset", "--settings"): command.preset is not None and command.settings is not None,
        ("--manifold", "--geometry"): command.manifold is not None and command.geometry != "auto",
        ("--plan", "--tune"): command.plan and command.tune,
        ("--plan", start): command.plan and many,
        ("--log", start): command.log is not None and many,
    }


def _kinds(command: Fit, start: str, many: bool) -> dict[tuple[str, str], bool]:
    """`_pairs` of each kind of fit, streamed, partitioned or on many processes, with what it cannot do."""
    partitions = command.partitions is not None
    one_process = {
        "--tune": command.tune,
        "--snapshots": command.snapshots is not None,
        "--seeds": command.training.seeds > 1,
        "--members": command.members > 1,
        "--refit yes": command.refit == "yes",
    }
    in_memory = {
        **one_process,
        "--valid": command.valid is not None,
        "--time": command.reading.time is not None,
        "--nodes": command.reading.nodes is not None,
        start: many,
    }
    not_on_disk = {
        **in_memory,
        "--stream": command.stream,
        "--plan": command.plan,
        "--valid-fraction": bool(command.valid_fraction),
        f"--baselines {command.baselines}": command.baselines not in ("untrained", "none"),
    }
    return {
        **{("--stream", name): command.stream and used for name, used in in_memory.items()},
        ("--stream", "--partitions"): command.stream and partitions,
        **{(name, start): many and used for name, used in one_process.items()},
        **{("--partitions", name): partitions and used for name, used in not_on_disk.items()},
    }
