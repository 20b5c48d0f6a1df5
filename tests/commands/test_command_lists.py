"""The choices that commands offer are those that exist, and every command and option is explained."""

import dataclasses
import re
import typing

import pytest

from timelike import plot, protocols
from timelike.baselines import MODELS
from timelike.cli import COMMANDS, main
from timelike.commands import datasets, evaluate, export, options, reading
from timelike.commands import plot as plot_command
from timelike.commands import reproduce as reproduce_command
from timelike.engine.rounding import STORAGES
from timelike.export import FORMATS
from timelike.io.formats import FORMATS as READ_FORMATS
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import MANIFOLDS
from timelike.reproduce.groups import GROUPS
from timelike.settings import PRESETS


@pytest.mark.parametrize(
    ("choices", "known"),
    [
        (options.Spacetime, MANIFOLDS),
        (options.Geometry, [*MANIFOLDS, *MODELS]),
        (options.Likelihood, LIKELIHOODS),
        (options.Preset, PRESETS),
        (options.Storage, STORAGES),
        (evaluate.Protocol, [name for name in protocols.PROTOCOLS if name != "listed"]),
        (plot_command.Kind, ["auto", *plot.KINDS]),
        (export.Format, FORMATS),
        (reading.Format, [one.name for one in READ_FORMATS]),
        (reproduce_command.What, ["list", "all", *GROUPS]),
    ],
)
def test_choices_are_complete(choices, known):
    assert list(typing.get_args(choices)) == list(known)


def test_endings_of_pictures():
    assert plot_command.ENDINGS == plot.ENDINGS


def option_names(command: type) -> list[str]:
    """The options of a command, those of the groups that it shares with others too."""
    found = []
    for name, kind in typing.get_type_hints(command).items():
        found += option_names(kind) if dataclasses.is_dataclass(kind) else [name]
    return found


ACTIONS = {f"datasets {one.__name__.lower()}": one for one in (datasets.List, datasets.Info, datasets.Get)}
ALL = {**COMMANDS, **ACTIONS, "datasets export": datasets.Export}


@pytest.mark.parametrize("command", ALL)
def test_help_teaches(command, capsys, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    with pytest.raises(SystemExit) as stop:
        main([*command.split(), "--help"])
    assert not stop.value.code
    text = " ".join(re.sub(r"[│╭╮╰╯─]", " ", capsys.readouterr().out).split())
    assert f"Example: timelike {command} " in text
    some = {"evaluate": {"model"}, "plan": set()}
    positional = some.get(command, {"edges", "model", "other", "what", "name"})
    for name in option_names(ALL[command]) if command != "datasets" else ():
        shown = name.upper() if name in positional else f"--{name.replace('_', '-')}"
        explained = rf"{shown}\]?( \S*| \{{[^}}]*\}}| NODE …)? [A-Z][a-zA-Z]*[ ,:;]"
        assert re.search(explained, text.partition("show this help")[2] + text), name
