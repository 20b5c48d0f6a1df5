"""`timelike datasets list | info | get | export`: graphs by name."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated, Any

import tyro

from timelike._util.checks import output_path
from timelike.cli.reading_options import Folder, GraphOptions

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
    """Describe a data set or an edge file: size, cycles, degrees, and the geometry that suggests.

    Example: timelike datasets info dream5:ecoli --data-dir data
    """

    name: Name
    """Which one, for example `dream5:ecoli` or `cycle:5`; or an edge file, `-` for standard input."""

    json: bool = False
    """Print the result as JSON."""

    reading: tyro.conf.OmitArgPrefixes[GraphOptions] = dataclasses.field(default_factory=GraphOptions)

    def run(self) -> None:
        """Load and describe."""
        graph = self.reading.graph(self.name)
        description = graph.describe()
        facts = {"name": self.name} if graph.notes is not None else _facts(self.name)
        if self.json:
            print(json.dumps({**facts, **description.to_dict()}))
            return
        if "source" in facts:
            print(f"{self.name}: {facts['about']}\nsource: {facts['source']}\nlicence: {facts['licence']}")
        print(description)


@dataclasses.dataclass(frozen=True)
class Get:
    """Find the files of a data set, or download them into the cache, and print where they are.

    Example: timelike datasets get wordnet:nouns
    """

    name: Name
    """Which one, for example `wordnet:nouns`."""

    data_dir: Folder = None
    """A folder to look in first; the environment variable TIMELIKE_DATA names another."""

    json: bool = False
    """Print the result as JSON."""

    def run(self) -> None:
        """Print one path per line."""
        from timelike.datasets.downloads import locate
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

    non_edges: bool = False
    """Write the pairs that are listed as no edges instead, which DREAM5 has."""

    data_dir: Folder = None
    """A folder with the data's files; the environment variable TIMELIKE_DATA names another."""

    json: bool = False
    """Print the result as JSON."""

    def run(self) -> None:
        """Write, and say what was written."""
        from timelike.datasets import export, export_non_edges
        from timelike.datasets.edge_files import ENDINGS

        output_path("--out", self.out, ENDINGS)
        written = (export_non_edges if self.non_edges else export)(self.name, self.out, self.data_dir)
        if self.json:
            print(json.dumps({"name": self.name, "out": str(self.out), **written}))
            return
        alone = written.get("isolated")
        note = f" ({alone:,} nodes have no edge and are not in the file)" if alone else ""
        what = "non-edges" if self.non_edges else "edges"
        print(f"{self.out}: {written[what.replace('-', '_')]:,} {what} of {self.name}{note}")


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
    """Graphs by name: list them, describe one (or your own file), get its files, export it.

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
