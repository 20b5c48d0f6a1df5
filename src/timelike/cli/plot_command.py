"""`timelike plot`: a picture of a model."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from timelike._util.checks import output_path
from timelike._util.choices import PictureKind
from timelike.cli.options import Count, Json, Number, optional
from timelike.cli.printing import print_json
from timelike.cli.saved_models import Fitted, Loading, LoadingOptions, ModelFolder

if TYPE_CHECKING:
    import polars

#: Millimetres per inch.
INCH = 25.4

#: Extensions of tables of nodes.
TABLES = (".tsv", ".csv", ".parquet")


@dataclasses.dataclass(frozen=True)
class Plot:
    """Draw a model: nodes as events, time upwards.

    The likelier the model finds a training edge, the darker it is drawn. If the model was fitted with --sign
    or --type, colours tell signs or types apart.

    Example: timelike plot model --out picture.pdf
    """

    model: ModelFolder

    out: Annotated[Path, tyro.conf.arg(metavar="FILE")]
    """Picture to write; its ending is the format: .png, .svg, .pdf, or .html for an interactive one."""

    kind: Annotated[tuple[PictureKind, ...], tyro.conf.arg(metavar="KIND …")] = ("auto",)
    """Kind of picture: diagram, rolled, polar, disk, landscape, adjacency, training or balls (a
    hierarchy as disks within disks); auto picks one that suits the geometry. Several become panels with
    letters."""

    nodes: Annotated[tuple[str, ...], optional("NODE …")] = ()
    """Nodes whose light cones or landscape to draw; default: the node with the most edges. Or a table (TSV,
    CSV, Parquet) for --color: node names in the first column, values in the others."""

    color: Annotated[str | None, optional("NAME")] = None
    """Colour of the nodes: role, time, degree, none, or a column of the table; default: role."""

    labels: Annotated[tuple[str, ...], optional("NODE …")] = ()
    """Nodes to name, or a number of hubs, 0 for none; default: as many hubs as fit."""

    edges: Literal["auto", "bundled", "straight", "none"] = "auto"
    """How to draw edges; auto bundles many."""

    scale: Literal["auto", "true", "spread"] = "auto"
    """Scale of a diagram: true shows light with slope 1, spread stretches the axes where nodes are crowded;
    auto spreads from 200 nodes on."""

    size: Number = None
    """Width in millimetres; default: 85, one column of a paper, and 170 for panels."""

    dpi: Count = None
    """Dots per inch of a .png file; default: 300."""

    theme: Literal["light", "dark", "grey"] = "light"
    """Colours; grey is for print without colours."""

    json: Json = False

    loading: Loading = dataclasses.field(default_factory=LoadingOptions)

    def run(self) -> None:
        """Draw the picture and print its path."""
        from timelike import plot

        output_path("--out", self.out, plot.ENDINGS)
        fitted = self.loading.load(self.model, "the most likely edges are drawn instead")
        table = self._table()
        nodes = [] if table is not None else fitted.nodes(self.nodes, "--nodes")
        kind: Any = self.kind[0] if len(self.kind) == 1 else list(self.kind)
        look = self._look(fitted, table)
        plot.save(fitted.embedding, self.out, fitted.graph, kind, nodes=nodes or None, **look)
        if self.json:
            print_json({"model": str(self.model), "kind": kind, "out": str(self.out)})
        else:
            print(self.out)

    def _table(self) -> Path | None:
        """The table of nodes, if --nodes names one."""
        if len(self.nodes) == 1 and self.nodes[0].lower().endswith(TABLES) and Path(self.nodes[0]).is_file():
            return Path(self.nodes[0])
        return None

    def _look(self, fitted: Fitted, table: Path | None) -> dict[str, Any]:
        """The options of the picture that differ from their defaults."""
        look: dict[str, Any] = {"edges": self.edges, "scale": self.scale, "theme": self.theme}
        look = {name: value for name, value in look.items() if value not in ("auto", "light")}
        if self.size is not None:
            look["width"] = self.size / INCH
        if self.dpi is not None:
            look["dpi"] = self.dpi
        if len(self.labels) == 1 and self.labels[0].isdecimal():
            look["labels"] = int(self.labels[0])
        elif self.labels:
            look["labels"] = fitted.nodes(self.labels, "--labels")
        if fitted.labels and fitted.graph is not None and self.out.suffix.lower() != ".html":
            look["edge_labels"] = fitted.labels[0].of_pairs(*fitted.graph.pairs.T)[0]
        if self.color is not None:
            look["color"] = self.color if table is None else self._column(fitted, table)
        elif table is not None:
            raise ValueError(f"--nodes is the table {table}; add --color with one of its columns")
        return look

    def _column(self, fitted: Fitted, table: Path) -> polars.Series | str:
        """The values of the column --color, one for each node."""
        import polars as pl

        from timelike.explore.colours import read_columns
        from timelike.plot.node_inks import COLOURINGS

        columns = {column.label: column for column in read_columns(table, fitted.embedding)}
        if self.color in columns:
            found = columns[self.color]
            values = found.values.tolist()
            if found.categories is not None:
                words = dict(enumerate(found.categories))
                values = [words.get(int(value)) for value in values]
            return pl.Series(found.label, values)
        if self.color in COLOURINGS:
            return str(self.color)
        raise ValueError(f"--color is {self.color!r}; {table} has the columns {', '.join(columns)}")
