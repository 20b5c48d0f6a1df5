"""Settings in a file: what to train and how, as `timelike tune` finds it and `timelike fit` takes it."""

from __future__ import annotations

import dataclasses
import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from timelike._util.atomic_files import read_text, replacing
from timelike._util.checks import one_of, show, whole_number
from timelike.core.likelihood import Likelihood
from timelike.core.model import Model
from timelike.core.struct import numbers_of, with_numbers
from timelike.embedding.pair_scores import LIKELIHOOD
from timelike.engine.config import Config
from timelike.engine.negatives import Negatives
from timelike.estimator.recipes import check_geometry, recipe
from timelike.evaluation.negative_kinds import PROTOCOLS
from timelike.graphs.digraph import DiGraph
from timelike.likelihoods import LIKELIHOODS

#: What of a `Config` settings may say; seeds and the choice of the epoch are the run's own.
TRAINING = tuple(
    field.name
    for field in dataclasses.fields(Config)
    if field.name not in ("negatives", "select", "until", "learn", "seed")
)

#: The one list of presets: name → its file.
PRESETS: dict[str, Path] = {
    path.stem: path for path in sorted((Path(__file__).parent / "presets").glob("*.toml"))
}


@dataclasses.dataclass(frozen=True)
class Settings:
    """What to train and how; what is left out is as `recipes.recipe` says for the geometry and the graph.

    geometry, likelihood  by name
    dim                   dimensions, time included
    protocol              what validation edges are told from, a name in `protocols.PROTOCOLS`; None: what
                          suits the graph, or any two nodes (`uniform`) where negatives are given
    score                 what pairs are ranked by: the "likelihood", or the "best" of `scoring.scores_of`
    numbers               of the model: tau1, alpha, circumference, …
    negatives             what `Negatives` takes: {"target": 2, "weights": {"target": 3.0}}
    training              what `Config` takes: learning_rate, optimizer, anneal, …
    about                 where they come from
    """

    geometry: str | None = None
    likelihood: str | None = None
    dim: int | None = None
    protocol: str | None = None
    score: str = "likelihood"
    about: str = ""
    numbers: Mapping[str, float] = dataclasses.field(default_factory=dict)
    negatives: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    training: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.geometry is not None:
            check_geometry(self.geometry)
        known = {
            "likelihood": LIKELIHOODS,
            "protocol": [name for name in PROTOCOLS if name != "listed"],
            "score": (LIKELIHOOD, "best"),
        }
        for name, allowed in known.items():
            if getattr(self, name) is not None:
                one_of(name, getattr(self, name), allowed)
        if self.dim is not None:
            whole_number("dim", self.dim, 1)
        for name in self.training:
            if name not in TRAINING:
                raise ValueError(f"training has {show(name)}; it may have {', '.join(TRAINING)}")
        Negatives(**_of_kinds(self.negatives))
        Config(**self.training)

    def build(
        self,
        graph: DiGraph,
        geometry: str | None = None,
        dim: int | None = None,
        likelihood: str | Likelihood | None = None,
    ) -> tuple[Model, Config]:
        """The model and how to train it on a graph; what is given goes before the settings."""
        where = geometry or self.geometry or graph.describe().geometry
        model, config = recipe(
            where, next(x for x in (dim, self.dim, 10) if x is not None), likelihood or self.likelihood, graph
        )
        wrong = [name for name in self.numbers if name not in numbers_of(model)]
        if wrong:
            raise ValueError(f"numbers has {wrong[0]!r}; this model has {', '.join(numbers_of(model))}")
        kinds: dict[str, Any] = {"negatives": Negatives(**self.negatives)} if self.negatives else {}
        return with_numbers(model, self.numbers), dataclasses.replace(config, **self.training, **kinds)

    def save(self, path: str | os.PathLike) -> None:
        """Write the settings to a TOML file."""
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        lines = [f"{key} = {_toml(x)}" for key, x in plain.items() if x and not isinstance(x, Mapping)]
        for key, table in plain.items():
            if isinstance(table, Mapping) and table:
                lines += ["", f"[{key}]", *(f"{name} = {_toml(x)}" for name, x in table.items())]
        with replacing(path) as part:
            part.write_text("\n".join(lines) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, source: str | os.PathLike) -> Settings:
        """Settings from a TOML file, or the preset of that name."""
        path = PRESETS.get(str(source), Path(source))
        try:
            found = tomllib.loads(read_text(path))
            _check_fields(found)
            return cls(**found)
        except FileNotFoundError:
            known = ", ".join(PRESETS)
            raise FileNotFoundError(f"there is no file {path} with settings; presets are {known}") from None
        except RecursionError:
            raise ValueError(f"{path}: there are too many brackets within brackets") from None
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: {error}") from None


def as_settings(given: Settings | str | os.PathLike | None) -> Settings:
    """Settings as they are, or from a file or preset; None: those that say nothing."""
    if isinstance(given, Settings):
        return given
    return Settings() if given is None else Settings.load(given)


def _check_fields(found: Mapping[str, Any]) -> None:
    tables = ("numbers", "negatives", "training")
    fields = [field.name for field in dataclasses.fields(Settings)]
    for name, value in found.items():
        if name not in fields:
            raise ValueError(f"there is no setting {show(name)}; there are {', '.join(fields)}")
        if (name in tables) != isinstance(value, Mapping):
            raise ValueError(f"{name} is {show(value)}; it must {'' if name in tables else 'not '}be a table")


def _of_kinds(negatives: Mapping[str, Any]) -> Mapping[str, Any]:
    kinds = [field.name for field in dataclasses.fields(Negatives)]
    for name in negatives:
        if name not in kinds:
            raise ValueError(f"negatives has {show(name)}; it may have {', '.join(kinds)}")
    return negatives


def _toml(value: Any) -> str:
    """A text, a number, or a table of numbers, as TOML writes them."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(x)}" for key, x in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


__all__ = ["PRESETS", "TRAINING", "Settings", "as_settings"]
