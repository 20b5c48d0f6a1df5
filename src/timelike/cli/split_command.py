"""`timelike split`: hold out edges, as files that the other commands read."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from timelike._util.atomic_files import replacing_folder
from timelike._util.checks import output_path, whole_number
from timelike.cli.evaluate_command import RATIO, is_file
from timelike.cli.options import Count, Flag, Json, optional
from timelike.cli.printing import note, print_json, typed
from timelike.cli.reading_options import Edges, TimedOptions

if TYPE_CHECKING:
    from timelike.evaluation.splits import Split as Parts
    from timelike.graphs.digraph import DiGraph


@dataclasses.dataclass(frozen=True)
class Split:
    """Hold out edges for validation and test, draw negatives for them, and write the files.

    FOLDER gets train.tsv, valid.tsv, test.tsv, valid-non-edges.tsv, test-non-edges.tsv, nodes.txt, and
    split.safetensors for Python. From a CSV or Parquet file, they are .csv or .parquet. With --folds, each
    fold has a folder with these files.

    Example: timelike split edges.tsv --out parts --test 0.2
    """

    edges: Edges

    out: Annotated[Path, tyro.conf.arg(metavar="FOLDER")]
    """Folder to write; it must be new or empty."""

    valid: float = 0.1
    """Fraction of the edges for validation."""

    test: float = 0.1
    """Fraction of the edges for the test; with --folds, each fold is a test set."""

    by: Literal["edges", "nodes"] = "edges"
    """Hold out random edges, or all edges of random nodes. With --time: the latest edges."""

    connected: Flag = False
    """Keep the training graph connected: hold out only edges that it can lose."""

    together: Flag = False
    """Hold out an edge and its reverse together or not at all."""

    folds: Count = None
    """Number of folds. Their test sets are disjoint and together cover all edges."""

    negatives: Annotated[str | None, optional("KIND|FILE", aliases=("--protocol", "--non-edges"))] = None
    """Kind of negatives to draw (see `timelike evaluate --help`) or file to draw from; default: uniform."""

    ratio: int = RATIO
    """Negatives to draw per edge; reversed has one."""

    seed: int = 0
    """Seed of all random numbers: the same seed gives the same split."""

    json: Json = False

    reading: tyro.conf.OmitArgPrefixes[TimedOptions] = dataclasses.field(default_factory=TimedOptions)

    def run(self) -> None:
        """Read, hold out, write, and print the next commands."""
        output_path("--out", self.out)
        if self.out.exists() and not (self.out.is_dir() and not any(self.out.iterdir())):
            raise FileExistsError(f"--out is {self.out}, which exists; it must be a new or empty folder")
        graph = self.reading.graph(self.edges)
        with replacing_folder(self.out) as new:
            summaries = [self._write(parts, new, name) for parts, name in self._parts(graph)]
        if self.json:
            print_json({"splits": summaries})
            return
        for summary in summaries:
            counts = ", ".join(f"{summary[f'{part}_edges']:,} {part}" for part in ("train", "valid", "test"))
            print(f"{summary['folder']}: {counts} ({summary['how']}), {summary['negatives']} negatives")
        first, names = summaries[0], ("train", "valid", "test", "test-non-edges")
        files = (typed(f"{first['folder']}/{name}{self._ending}") for name in names)
        train, valid, test, non_edges = files
        nodes = typed(f"{first['folder']}/nodes.txt")
        valid = f" --valid {valid}" if first["valid_edges"] else ""
        model = typed(f"{first['folder']}/model")  # a model of all edges, in another folder, stays
        print(f"next  timelike fit {train} --nodes {nodes}{valid} --out {model}")
        if first["test_edges"]:
            test = f"--edges {test} --negatives {non_edges}"
            print(f"      timelike evaluate {model} {test}")

    @property
    def _ending(self) -> str:
        """The ending of the edge files: that of EDGES if it is a table that can be written, else .tsv."""
        ending = Path(self.edges.lower().removesuffix(".gz")).suffix
        return ending if ending in (".csv", ".parquet") else ".tsv"

    def _parts(self, graph: DiGraph) -> Iterable[tuple[Parts, str]]:
        """The splits with the names of their folders in --out."""
        from timelike.evaluation.negative_kinds import suitable_negatives
        from timelike.evaluation.splits import folds, split_edges

        kind, listed = self.negatives or "uniform", None
        if is_file(self.negatives):
            kind, listed = "listed", self.reading.pairs(kind, graph.num_nodes, graph.names)
        elif self.negatives is None and (suited := suitable_negatives(graph)) != kind:
            ends = "outgoing" if suited == "active_source" else "incoming"
            note(
                f"few nodes have {ends} edges: uniform negatives mostly test which nodes these are; "
                f"--negatives {suited} tests which edges they have, as `timelike fit` does by itself"
            )
        common: dict[str, Any] = {
            "negatives": kind,
            "ratio": self.ratio,
            "listed": listed,
            "together": self.together,
        }
        if self.folds is None:
            by = self.by if graph.times is None else "time"
            if by != self.by and self.by == "nodes":
                raise ValueError("--time cannot be combined with --by nodes")
            split = split_edges(
                graph, self.valid, self.test, self.seed, connected=self.connected, by=by, **common
            )
            return [(split, "")]
        if self.connected or self.by == "nodes" or graph.times is not None:
            raise ValueError("--folds cannot be combined with --connected, --by nodes or --time")
        count = whole_number("folds", self.folds, 2, graph.num_edges)
        made = folds(graph, count, self.valid, self.seed, **common)
        return ((split, f"fold-{i}") for i, split in enumerate(made, 1))

    def _write(self, parts: Parts, new: Path, name: str) -> dict[str, Any]:
        """Write one split and summarise it."""
        from timelike.datasets.edge_files import edge_table, pair_table, write_edges, write_nodes

        folder = new / name
        folder.mkdir(exist_ok=True)
        tables = {"train": edge_table(parts.train)}
        for part in ("valid_edges", "valid_negatives", "test_edges", "test_negatives"):
            pairs = getattr(parts, part)
            if len(pairs):
                file = part.removesuffix("_edges").replace("_negatives", "-non-edges")
                tables[file] = pair_table(parts.train, pairs)
        for file, table in tables.items():
            write_edges(table, folder / f"{file}{self._ending}")
        write_nodes(parts.train, folder / "nodes.txt")
        parts.save(folder / "split.safetensors")
        return {"folder": str(self.out / name), **parts.summary}
