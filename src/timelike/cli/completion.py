"""Scripts with which the tab key completes commands, options, their choices and files."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from timelike.cli.command_options import options_of

SHELLS = ("bash", "zsh", "fish")


def completion(shell: str, commands: Mapping[str, type], parse: Callable[[Sequence[str]], Any]) -> str:
    """The completion script for a shell; tyro, which `parse` calls, writes those of bash and zsh."""
    if shell == "fish":
        return "\n".join(_fish(commands)) + "\n"
    printed = io.StringIO()
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(printed):
        parse(["--tyro-print-completion", shell])
    # If tyro has nothing to offer, bash offers files.
    return printed.getvalue().replace("complete -F", "complete -o default -F")


def _fish(commands: Mapping[str, type]) -> Iterator[str]:
    start = "complete -c timelike -n"
    for name, command in commands.items():
        about = (command.__doc__ or "").splitlines()[0].replace("'", "\\'")
        yield f"{start} __fish_use_subcommand -f -a {name} -d '{about}'"
        here = f"{start} '__fish_seen_subcommand_from {name}'"
        yield f"{here} -l help -f"
        for option in options_of(command):
            values = f" -x -a '{' '.join(option.choices)}'" if option.choices else " -r"
            for flag in option.flags if not option.positional else ():
                yield f"{here} -l {flag[2:]}{'' if option.kind is bool else values}"
