"""Scripts that let the tab key complete commands, options, their choices and files."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

SHELLS = ("bash", "zsh", "fish")


def completion(shell: str, commands: Mapping[str, type], parse: Callable[[Sequence[str]], Any]) -> str:
    """The script for a shell; `parse` is tyro's, which knows how to write those of bash and zsh."""
    if shell == "fish":
        return "\n".join(_fish(commands)) + "\n"
    printed = io.StringIO()
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(printed):
        parse(["--tyro-print-completion", shell])
    # Where tyro has nothing to offer, bash is to offer files.
    return printed.getvalue().replace("complete -F", "complete -o default -F")


def _fish(commands: Mapping[str, type]) -> Iterator[str]:
    start = "complete -c timelike -n"
    for name, command in commands.items():
        about = (command.__doc__ or "").splitlines()[0].replace("'", "\\'")
        yield f"{start} __fish_use_subcommand -f -a {name} -d '{about}'"
        here = f"{start} '__fish_seen_subcommand_from {name}'"
        yield f"{here} -l help -f"
        for option, kind in _options(command):
            choices = list(_choices(kind))
            values = "" if kind is bool else f" -x -a '{' '.join(choices)}'" if choices else " -r"
            yield f"{here} -l {option.replace('_', '-')}{values}"


def _options(command: type) -> Iterator[tuple[str, Any]]:
    """The fields of a command with their types, and those of the groups and subcommands among them."""
    for name, kind in get_type_hints(command).items():
        inner = [
            part
            for part in (kind, *get_args(kind))
            if isinstance(part, type) and dataclasses.is_dataclass(part)
        ]
        for part in inner:
            yield from _options(part)
        if not inner:
            yield name, kind


def _choices(kind: Any) -> Iterator[str]:
    if get_origin(kind) is Literal:
        yield from get_args(kind)
    elif get_origin(kind) in (Union, types.UnionType):
        for part in get_args(kind):
            yield from _choices(part)
