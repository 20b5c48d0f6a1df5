"""The options of a command, read from the fields of its dataclass: mistakes in them, and their completion."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import io
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import tyro

#: Fields that are also numbers of a run, which a message may list: their names stay.
NUMBERS = ("batch_size", "learning_rate")

#: Shells with completion.
SHELLS = ("bash", "zsh", "fish")


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
    if many := get_origin(kinds[0]) is tuple:
        kinds = [get_args(kinds[0])[0]]
    return Option(
        field=field.name,
        flags=(name, *aliases),
        metavar=getattr(marked, "metavar", ""),
        kind=kinds[0],
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


def explain(words: Sequence[str], commands: Mapping[str, type], rejection: str) -> str:
    """The mistake in a command line that the parser rejected.

    `rejection` is the parser's own text. It is printed only if no mistake is found here.
    """
    name, left = "", list(words)
    while commands:
        listed = ", ".join(commands)
        if not left:
            return f"{name or 'timelike'} needs a command: {listed}"
        word = left.pop(0)
        if word not in commands:
            return f"{word!r} is not a command; commands are {listed}{_perhaps(word, commands)}"
        name, commands = f"{name} {word}".strip(), subcommands(command := commands[word])
    return _mistake(name, list(options_of(command)), left) or re.sub(r"[╭╮╰╯│─]|-{4,}", " ", rejection)


def _mistake(name: str, options: list[Option], words: list[str]) -> str:
    """The first wrong option or value, then missing options, then a word too many; "" if all is well."""
    flags = {flag: option for option in options if not option.positional for flag in option.flags}
    places = [option for option in options if option.positional]
    seen, unexpected = [], ""
    while words:
        word = words.pop(0)
        flag, equals, value = word.partition("=")
        if re.match(r"--|-[a-zA-Z]", word):
            flag = flag.replace("_", "-")
            if flag not in flags:
                hint = _perhaps(flag, flags) or f"; `timelike {name} --help` lists them"
                return f"{flag} is not an option of {name}{hint}"
            option = flags[flag]
            values = [value] if equals else _values(option, words)
            if bool(values) is (option.kind is bool):
                return f"{flag} {'takes no' if values else 'needs a'} value"
        elif places:
            option, values = places[0], [word]
            flag = option.flags[0]
            places = places if option.many else places[1:]
        else:
            unexpected = unexpected or word
            continue
        seen.append(option)
        for value in values:
            if allowed := _allowed(option, value):
                return f"{flag} is {value!r}; it must be {allowed}"
    if missing := [option for option in options if option.required and option not in seen]:
        needed = " and ".join(" ".join(dict.fromkeys([opt.flags[0], opt.metavar])) for opt in missing)
        return f"{name} needs {needed} (see `timelike {name} --help`)"
    if unexpected:
        return f"{unexpected!r} is unexpected; if it is the value of an option, write the option before it"
    return ""


def _values(option: Option, words: list[str]) -> list[str]:
    """Take the values of an option off the words that follow it."""
    most = 0 if option.kind is bool else len(words) if option.many else 1
    values: list[str] = []
    while words and len(values) < most and not words[0].startswith("--"):
        values.append(words.pop(0))
    return values


def _allowed(option: Option, value: str) -> str:
    """The values that the option takes, unless this is one of them."""
    if option.choices:
        known = sorted(option.choices)
        return "" if value in known else f"one of {', '.join(known)}{_perhaps(value, known)}"
    if option.kind in (int, float):
        try:
            option.kind(value)
        except ValueError:
            return "a whole number" if option.kind is int else "a number"
    return ""


def _perhaps(word: str, known: Iterable[str]) -> str:
    """A hint at a known word that is nearly the same."""
    near = difflib.get_close_matches(word, known, 1, 0.75)
    return f"; perhaps you mean {near[0]}" if near else ""


def in_options(command: Any, message: str) -> str:
    """A message of the library about its argument `data_dir`, as one about the option --data-dir."""
    if command is None:
        return message
    flags = {option.field: option.flags[0] for option in options_of(type(command))}
    start = rf"^(?:[A-Z]\w*: )?({'|'.join(flags)})(?=:| is | has )"
    message = re.sub(start, lambda name: flags[name[1]], message)
    inside = [name for name in flags if "_" in name and name not in NUMBERS]
    anywhere = rf"(?<![\w/.-])({'|'.join(inside or ['$.'])})(?![\w/])"
    return re.sub(anywhere, lambda name: flags[name[1]], message)


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
