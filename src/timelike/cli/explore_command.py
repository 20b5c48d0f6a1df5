"""`timelike explore`: a page in the browser that shows a model."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

import timelike as tl
from timelike._util.atomic_files import replacing
from timelike._util.checks import output_path
from timelike.cli.options import File, Flag, optional
from timelike.cli.printing import note
from timelike.cli.reading_options import PairOptions
from timelike.cli.saved_models import Loading, LoadingOptions, ModelFolder

if TYPE_CHECKING:
    from timelike.explore.shown_model import Shown


@dataclasses.dataclass(frozen=True)
class Explore:
    """View a model in the browser: find a node, see its light cone and likely edges, check an edge.

    Example: timelike explore model
    """

    model: ModelFolder

    other: Annotated[Path | None, tyro.conf.Positional, optional("[OTHER]")] = None
    """Second model folder, to compare."""

    graph: Annotated[str | None, optional("EDGES")] = None
    """Known edges, from a file or a data set; default: those that the model was trained on."""

    nodes: File = None
    """Table (TSV, CSV, Parquet) to colour nodes by: first a column of node names, then any other columns."""

    out: Annotated[Path | None, optional("FILE.html")] = None
    """Write a page that contains the model, of at most 20,000 nodes, instead of serving it."""

    host: str = "127.0.0.1"
    """Address to listen at. Any other address than this machine's own requires the token that is printed."""

    port: int = 0
    """Port to listen at; 0 picks a free one."""

    no_browser: Flag = False
    """Print the address without opening a browser."""

    reading: tyro.conf.OmitArgPrefixes[PairOptions] = dataclasses.field(default_factory=PairOptions)

    loading: Loading = dataclasses.field(default_factory=LoadingOptions)

    def run(self) -> None:
        """Serve the page until interrupted, or write it."""
        if self.out is not None:
            output_path("--out", self.out, (".html",))
        elif not 0 <= self.port < 2**16:
            raise ValueError(f"--port is {self.port}; it must be between 0 and {2**16 - 1}")
        models = [self._shown(path) for path in (self.model, self.other) if path is not None]
        if self.out is not None:
            from timelike.explore.page import whole_page

            with replacing(self.out) as part:
                part.write_text(whole_page(models), encoding="utf-8")
            print(self.out)
            return
        try:
            from timelike.explore.server import serve
        except ImportError as error:
            raise ImportError(
                'the explorer needs starlette and uvicorn: pip install "timelike[explore]"'
            ) from error
        serve(models, self.host, self.port, _say, not self.no_browser)

    def _shown(self, path: Path) -> Shown:
        from timelike.explore.colours import read_columns
        from timelike.explore.shown_model import Shown
        from timelike.training.replay import Replay

        fitted = self.loading.load(path, "none are shown; --graph names a file of them")
        embedding, known = fitted.embedding, fitted.known
        if embedding.members > 1 and fitted.joint is None:
            mean = "`timelike predict` uses their mean"
            note(f"{path} has {embedding.members} members; the page shows the first, {mean}")
        if not len(embedding.points):
            raise ValueError(f"{path} has no nodes to explore")
        if self.graph is not None:
            pairs = self.reading.pairs(self.graph, len(embedding.points), embedding.names)
            known = tl.DiGraph.from_arrays(pairs[:, 0], pairs[:, 1], len(embedding.points), embedding.names)
        columns = () if self.nodes is None else tuple(read_columns(self.nodes, embedding))
        joint = None if fitted.joint is None or known is None else fitted.joint.grown(embedding, known)
        labels = tuple(model.grown(known) for model in fitted.labels) if known is not None else ()
        if joint is not None and self.out is not None:
            note(
                f"{path}: a page of its own shows the geometry alone; evidence is counted by the server only"
            )
        return Shown(
            path.absolute().name, embedding, known, columns, Replay.load(path, embedding), joint, labels
        )


def _say(address: str) -> None:
    print(f"{address}\n(Ctrl-C stops the server)" if sys.stdout.isatty() else address, flush=True)
