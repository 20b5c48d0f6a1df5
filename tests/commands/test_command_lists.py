"""The choices that commands offer are those that exist, and every command and option is explained."""

import dataclasses
import re
import typing

import pytest

from timelike import plot, protocols
from timelike.baselines import MODELS
from timelike.cli import COMMANDS, main
from timelike.commands import evaluate, export, options
from timelike.commands import plot as plot_command
from timelike.commands import reproduce as reproduce_command
from timelike.export import FORMATS
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import MANIFOLDS
from timelike.reproduce.groups import GROUPS
from timelike.settings import PRESETS


@pytest.mark.parametrize(
    ("choices", "known"),
    [
        (options.Geometry, [*MANIFOLDS, *MODELS]),
        (options.Likelihood, LIKELIHOODS),
        (options.Preset, PRESETS),
        (evaluate.Protocol, [name for name in protocols.PROTOCOLS if name != "listed"]),
        (plot_command.Kind, ["auto", *plot.KINDS]),
        (export.Format, FORMATS),
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


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "datasets"])
def test_help_teaches(command, capsys, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert not stop.value.code
    text = " ".join(re.sub(r"[│╭╮╰╯─]", " ", capsys.readouterr().out).split())
    assert f"Example: timelike {command} " in text
    positional = {"edges", "model", "what"} if command != "evaluate" else {"model"}
    for name in option_names(COMMANDS[command]):
        shown = name.upper() if name in positional else f"--{name.replace('_', '-')}"
        explained = rf"{shown}( \S*| \{{[^}}]*\}}| NODE …)? [A-Z][a-zA-Z]*[ ,:;]"
        assert re.search(explained, text.partition("show this help")[2] + text), name


@pytest.mark.parametrize("action", [[], ["list"], ["info"], ["get"], ["export"]])
def test_help_of_data_sets_has_examples(action, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["datasets", *action, "--help"])
    assert not stop.value.code
    assert f"Example: timelike datasets {' '.join(action)}" in " ".join(capsys.readouterr().out.split())
