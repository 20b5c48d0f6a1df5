"""`timelike datasets list | info | get | export`: named graphs."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import tyro

import timelike as tl
from timelike._util.checks import output_path
from timelike.cli.options import Flag, Json, optional
from timelike.cli.printing import print_json
from timelike.cli.reading_options import DataDir, GraphOptions

Name = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")]


@dataclasses.dataclass(frozen=True)
class List:
    """List the data sets with their sizes and parameters.

    Example: timelike datasets list
    """

    json: Json = False

    def run(self) -> None:
        """Print one line per data set."""
        known = tl.datasets.DATASETS
        if self.json:
            print_json({"datasets": [_facts(name) for name in known]})
            return
        width = max(map(len, known))
        print(f"{'name':<{width}} {'nodes':>8} {'edges':>8}  description")
        for name, dataset in known.items():
            counts = (f"{n:,}" if n else "" for n in (dataset.nodes, dataset.edges))
            print(f"{name:<{width}} {next(counts):>8} {next(counts):>8}  {dataset.about}")
            if dataset.parameters:
                parameters = ",".join(f"{key}={value}" for key, value in dataset.parameters.items())
                print(f"{'':<{width + 20}}{name}:{parameters}")


@dataclasses.dataclass(frozen=True)
class Info:
    """Describe a data set or an edge file: size, cycles, degrees, and the geometry they suggest.

    Example: timelike datasets info dream5:ecoli --data-dir data
    """

    name: Name
    """Data set such as `dream5:ecoli` or `cycle:5`, or an edge file, or `-` for standard input."""

    json: Json = False

    reading: tyro.conf.OmitArgPrefixes[GraphOptions] = dataclasses.field(default_factory=GraphOptions)

    def run(self) -> None:
        """Load the graph and print its description."""
        graph = self.reading.graph(self.name)
        description = graph.describe()
        facts = {"name": self.name} if graph.notes is not None else _facts(self.name)
        if self.json:
            print_json({**facts, **description.to_dict()})
            return
        if "source" in facts:
            print(f"{self.name}: {facts['about']}\nsource: {facts['source']}\nlicence: {facts['licence']}")
            if facts["tables"]:
                print(f"tables: {', '.join(facts['tables'])} (timelike datasets export --table NAME)")
        print(description)


@dataclasses.dataclass(frozen=True)
class Get:
    """Find the files of a data set, or download them to the cache, and print their paths.

    Example: timelike datasets get wordnet:nouns
    """

    name: Name
    """Data set, for example `wordnet:nouns`."""

    data_dir: DataDir = None

    json: Json = False

    def run(self) -> None:
        """Print one path per line."""
        from timelike.datasets.downloads import locate
        from timelike.datasets.registry import resolve

        files = [str(locate(file, self.data_dir)) for file in resolve(self.name)[0].files]
        if self.json:
            print_json({"name": self.name, "files": files})
        else:
            print("\n".join(files) or f"{self.name} is generated on demand and has no files")


@dataclasses.dataclass(frozen=True)
class Export:
    """Write a data set to an edge file, with the names of its nodes.

    Example: timelike datasets export rmat:scale=20,edge_factor=16 --out edges.parquet
    """

    name: Name
    """Data set, for example `dream5:ecoli`."""

    out: Path
    """File to write; its ending (.tsv, .csv, .tsv.gz, .csv.gz, .parquet) is the format."""

    non_edges: Flag = False
    """Write the listed non-edges instead; DREAM5 has them."""

    table: Annotated[str | None, optional("NAME")] = None
    """Write a table that goes with the data set instead, such as expression; `datasets info` lists them."""

    data_dir: DataDir = None

    json: Json = False

    def run(self) -> None:
        """Write the file and print the number of rows."""
        from timelike.datasets.edge_files import ENDINGS

        output_path("--out", self.out, ENDINGS)
        if self.table is not None:
            self._write_table(self.table)
            return
        write = tl.datasets.export_non_edges if self.non_edges else tl.datasets.export
        written = write(self.name, self.out, self.data_dir)
        if self.json:
            print_json({"name": self.name, "out": str(self.out), **written})
            return
        isolated = written.get("isolated")
        note = f" ({isolated:,} nodes without edges are not in the file)" if isolated else ""
        what = "non-edges" if self.non_edges else "edges"
        print(f"{self.out}: {written[what.replace('-', '_')]:,} {what} of {self.name}{note}")

    def _write_table(self, which: str) -> None:
        """Write a table and print its size."""
        if self.non_edges:
            raise ValueError("--table cannot be combined with --non-edges")
        written = tl.datasets.export_table(self.name, which, self.out, self.data_dir)
        if self.json:
            print_json({"name": self.name, "out": str(self.out), **written})
        else:
            size = f"{written['rows']:,} rows, {written['columns']:,} columns"
            print(f"{self.out}: {which} of {self.name}, {size}")


def _facts(name: str) -> dict[str, Any]:
    """The entry of a data set in the registry."""
    from timelike.datasets.measurements import TABLES
    from timelike.datasets.registry import resolve

    dataset, parameters = resolve(name)
    texts = {"name": name, "about": dataset.about, "source": dataset.source, "licence": dataset.licence}
    counts = {"nodes": dataset.nodes, "edges": dataset.edges}
    tables = [*TABLES.get(name, {})]
    return {**texts, "tables": tables, "parameters": {**dataset.parameters, **parameters}, **counts}


@tyro.conf.configure(tyro.conf.OmitSubcommandPrefixes)
@dataclasses.dataclass(frozen=True)
class Datasets:
    """List, describe, download and export named graphs; describe your own edge files.

    Example: timelike datasets info dream5:ecoli
    """

    action: List | Info | Get | Export

    def run(self) -> None:
        """Carry out the action."""
        self.action.run()
