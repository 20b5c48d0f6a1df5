"""The `timelike` command: thin, one class per subcommand; a user's mistake is one line and exit code 2."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Protocol

import tyro

from timelike._util.hardware import remember_compilations
from timelike._util.interrupts import INTERRUPTED
from timelike._version import __version__
from timelike.cli.completion import SHELLS, completion
from timelike.cli.datasets_command import Datasets
from timelike.cli.demo_command import Demo
from timelike.cli.error_lines import in_options, one_line
from timelike.cli.evaluate_command import Evaluate
from timelike.cli.explore_command import Explore
from timelike.cli.export_command import Export
from timelike.cli.fit_command import Fit
from timelike.cli.overview import overview
from timelike.cli.plan_command import Plan
from timelike.cli.plot_command import Plot
from timelike.cli.predict_command import Predict
from timelike.cli.reproduce_command import Reproduce
from timelike.cli.split_command import Split
from timelike.cli.sweep_command import Sweep
from timelike.cli.tune_command import Tune


class Command(Protocol):
    """What a subcommand is: a dataclass of options that can be run."""

    def run(self) -> None:
        """Do it, and print the result to stdout."""


#: The one list of subcommands, by what they are for: name → class.
GROUPS: dict[str, dict[str, type[Command]]] = {
    "From edges to answers": {"demo": Demo, "fit": Fit, "predict": Predict, "evaluate": Evaluate},
    "Look at a model, take it along": {"plot": Plot, "explore": Explore, "export": Export},
    "Data": {"datasets": Datasets, "split": Split},
    "Better and larger models": {"tune": Tune, "sweep": Sweep, "plan": Plan},
    "The paper": {"reproduce": Reproduce},
}
COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    try:
        command = _asked(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        _unread()
    except KeyboardInterrupt:
        _interrupted("")
    if command is not None:
        carry_out(command, command.run)


def _asked(arguments: list[str]) -> Command | None:
    """The command that the arguments ask for; None if what they ask is answered already."""
    if arguments == ["--version"]:
        print(f"timelike {__version__}")
    elif arguments in (["--help"], ["-h"]):
        print(overview(GROUPS))
    elif arguments[:1] == ["--print-completion"]:
        if len(arguments) != 2 or arguments[1] not in SHELLS:
            given = " ".join(arguments[1:]) or "no shell"
            _fail(f"--print-completion has {given}; it must be one of {', '.join(SHELLS)}")
        sys.stdout.write(completion(arguments[1], COMMANDS, _read))
    else:
        return _parse(arguments)
    return None


def carry_out(command: Any, run: Callable[[], None]) -> None:
    """Run a command; what goes wrong is one line and an exit code."""
    try:
        remember_compilations()
        run()
        sys.stdout.flush()
    except BrokenPipeError:
        _unread()
    except KeyboardInterrupt as stop:
        _interrupted(str(stop))
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else in_options(command, str(error)))
    except (ArithmeticError, ImportError, TypeError, ValueError) as error:
        _fail(in_options(command, " ".join(str(error).split())))
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "RESOURCE_EXHAUSTED" not in str(error):
            raise
        _fail("out of memory; fewer dimensions or edges at once need less, and `timelike plan` says how much")


def _parse(arguments: Sequence[str]) -> Command:
    """What tyro makes of the arguments; its boxed complaint becomes one line."""
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            return _read(arguments)
    except SystemExit as stop:
        if not stop.code:
            sys.stdout.flush()
            raise
        _fail(one_line(complaint.getvalue()))


def _read(arguments: Sequence[str]) -> Any:
    return tyro.extras.subcommand_cli_from_dict(
        dict(COMMANDS),
        prog="timelike",
        args=list(arguments),
        config=(tyro.conf.FlagCreatePairsOff,),
    )


def _unread() -> NoReturn:
    """Whoever read the output has seen enough."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(128 + signal.SIGPIPE) from None


def _interrupted(message: str) -> NoReturn:
    print(f"timelike: {message or 'interrupted'}", file=sys.stderr)
    raise SystemExit(INTERRUPTED) from None


def _fail(message: str) -> NoReturn:
    print(f"timelike: {message}", file=sys.stderr)
    raise SystemExit(2)
