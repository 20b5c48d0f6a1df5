"""Settings and presets: the middle layer of a plan, in a file that `timelike tune` writes and `fit` reads."""

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
from timelike.embedding.pair_scores import LIKELIHOOD
from timelike.engine.config import Config
from timelike.engine.negatives import Negatives
from timelike.estimator.recipes import check_geometry
from timelike.evaluation.negative_kinds import NEGATIVE_KINDS
from timelike.likelihoods import LIKELIHOODS

#: The fields of `Config` that settings may hold; seeds and the choice of the epoch belong to the run.
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
    """What to train and how; anything left out follows the recipe for the geometry and the graph.

    geometry, likelihood  by name
    dim                   dimensions, time included
    valid_negatives       the kind of negatives for validation, a name in `evaluation.NEGATIVE_KINDS`; None:
                          the kind that suits the graph, or uniform if `negatives` are set
    score                 the ranking score: "likelihood", or "best", chosen by validation
    numbers               of the model: tau1, alpha, circumference, …
    negatives             training negatives as `Negatives` takes them: {"same_source": 2, "reversed": 1}
    training              fields of `Config`: learning_rate, optimizer, anneal, …
    about                 where the settings come from
    """

    geometry: str | None = None
    likelihood: str | None = None
    dim: int | None = None
    valid_negatives: str | None = None
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
            "valid_negatives": [name for name in NEGATIVE_KINDS if name != "listed"],
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
            raise FileNotFoundError(f"{path}: no such settings file; presets are {known}") from None
        except RecursionError:
            raise ValueError(f"{path}: brackets are nested too deeply") from None
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: {error}") from None


def as_settings(source: Settings | str | os.PathLike | None) -> Settings:
    """Settings as given, or read from a file or preset; None: empty settings."""
    if isinstance(source, Settings):
        return source
    return Settings() if source is None else Settings.load(source)


def _check_fields(found: Mapping[str, Any]) -> None:
    tables = ("numbers", "negatives", "training")
    fields = [field.name for field in dataclasses.fields(Settings)]
    for name, value in found.items():
        if name not in fields:
            raise ValueError(f"unknown setting {show(name)}; settings are {', '.join(fields)}")
        if (name in tables) != isinstance(value, Mapping):
            raise ValueError(f"{name} is {show(value)}; it must {'' if name in tables else 'not '}be a table")


def _of_kinds(negatives: Mapping[str, Any]) -> Mapping[str, Any]:
    kinds = [field.name for field in dataclasses.fields(Negatives)]
    for name in negatives:
        if name not in kinds:
            raise ValueError(f"negatives has {show(name)}; it may have {', '.join(kinds)}")
    return negatives


def _toml(value: Any) -> str:
    """A string, a number, or a table of numbers, in TOML."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(x)}" for key, x in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


__all__ = ["PRESETS", "TRAINING", "Settings", "as_settings"]
