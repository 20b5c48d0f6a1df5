"""The choices that commands offer are those that exist, and every command and option is explained."""

import dataclasses
import re
import typing

import pytest

from paper.groups import GROUPS
from timelike import plot
from timelike.baselines import MODELS
from timelike.cli import datasets_command, evaluate_command, export_command, options, reading_options
from timelike.cli import plot_command as plot_command
from timelike.cli import reproduce_command as reproduce_command
from timelike.cli.main import COMMANDS, main
from timelike.embedding.exports import FORMATS
from timelike.engine.table_storage import STORAGES
from timelike.estimator.settings import PRESETS
from timelike.evaluation import negative_kinds
from timelike.io.formats import FORMATS as READ_FORMATS
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import MANIFOLDS


@pytest.mark.parametrize(
    ("choices", "known"),
    [
        (options.Spacetime, MANIFOLDS),
        (options.Geometry, [*MANIFOLDS, *MODELS]),
        (options.Likelihood, LIKELIHOODS),
        (options.Preset, PRESETS),
        (options.Storage, STORAGES),
        (evaluate_command.Protocol, [name for name in negative_kinds.NEGATIVE_KINDS if name != "listed"]),
        (plot_command.Kind, ["auto", *plot.KINDS]),
        (export_command.Format, FORMATS),
        (reading_options.Format, [one.name for one in READ_FORMATS]),
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


ACTIONS = {
    f"datasets {one.__name__.lower()}": one
    for one in (datasets_command.List, datasets_command.Info, datasets_command.Get)
}
ALL = {**COMMANDS, **ACTIONS, "datasets export": datasets_command.Export}


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
