"""The upper layers of a plan over its recipe: settings or a preset, then the explicit options.

`timelike tune` writes files of settings and `fit` reads them; `to_json` stores the options in a model.
"""

from __future__ import annotations

import dataclasses
import json
import os
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from timelike._util.atomic_files import read_text, replacing
from timelike._util.checks import one_of, positive_number, share, show, whole_number
from timelike.core.likelihood import Likelihood
from timelike.core.manifold import Manifold
from timelike.embedding.exact_ranking import LIKELIHOOD
from timelike.embedding.plain_json import struct_from_json, struct_to_json
from timelike.engine.config import SLOWEST, Config
from timelike.engine.negatives import Negatives
from timelike.estimator.baseline_names import baseline_names
from timelike.estimator.recipes import check_geometry
from timelike.evaluation.negative_kinds import NEGATIVE_KINDS
from timelike.evidence.outside import split_evidence
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

#: Largest whole number that an option may have.
LARGEST = 2**31 - 1

#: The largest learning rate; with any above, points fly off at once.
FASTEST = 1e6

#: Parameters of an estimator that name files of this machine.
LOCAL = ("checkpoint", "log")


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
        only("training has", self.training, TRAINING)
        only("negatives has", self.negatives, [field.name for field in dataclasses.fields(Negatives)])
        Negatives(**self.negatives)
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


def only(wrong: str, names: Iterable[str], known: Collection[str], allowed: str = "it may have") -> None:
    """Raise a `ValueError` unless all names are known."""
    for name in names:
        if name not in known:
            raise ValueError(f"{wrong} {show(name)}; {allowed} {', '.join(known)}")


def _check_fields(found: Mapping[str, Any]) -> None:
    tables = ("numbers", "negatives", "training")
    only("unknown setting", found, [field.name for field in dataclasses.fields(Settings)], "settings are")
    for name, value in found.items():
        if (name in tables) != isinstance(value, Mapping):
            raise ValueError(f"{name} is {show(value)}; it must {'' if name in tables else 'not '}be a table")


def _toml(value: Any) -> str:
    """A string, a number, or a table of numbers, in TOML."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(x)}" for key, x in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


@dataclasses.dataclass(frozen=True)
class FitOptions:
    """What a user may say about a fit; None leaves the choice to the preset, the recipe or validation.

    `SpacetimeEmbedding` explains each field; its parameters and the options of `timelike fit` are these.
    """

    geometry: str | Manifold = "auto"
    likelihood: str | Likelihood | None = None
    settings: Settings | str | os.PathLike | None = None
    dim: int | None = None
    epochs: int | None = None
    batch_size: int | None = None
    learning_rate: float | None = None
    negatives: int | Negatives | None = None
    tables: str | None = None
    seed: int = 0
    seeds: int = 1
    members: int = 1
    valid_fraction: float = 0.1
    refit: bool | None = None
    calibrate: bool = True
    baselines: str = "untrained"
    evidence: Any = "structure"

    def check(self) -> None:
        """Reject impossible values; reading a large graph first would take long."""
        if isinstance(self.geometry, Manifold):
            if self.dim is not None:
                raise ValueError(
                    f"dim is {show(self.dim)}; {self.geometry} has its own dimensions, leave dim out"
                )
        else:
            check_geometry(self.geometry, ("auto",))
        whole_number("seed", self.seed, 0, LARGEST)
        for name in ("seeds", "members", "dim", "epochs", "batch_size"):
            if getattr(self, name) is not None:
                whole_number(name, getattr(self, name), 1, LARGEST)
        if self.learning_rate is not None:
            check_rate("learning_rate", self.learning_rate)
        share("valid_fraction", self.valid_fraction)
        baseline_names(self.baselines)
        split_evidence(self.evidence)
        _ = self.drawn

    @property
    def drawn(self) -> Negatives | None:
        """The negatives of training, if they are given; a number means uniform ones."""
        if not isinstance(self.negatives, int):
            return self.negatives
        why = ": without negatives, every pair becomes a likely edge"
        return Negatives(uniform=whole_number("negatives", self.negatives, 1, note=why))

    @property
    def named(self) -> dict[str, Any]:
        """The fields of `Config` that are given, by name."""
        names = ("batch_size", "learning_rate", "tables", "seed")
        fields = {name: getattr(self, name) for name in names} | {"negatives": self.drawn}
        return {name: value for name, value in fields.items() if value is not None}


def check_rate(where: str, rate: float) -> None:
    """Reject learning rates with which no training can work."""
    positive_number(where, rate)
    if not SLOWEST <= rate <= FASTEST:
        raise ValueError(
            f"{where} is {show(rate)}; it must be between {SLOWEST:g}, below which no point moves in single "
            f"precision, and {FASTEST:g}"
        )


def dim_of(options: FitOptions, settings: Settings) -> int:
    """The dimensions, time included."""
    return next(x for x in (options.dim, settings.dim, 10) if x is not None)


def to_json(parameters: dict[str, Any]) -> dict[str, Any]:
    """Every parameter but `LOCAL` ones; objects as {kind: constructor arguments}.

    Evidence from outside is in a file of its own.
    """
    found = {name: _plain(value) for name, value in parameters.items() if name not in (*LOCAL, "evidence")}
    return (
        found | {"evidence": split_evidence(parameters["evidence"])[0]} if "evidence" in parameters else found
    )


def from_json(stored: Any) -> dict[str, Any]:
    """The inverse of `to_json`, or a `ValueError`."""
    if not isinstance(stored, dict):
        raise ValueError(f'"info.estimator" is {show(stored)}; it must hold parameters by name')
    return {name: _value(value, f"info.estimator.{name}") for name, value in stored.items()}


def _plain(value: Any) -> Any:
    for kind in (Likelihood, Manifold):
        if isinstance(value, kind):
            return {kind.__name__: struct_to_json(value, kind.__name__.lower())}
    if isinstance(value, Negatives | Settings):
        return {type(value).__name__: dataclasses.asdict(value)}
    return {"Path": os.fspath(value)} if isinstance(value, os.PathLike) else value


def _value(value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        return value
    makers: dict[str, Callable[[Any], Any]] = {
        "Likelihood": lambda x: struct_from_json(x, "likelihood", where),
        "Manifold": lambda x: struct_from_json(x, "manifold", where),
        "Negatives": lambda x: Negatives(**x),
        "Settings": lambda x: Settings(**x),
        "Path": Path,
    }
    kind = next(iter(value), "")
    if len(value) != 1 or kind not in makers:
        raise ValueError(f'"{where}" is {show(value)}; it must be one of {", ".join(makers)}')
    return makers[kind](value[kind])
