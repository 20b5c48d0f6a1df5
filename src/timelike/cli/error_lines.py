"""What went wrong, in one line and in the words of the command line."""

from __future__ import annotations

import ast
import dataclasses
import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

#: What tyro calls the values of an option, and what we call them.
KINDS = {
    "INT": "a whole number",
    "K": "a whole number",
    "N": "a number",
    "FLOAT": "a number",
    "GiB": "a number of GiB",
    "GBIT/S": "a number of Gbit/s",
}


def one_line(box: str) -> str:
    """tyro's boxed complaint: its parts, between rules, in our words where we know them."""
    lines = [text for line in box.splitlines() if line[:1] not in "╭╰" and (text := line.strip("│╭╮╰╯ "))]
    rules = [set(line) <= {"─", "-"} for line in lines]
    if len(lines) > 1 and set(lines[1]) == {"-"}:  # a title, where the terminal has no boxes
        lines, rules = lines[2:], rules[2:]
    parts = "\n".join(";" if rule else line for rule, line in zip(rules, lines, strict=True)).split(";")
    text = "; ".join(" ".join(part.split()).rstrip(".") for part in parts)
    text = re.sub(r"__tyro.dummy.inner__\.", "", text, flags=re.IGNORECASE)  # of old versions
    for pattern, say in SAID.items():
        found = re.match(pattern, text)
        if found:
            return say(*found.groups())
    return text


def _choice(value: str, option: str, choices: str) -> str:
    known = sorted({*ast.literal_eval(choices)} - {"None"})
    called = option if option.startswith("-") else option.upper()
    return f"{called} is {value!r}; it must be one of {', '.join(known)}{_perhaps(value, known)}"


def _perhaps(value: str, known: Iterable[str]) -> str:
    """What was meant, where one of the words is nearly the same."""
    near = difflib.get_close_matches(value, known, 1, 0.75)
    return f"; perhaps you mean {near[0]}" if near else ""


def _value(option: str, errors: str, kind: str) -> str:
    given = re.search(r"(?:\[|: )'(.*?)'", errors)
    seen = f"is {given[1]!r}" if given else "cannot be read"
    return f"{option} {seen}; it must be {KINDS.get(kind, kind)}"


def _missing(command: str, options: str, help: str) -> str:
    options, _, strange = options.partition("; Unrecognized options: ")
    first = f"{strange.split()[0]} is not understood; " if strange.startswith("-") else ""
    needed = [
        re.match(r"--\S+ \S+|\w\S*", part.strip())
        for part in options.replace("(required)", "\n").splitlines()
    ]
    names = " and ".join(found[0] for found in needed if found)
    return f"{first}{command} needs {names} ({help} explains)"


def _strange(options: str, rest: str) -> str:
    meant = re.search(r"Perhaps you meant: (--[\w-]+)", rest)
    known = re.search(r"Available subcommands: (.*?)(?:;|$)", rest)
    words = options.split(", ")
    if known:
        return f"there is no {words[0]!r}; there are {known[1]}{_perhaps(words[0], known[1].split(', '))}"
    if not words[0].startswith("-"):
        return f"{words[0]} is not understood; if it is the value of an option, name that before it"
    return f"{words[0]} is not understood" + (f"; perhaps you mean {meant[1]}" if meant else "")


def _elsewhere(option: str, command: str, rest: str) -> str:
    meant = re.search(rf"(--[\w-]+)(?:(?!--).)*? in {command} --help", rest)
    if meant:
        return f"{option} is no option of {command}; perhaps you mean {meant[1]}"
    return f"{option} is no option of {command} ({command} --help lists them)"


#: How tyro's complaints begin → what we say.
SAID: dict[str, Callable[..., str]] = {
    r"invalid choice '(.*)' for argument '(\S+)'\. Expected one of (\(.*?\))": _choice,
    r"Error parsing (\S+): (.*); Argument helptext: \S+ (\S+)": _value,
    r"Missing value for argument '(\S+)'": lambda option: f"{option} needs a value",
    r"Missing from timelike (.*?): (.*?); For full helptext, run: (.*)": _missing,
    r"Unrecognized or misplaced options: (\S+) \(applied to (timelike [\w -]+?)\)(.*)": _elsewhere,
    r"Unrecognized options: (.*?)(?:; (.*)|$)": _strange,
    r"Expected one of \{(.*?)\}": lambda commands: f"what to do? There are {commands}",
}


def in_options(command: Any, message: str) -> str:
    """What the library says of its argument `data_dir`, said of the option --data-dir."""
    if command is None:
        return message
    names = list(_names(command))
    first = rf"^(?:[A-Z]\w*: )?({'|'.join(names)})(?=:| is | has )"
    message = re.sub(first, lambda found: _option(found[1]), message)
    others = [name for name in names if "_" in name and name not in NUMBERS]
    if others:
        inside = rf"(?<![\w/.-])({'|'.join(others)})(?![\w/])"
        message = re.sub(inside, lambda found: _option(found[1]), message)
    return message


#: Options that are also numbers of a run, which a message may list.
NUMBERS = ("batch_size", "learning_rate")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _names(options: Any) -> Iterator[str]:
    """The fields of a command, and those of the groups among them."""
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        yield from _names(value) if dataclasses.is_dataclass(value) else [field.name]
