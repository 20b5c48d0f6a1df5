"""`timelike explore`: a page in the browser over a model."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from timelike._util.atomic_files import replacing
from timelike._util.checks import output_path
from timelike.cli.options import optional
from timelike.cli.printing import note
from timelike.cli.reading_options import PairOptions
from timelike.cli.saved_models import ModelFolder, load

if TYPE_CHECKING:
    from timelike.explore.shown_model import Shown


@dataclasses.dataclass(frozen=True)
class Explore:
    """Look at a model in the browser: find a node, see its light cone and its likely edges, judge one.

    Example: timelike explore model
    """

    model: ModelFolder
    """A model folder, as `timelike fit` writes it."""

    other: Annotated[Path | None, tyro.conf.Positional, optional("[OTHER]")] = None
    """Another one, to be shown beside it."""

    graph: Annotated[str | None, optional("EDGES")] = None
    """The edges that are known, a file or a data set, instead of those that the model was trained on."""

    nodes: Annotated[Path | None, optional("FILE")] = None
    """A table (TSV, CSV, Parquet) to colour nodes by: a column with their names, then any others."""

    out: Annotated[Path | None, optional("FILE.html")] = None
    """Write the page to a file, with the model in it, instead of serving it: up to 20,000 nodes."""

    host: str = "127.0.0.1"
    """The address to listen at; any but this machine's own needs the token that is printed."""

    port: int = 0
    """The port to listen at; 0 finds a free one."""

    no_browser: bool = False
    """Print the address, and open nothing."""

    reading: tyro.conf.OmitArgPrefixes[PairOptions] = dataclasses.field(default_factory=PairOptions)

    def run(self) -> None:
        """Serve the page until interrupted, or write it."""
        if self.out is not None:
            output_path("--out", self.out, (".html",))
            models = [self._shown(path) for path in self._paths]
            from timelike.explore.page import whole_page

            with replacing(self.out) as part:
                part.write_text(whole_page(models), encoding="utf-8")
            print(self.out)
            return
        if not 0 <= self.port < 2**16:
            raise ValueError(f"--port is {self.port}; it must be from 0 to {2**16 - 1}")
        try:
            from timelike.explore.server import serve
        except ImportError as error:
            raise ImportError(
                'the explorer needs starlette and uvicorn: pip install "timelike[explore]"'
            ) from error
        serve([self._shown(path) for path in self._paths], self.host, self.port, _say, not self.no_browser)

    @property
    def _paths(self) -> list[Path]:
        return [path for path in (self.model, self.other) if path is not None]

    def _shown(self, path: Path) -> Shown:
        from timelike.explore.colours import read_columns
        from timelike.explore.shown_model import Shown
        from timelike.graphs.digraph import DiGraph
        from timelike.training.replay import Replay

        fitted = load(path, "no known edges are shown; --graph names them")
        embedding, known = fitted.embedding, fitted.known
        if embedding.members > 1:
            note(
                f"{path} has {embedding.members} members; the first is shown, `timelike predict` has the mean"
            )
        if not len(embedding.points):
            raise ValueError(f"{path} has no nodes; there is nothing to explore")
        if self.graph is not None:
            pairs = self.reading.pairs(self.graph, len(embedding.points), embedding.names)
            known = DiGraph.from_arrays(pairs[:, 0], pairs[:, 1], len(embedding.points), embedding.names)
        columns = () if self.nodes is None else tuple(read_columns(self.nodes, embedding))
        return Shown(path.absolute().name, embedding, known, columns, Replay.load(path, embedding))


def _say(address: str) -> None:
    print(f"{address}\n(Ctrl-C ends it)" if sys.stdout.isatty() else address, flush=True)
