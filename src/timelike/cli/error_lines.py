"""A user's mistake in one line, in the words of the command line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from timelike.cli.command_options import Option, options_of, subcommands

#: Fields that are also numbers of a run, which a message may list: their names stay.
NUMBERS = ("batch_size", "learning_rate")


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
            option, values = places.pop(0), [word]
            flag = option.flags[0]
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
