"""The choices that commands offer are those that exist, and every command and option is explained."""

import re
import typing

import pytest

from paper.groups import GROUPS
from timelike import plot
from timelike._util import choices
from timelike.baselines import MODELS
from timelike.cli import reproduce_command
from timelike.cli.command_options import options_of, subcommands
from timelike.cli.datasets_command import Datasets
from timelike.cli.main import COMMANDS, main
from timelike.cli.printing import FORMS
from timelike.embedding.exports import FORMATS
from timelike.engine.table_storage import STORAGES
from timelike.estimator.recipes import READ_OFF
from timelike.estimator.settings import PRESETS
from timelike.evaluation.negative_kinds import NEGATIVE_KINDS
from timelike.evidence.outside import EVIDENCE
from timelike.io.formats import FORMATS as READ_FORMATS
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import MANIFOLDS

#: Every list of choices → the registry that it must agree with.
REGISTRIES = {
    "Spacetime": MANIFOLDS,
    "Geometry": [*MANIFOLDS, *MODELS, *READ_OFF],
    "LikelihoodName": LIKELIHOODS,
    "Preset": PRESETS,
    "Storage": STORAGES,
    "Evidence": EVIDENCE,
    "NegativeKind": [kind for kind in NEGATIVE_KINDS if kind != "listed"],
    "EdgeFormat": [format.name for format in READ_FORMATS],
    "TableFormat": FORMS,
    "ExportFormat": FORMATS,
    "PictureKind": ["auto", *plot.KINDS],
}


def test_every_list_of_choices_is_compared():
    lists = {name for name, kind in vars(choices).items() if typing.get_origin(kind) is typing.Literal}
    assert lists == set(REGISTRIES)


@pytest.mark.parametrize(("name", "known"), REGISTRIES.items())
def test_choices_are_complete(name, known):
    assert list(typing.get_args(getattr(choices, name))) == list(known)


def test_groups_of_the_paper():
    assert list(typing.get_args(reproduce_command.What)) == ["list", "all", *GROUPS]


ALL = {**COMMANDS, **{f"datasets {name}": action for name, action in subcommands(Datasets).items()}}


@pytest.mark.parametrize("command", ALL)
def test_help_teaches(command, capsys, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    with pytest.raises(SystemExit) as stop:
        main([*command.split(), "--help"])
    assert not stop.value.code
    text = " ".join(re.sub(r"[│╭╮╰╯─]", " ", capsys.readouterr().out).split())
    assert f"Example: timelike {command} " in text
    for option in options_of(ALL[command]) if command != "datasets" else ():
        explained = rf"{option.flags[0]}\]?( \S*| \{{[^}}]*\}}| NODE …)? [A-Z][a-zA-Z]*[ ,:;]"
        assert re.search(explained, text.partition("show this help")[2] + text), option


def test_options_are_read_from_the_fields():
    assert list(subcommands(Datasets)) == ["list", "info", "get", "export"]
    evaluate = {option.field: option for option in options_of(COMMANDS["evaluate"])}
    assert evaluate["negatives"].flags == ("--negatives", "--protocol")
    assert (evaluate["model"].positional, evaluate["model"].required) == (True, True)
    assert (evaluate["header"].choices, evaluate["header"].required) == (("yes", "no"), False)
    plot = {option.field: option for option in options_of(COMMANDS["plot"])}
    assert (plot["nodes"].many, plot["nodes"].kind, plot["json"].kind) == (True, str, bool)
