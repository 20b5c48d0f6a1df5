"""`timelike datasets list | info | get | export`: graphs by name."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated, Any

import tyro

from timelike.checks import output_path

Name = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")]


@dataclasses.dataclass(frozen=True)
class List:
    """List the data sets, their parameters and sizes.

    Example: timelike datasets list
    """

    json: bool = False
    """Print the result as JSON."""

    def run(self) -> None:
        """Print one line per data set."""
        from timelike.datasets import DATASETS

        if self.json:
            print(json.dumps({"datasets": [_facts(name) for name in DATASETS]}))
            return
        width = max(map(len, DATASETS))
        print(f"{'name':<{width}} {'nodes':>8} {'edges':>8}  what")
        for name, dataset in DATASETS.items():
            counts = (f"{n:,}" if n else "" for n in (dataset.nodes, dataset.edges))
            print(f"{name:<{width}} {next(counts):>8} {next(counts):>8}  {dataset.about}")
            if dataset.parameters:
                parameters = ",".join(f"{key}={value}" for key, value in dataset.parameters.items())
                print(f"{'':<{width + 20}}{name}:{parameters}")


@dataclasses.dataclass(frozen=True)
class Info:
    """Describe a data set: size, cycles, degrees, and the geometry that suggests.

    Example: timelike datasets info dream5:ecoli --data-dir data
    """

    name: Name
    """Which one, for example `dream5:ecoli` or `cycle:5`."""

    data_dir: Path | None = None
    """A folder with the data's files; the environment variable TIMELIKE_DATA names another."""

    json: bool = False
    """Print the result as JSON."""

    def run(self) -> None:
        """Load and describe."""
        from timelike.datasets import load

        description = load(self.name, self.data_dir).describe()
        if self.json:
            print(json.dumps({**_facts(self.name), **description.to_dict()}))
            return
        facts = _facts(self.name)
        print(f"{self.name}: {facts['about']}\nsource: {facts['source']}\nlicence: {facts['licence']}")
        print(description)


@dataclasses.dataclass(frozen=True)
class Get:
    """Find the files of a data set, or download them into the cache, and print where they are.

    Example: timelike datasets get wordnet:nouns
    """

    name: Name
    """Which one, for example `wordnet:nouns`."""

    data_dir: Path | None = None
    """A folder to look in first; the environment variable TIMELIKE_DATA names another."""

    json: bool = False
    """Print the result as JSON."""

    def run(self) -> None:
        """Print one path per line."""
        from timelike.datasets.files import locate
        from timelike.datasets.registry import resolve

        files = [str(locate(file, self.data_dir)) for file in resolve(self.name)[0].files]
        if self.json:
            print(json.dumps({"name": self.name, "files": files}))
        else:
            print("\n".join(files) or f"{self.name} is made on the spot; there is nothing to get")


@dataclasses.dataclass(frozen=True)
class Export:
    """Write a data set to an edge file, with the names of its nodes.

    Example: timelike datasets export rmat:scale=20,edge_factor=16 --out edges.parquet
    """

    name: Name
    """Which one, for example `dream5:ecoli`."""

    out: Path
    """The file to write; its ending (.tsv, .csv, .tsv.gz, .csv.gz, .parquet) is the format."""

    data_dir: Path | None = None
    """A folder with the data's files; the environment variable TIMELIKE_DATA names another."""

    json: bool = False
    """Print the result as JSON."""

    def run(self) -> None:
        """Write, and say what was written."""
        from timelike.datasets import export
        from timelike.datasets.export import ENDINGS

        output_path("--out", self.out, ENDINGS)
        written = export(self.name, self.out, self.data_dir)
        if self.json:
            print(json.dumps({"name": self.name, "out": str(self.out), **written}))
            return
        alone = written["isolated"]
        note = f" ({alone:,} nodes have no edge and are not in the file)" if alone else ""
        print(f"{self.out}: {written['edges']:,} edges of {self.name}{note}")


def _facts(name: str) -> dict[str, Any]:
    """What the registry knows about a data set."""
    from timelike.datasets.registry import resolve

    dataset, parameters = resolve(name)
    words = {"name": name, "about": dataset.about, "source": dataset.source, "licence": dataset.licence}
    counts = {"nodes": dataset.nodes, "edges": dataset.edges}
    return {**words, "parameters": {**dataset.parameters, **parameters}, **counts}


@tyro.conf.configure(tyro.conf.OmitSubcommandPrefixes)
@dataclasses.dataclass(frozen=True)
class Datasets:
    """Graphs by name: list them, describe one, get its files, export it.

    Example: timelike datasets info dream5:ecoli
    """

    action: (
        Annotated[List, tyro.conf.subcommand("list")]
        | Annotated[Info, tyro.conf.subcommand("info")]
        | Annotated[Get, tyro.conf.subcommand("get")]
        | Annotated[Export, tyro.conf.subcommand("export")]
    )

    def run(self) -> None:
        """Do what was asked for."""
        self.action.run()
