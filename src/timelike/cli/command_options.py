"""The options of a command, read from the fields of its dataclass."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import tyro


class Option(NamedTuple):
    """One option: its field, its spellings on the command line, and the values that it takes."""

    field: str
    flags: tuple[str, ...]  #: --valid-negatives and its aliases; EDGES if it is positional
    metavar: str
    kind: Any  #: the type of one value
    choices: tuple[str, ...]
    many: bool
    required: bool

    @property
    def positional(self) -> bool:
        """Whether the option is known by its place."""
        return not self.flags[0].startswith("-")


def options_of(command: type) -> Iterator[Option]:
    """The options of a command, those of its groups and subcommands included."""
    hints = get_type_hints(command, include_extras=True)
    for field in dataclasses.fields(command):
        kinds = _alternatives(hints[field.name])
        groups = [kind for kind in kinds if dataclasses.is_dataclass(kind)]
        for group in groups:
            yield from options_of(group)  # type: ignore[arg-type]
        if not groups:
            yield _option(field, kinds, getattr(hints[field.name], "__metadata__", ()))


def subcommands(command: type) -> dict[str, type]:
    """The subcommands among which a field of the command chooses, by name."""
    hints = get_type_hints(command, include_extras=True).values()
    unions = [kinds for kinds in map(_alternatives, hints) if len(kinds) > 1]
    return {kind.__name__.lower(): kind for kinds in unions for kind in kinds if isinstance(kind, type)}


def _option(field: dataclasses.Field, kinds: list[Any], marks: tuple[Any, ...]) -> Option:
    marked = next((mark for mark in marks if getattr(mark, "metavar", None)), None)
    aliases = getattr(marked, "aliases", None) or ()
    positional = tyro.conf.Positional in marks
    name = field.name.upper() if positional else f"--{field.name.replace('_', '-')}"
    many = get_origin(kinds[0]) is tuple
    return Option(
        field=field.name,
        flags=(name, *aliases),
        metavar=getattr(marked, "metavar", ""),
        kind=get_args(kinds[0])[0] if many else kinds[0],
        choices=tuple(word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)),
        many=many,
        required=field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING,
    )


def _alternatives(kind: Any) -> list[Any]:
    """The members of a union except None; any other type alone."""
    if get_origin(kind) is Annotated:
        return _alternatives(get_args(kind)[0])
    if get_origin(kind) in (Union, types.UnionType):
        return [inner for part in get_args(kind) for inner in _alternatives(part)]
    return [] if kind is types.NoneType else [kind]
