"""The `timelike` command: one class per subcommand; a user's mistake is one line and exit code 2."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import tyro

from timelike._util.hardware import remember_compilations
from timelike._util.interrupts import INTERRUPTED, TERMINATED
from timelike._util.progress import lines_without_terminal
from timelike._util.trackers import logged
from timelike._version import __version__
from timelike.cli.command_options import SHELLS, completion, explain, in_options
from timelike.cli.datasets_command import Datasets
from timelike.cli.demo_command import Demo
from timelike.cli.evaluate_command import Evaluate
from timelike.cli.explore_command import Explore
from timelike.cli.export_command import Export
from timelike.cli.fit_command import Fit
from timelike.cli.plan_command import Plan
from timelike.cli.plot_command import Plot
from timelike.cli.predict_command import Predict
from timelike.cli.reproduce_command import Reproduce
from timelike.cli.serve_command import Serve
from timelike.cli.split_command import Split
from timelike.cli.sweep_command import Sweep
from timelike.cli.tune_command import Tune
from timelike.cli.update_command import Update

#: The one list of subcommands, grouped by purpose: name → class.
GROUPS: dict[str, dict[str, type[Any]]] = {
    "Train, predict, evaluate": {
        "demo": Demo,
        "fit": Fit,
        "update": Update,
        "predict": Predict,
        "evaluate": Evaluate,
    },
    "View, serve and export models": {"plot": Plot, "explore": Explore, "serve": Serve, "export": Export},
    "Data": {"datasets": Datasets, "split": Split},
    "Settings and scale": {"tune": Tune, "sweep": Sweep, "plan": Plan},
    "The paper": {"reproduce": Reproduce},
}
COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}

ABOUT = """Embed directed graphs in spacetimes: learn from edges, predict missing ones.

  timelike fit edges.tsv --out model       train on lines of SOURCE TARGET
  timelike predict model --all --top 20    list the most likely missing edges
  timelike explore model                   view the model in a browser"""

HINTS = """`timelike COMMAND --help` explains a command and its options. `timelike --version` prints the
version. `timelike --print-completion bash|zsh|fish` prints a script for completion with the tab key."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    carry_out(None, lambda: _obey(sys.argv[1:] if arguments is None else list(arguments)))


def _obey(arguments: list[str]) -> None:
    """Run the command that the arguments name, or print the text that they ask for."""
    if arguments == ["--version"]:
        print(f"timelike {__version__}")
    elif arguments in (["--help"], ["-h"]):
        print(_overview())
    elif arguments[:1] == ["--print-completion"]:
        if len(arguments) != 2 or arguments[1] not in SHELLS:
            _fail(f"--print-completion is {' '.join(arguments[1:])!r}; it must be one of {', '.join(SHELLS)}")
        sys.stdout.write(completion(arguments[1], COMMANDS, _read))
    else:
        command = _parse(arguments)
        with lines_without_terminal(), logged(getattr(command, "log", None)):
            carry_out(command, command.run)


def _overview() -> str:
    """`timelike --help` on one screen: the commands by group, each with the first line of its docstring."""
    width = min(shutil.get_terminal_size().columns, 100)
    lines = [ABOUT]
    for title, commands in GROUPS.items():
        lines += ["", title]
        for name, command in commands.items():
            first = (command.__doc__ or "").splitlines()[0]
            lines += textwrap.wrap(first, width, initial_indent=f"  {name:<11}", subsequent_indent=" " * 13)
    return "\n".join([*lines, "", *textwrap.wrap(HINTS, width)])


def carry_out(command: Any, run: Callable[[], None]) -> None:
    """Run a command; an error becomes one line and an exit code."""
    try:
        remember_compilations()
        run()
        sys.stdout.flush()
    except BrokenPipeError:
        _closed()
    except KeyboardInterrupt as stop:
        said = str(stop) or "interrupted"
        _fail(said, TERMINATED if said.startswith("SIGTERM") else INTERRUPTED)
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else in_options(command, str(error)))
    except (ArithmeticError, ImportError, TypeError, ValueError) as error:
        _fail(in_options(command, str(error)))
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "RESOURCE_EXHAUSTED" not in str(error):
            raise
        _fail(
            "out of memory; lower --dim or --batch-size (`timelike plan` reports how much memory a run needs)"
        )


def _parse(arguments: Sequence[str]) -> Any:
    """The command that the arguments spell; one line replaces the boxes that tyro prints."""
    rejection = io.StringIO()
    try:
        with contextlib.redirect_stderr(rejection):
            return _read(arguments)
    except SystemExit as stop:
        if not stop.code:
            sys.stdout.flush()
            raise
        _fail(explain(arguments, COMMANDS, rejection.getvalue()))


def _read(arguments: Sequence[str]) -> Any:
    return tyro.extras.subcommand_cli_from_dict(
        dict(COMMANDS),
        prog="timelike",
        args=list(arguments),
        config=(tyro.conf.FlagCreatePairsOff,),
    )


def _closed() -> NoReturn:
    """End quietly: the reader of the output has closed it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(128 + signal.SIGPIPE) from None


def _fail(message: str, code: int = 2) -> NoReturn:
    print(f"timelike: {' '.join(message.split())}", file=sys.stderr)
    raise SystemExit(code) from None
