"""`timelike update`: learn new edges and nodes of a graph without training anew."""

from __future__ import annotations

import dataclasses
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

import timelike as tl
from timelike._util.remote_files import url_of
from timelike.cli.options import Count, File, Flag, Json, Log, optional
from timelike.cli.printing import note, print_json, showing, shown, typed
from timelike.cli.reading_options import TimedOptions
from timelike.cli.remote_models import local_model
from timelike.cli.saved_models import Loading, LoadingOptions, ModelFolder, beside, keeping

if TYPE_CHECKING:
    from timelike.cli.saved_models import Fitted
    from timelike.estimator.updating import Updated


@dataclasses.dataclass(frozen=True)
class Update:
    """Learn new edges and forget removed ones, without training anew.

    New nodes get a place among the old ones. Old nodes that gained or lost edges move a little, all others
    stay: the summary says how far. Predictions count the new edges as known.

    Example: timelike update model new-edges.tsv
    """

    model: ModelFolder

    edges: Annotated[
        str | None,
        tyro.conf.Positional,
        tyro.conf.arg(metavar="EDGES", help="New edges, as in `timelike fit`.", help_behavior_hint=""),
    ] = None

    removed: Annotated[str | None, optional("FILE")] = None
    """Edges that are gone, a file of pairs."""

    out: File = None
    """Model folder to write; default: MODEL is replaced."""

    epochs: Count = None
    """Passes over the new edges, and over a few old ones of the same nodes; default: 12."""

    drift: float = 0.5
    """Farthest that an old node may move if all its edges are new, as a share of the spread of the points."""

    resume: Flag = False
    """Continue an interrupted update from the folder MODEL.checkpoint."""

    checkpoint_seconds: float = 60.0
    """Seconds between checkpoints."""

    log: Log = None

    json: Json = False

    loading: Loading = dataclasses.field(default_factory=LoadingOptions)

    reading: tyro.conf.OmitArgPrefixes[TimedOptions] = dataclasses.field(default_factory=TimedOptions)

    def run(self) -> None:
        """Load, update, save, and print a summary."""
        from timelike._util.checks import positive_number
        from timelike.embedding import model_folder

        positive_number("checkpoint_seconds", self.checkpoint_seconds, finite=False)
        if self.edges is None and self.removed is None:
            raise ValueError("there is nothing to update; name a file of new edges, --removed FILE, or both")
        out = self.out or self.model
        if (url := url_of(out)) is not None:
            with showing(url) as stands, local_model(out, self.resume) as local:
                stands(local)
                self._run(local)
        else:
            if self.out is not None:
                model_folder.check_free(out, "--out")
            self._run(out)

    def _run(self, out: Path) -> None:
        start = time.monotonic()
        fitted = self.loading.load(self.model, "")
        if fitted.trained_on is None:
            raise ValueError(
                f"{self.model} holds no training edges; only a model that `fit` wrote can be updated"
            )
        with keeping(out, self.resume):
            found = self._updated(fitted, beside(out) / "update.safetensors")
            _save(found, out)
            shutil.rmtree(beside(out), ignore_errors=True)
        self._print(found, out, time.monotonic() - start)

    def _updated(self, fitted: Fitted, checkpoint: Path) -> Updated:
        from timelike.estimator.updating import update

        embedding, known = fitted.embedding, fitted.trained_on
        assert known is not None
        edges = None if self.edges is None else self.reading.graph(self.edges)
        removed = None
        if self.removed is not None:
            removed = self.reading.pairs(self.removed, len(embedding.points), embedding.names)
        every = tl.Checkpointing(checkpoint, None, self.checkpoint_seconds)
        how: dict[str, Any] = {"epochs": self.epochs, "drift": self.drift, "checkpoint": every}
        try:
            return update(embedding, known, fitted.joint, edges, removed, **how)
        except tl.InterruptedTraining as stop:
            raise KeyboardInterrupt(f"{stop} (with --resume)") from None

    def _print(self, found: Updated, out: Path, seconds: float) -> None:
        from timelike.estimator.updating import MUCH, growth

        record, graph = found.embedding.info["updates"][-1], found.trained_on.graph
        changed = growth(found.embedding.info, graph)
        summary = {
            "model": shown(out),
            **record,
            "total_nodes": graph.num_nodes,
            "total_edges": graph.num_edges,
            "updates": len(found.embedding.info["updates"]),
            "changed_since_fit": round(changed, 4),
        }
        if changed > MUCH:
            note(f"updates changed {changed:.0%} of the edges since the fit; `timelike fit` would do better")
        if self.json:
            print_json({**summary, "seconds": round(seconds, 1), "version": tl.__version__})
            return
        known = f" ({record['known_already']:,} more were known)" if record["known_already"] else ""
        gone = f" ({record['unknown_removed']:,} more were no edges)" if record["unknown_removed"] else ""
        print(f"{shown(out)}: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges, in {seconds:.1f} s")
        print(f"new            {record['edges']:,} edges{known}, {record['nodes']:,} nodes")
        print(f"removed        {record['removed']:,} edges{gone}")
        moved = f"{record['moved_nodes']:,} old nodes moved, by {record['median_drift']:.2g} of the spread of"
        print(f"drift          {moved} all points (median), at most {record['largest_drift']:.2g}")
        print(f"next           timelike predict {typed(out)} --all --top 20")


def _save(found: Updated, out: Path) -> None:
    from timelike.embedding import model_folder
    from timelike.evidence import joint_file

    joint, more = found.joint, {}
    if joint is not None:
        more[model_folder.EVIDENCE] = lambda file: joint_file.save(joint, file)
    if (out / model_folder.REPLAY).exists():
        note(f"the replay in {out} ends before the update; it is left out")
    model_folder.save(found.embedding, out, found.trained_on, more)
