"""`timelike fit`: from edges to a model."""

from __future__ import annotations

import dataclasses
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import tyro

from timelike._version import __version__
from timelike.commands.options import Geometry, Preset, TrainingOptions, optional
from timelike.commands.printing import note, print_json
from timelike.commands.reading import Edges, TimedOptions
from timelike.files import locked

if TYPE_CHECKING:
    from timelike.estimator import SpacetimeEmbedding
    from timelike.evaluation import LabelledPairs
    from timelike.graph import DiGraph
    from timelike.settings import Settings


@dataclasses.dataclass(frozen=True)
class Fit:
    """Embed a directed graph in a spacetime and save the model.

    Example: timelike fit edges.tsv --out model
    """

    edges: Edges
    """An edge file (TSV, CSV, Parquet, GraphML, …), `-` for standard input, or a data set: dream5:ecoli."""

    out: Annotated[Path, tyro.conf.arg(metavar="MODEL")]
    """The folder to write; a model that is there is replaced, anything else is not."""

    geometry: Literal["auto"] | Geometry = "auto"
    """The spacetime; auto tries those that suit the graph and keeps the best."""

    preset: Annotated[Preset | None, optional(f"{{{','.join(get_args(Preset))}}}")] = None
    """Settings that were found for such graphs; what is given beside it goes before."""

    settings: Annotated[Path | None, optional("FILE")] = None
    """The same from a file, such as `timelike tune` writes."""

    tune: bool = False
    """Search for settings first, beginning from those."""

    budget: float = 5.0
    """For how many minutes to search."""

    valid: Annotated[str | None, optional("FILE")] = None
    """Edges to validate on, a file or a data set: they choose the epoch and calibrate the probabilities,
    nothing is learned from them, unless with --refit."""

    valid_fraction: Annotated[float | None, optional("FLOAT")] = None
    """The share of EDGES to hold out for that; 0.1 if no --valid is given."""

    refit: Annotated[Literal["yes", "no"] | None, optional("{yes,no}")] = None
    """Whether to train again in the end, with the validation edges too; unless given: if they were held out
    of EDGES, and these are not more than a million."""

    resume: bool = False
    """Continue an interrupted run, kept in the folder MODEL.checkpoint until it is done."""

    snapshots: Annotated[int | None, optional("N")] = None
    """Train once more in the end, and keep N epochs with the model, for the replay of `timelike explore`."""

    json: bool = False
    """Print the result as JSON."""

    training: tyro.conf.OmitArgPrefixes[TrainingOptions] = dataclasses.field(default_factory=TrainingOptions)

    reading: tyro.conf.OmitArgPrefixes[TimedOptions] = dataclasses.field(default_factory=TimedOptions)

    def run(self) -> None:
        """Read, train, save, and say what came of it."""
        from timelike import store
        from timelike.settings import as_settings

        if self.valid is not None and self.valid_fraction is not None:
            raise ValueError("--valid and --valid-fraction exclude each other; leave one out")
        if self.valid is not None and self.reading.time is not None:
            raise ValueError("--valid and --time exclude each other; leave one out")
        if self.preset is not None and self.settings is not None:
            raise ValueError("--preset and --settings exclude each other; leave one out")
        if self.snapshots is not None and self.snapshots < 2:
            raise ValueError(f"--snapshots is {self.snapshots}; it must be ≥ 2")
        as_settings(self._start)
        store.check_free(self.out, "--out")
        start = time.monotonic()
        graph = self.reading.graph(self.edges)
        valid = None if self.valid is None else self._read_valid(graph, self.valid)
        with self._keeping():
            estimator = self._train(graph, valid)
            estimator.save(self.out)
            if self.snapshots is not None:
                self._keep_replay(estimator)
            shutil.rmtree(self._checkpoints, ignore_errors=True)
        found = self._result(estimator)
        if self.json:
            print_json({**found, "seconds": round(time.monotonic() - start, 1), "version": __version__})
        else:
            self._print(found)

    @property
    def _checkpoints(self) -> Path:
        return self.out.absolute().with_name(f"{self.out.absolute().name}.checkpoint")

    @contextmanager
    def _keeping(self) -> Iterator[None]:
        """Have a folder for checkpoints that no other run writes to; it stays if there is something in it."""
        kept = self._checkpoints
        kept.mkdir(exist_ok=True)
        with locked(kept, busy=f"{kept} is in use: another run fits --out; wait for it, or name another"):
            if not self.resume and any(kept.iterdir()):
                note(f"{kept} is of a run that did not end; it is begun again, --resume continues it")
                for left in kept.iterdir():
                    shutil.rmtree(left) if left.is_dir() else left.unlink()
            try:
                yield
            finally:
                if kept.exists() and not any(kept.iterdir()):
                    kept.rmdir()

    @property
    def _start(self) -> str | None:
        """The preset or the file of settings."""
        return self.preset or (None if self.settings is None else str(self.settings))

    def _read_valid(self, graph: DiGraph, file: str) -> LabelledPairs:
        """Validation edges, with drawn non-edges to each."""
        from timelike.given import validation_pairs
        from timelike.settings import as_settings

        edges = self.reading.pairs(file, graph.num_nodes, graph.names)
        protocol = as_settings(self._start).protocol
        pairs, said = validation_pairs(graph, edges, protocol, self.training.seed)
        for line in said:
            note(f"{file}: {line}")
        return pairs

    def _train(self, graph: DiGraph, valid: LabelledPairs | None) -> SpacetimeEmbedding:
        """Train with a checkpoint beside the model; a signal says how to go on."""
        from timelike.checkpoint import Checkpointing
        from timelike.estimator import SpacetimeEmbedding
        from timelike.training import InterruptedTraining

        fraction = 0.1 if self.valid_fraction is None else self.valid_fraction
        settings = self._tuned(graph, valid, fraction) if self.tune else self._start
        estimator = SpacetimeEmbedding(
            self.geometry,
            settings=settings,
            valid_fraction=fraction,
            refit=None if self.refit is None else self.refit == "yes",
            checkpoint=Checkpointing(self._checkpoints / "run.safetensors"),
            **self.training.given,
        )
        try:
            return estimator.fit(graph, valid=valid)
        except InterruptedTraining as stop:
            raise KeyboardInterrupt(f"{stop} (with --resume)") from None
        except KeyboardInterrupt:
            kept = "; --resume goes on with what is done" if any(self._checkpoints.iterdir()) else ""
            raise KeyboardInterrupt(f"interrupted{kept}") from None

    def _keep_replay(self, estimator: SpacetimeEmbedding) -> None:
        from timelike.replay import record

        assert self.snapshots is not None
        assert estimator.trained_on_ is not None
        replay = record(estimator.embedding_, estimator.trained_on_, self.snapshots)
        replay.save(self.out)
        if not replay.ends_at(estimator.embedding_):
            note("the run was repeated for --snapshots and came out a little otherwise, by rounding")

    def _tuned(self, graph: DiGraph, valid: LabelledPairs | None, fraction: float) -> Settings:
        """What a search finds; its journal lies beside the checkpoint."""
        from timelike.tuning import tune

        fixed = {"likelihood", "epochs", "batch_size", "learning_rate", "negatives"} & {*self.training.given}
        if fixed or self.geometry != "auto":
            wrong = min(fixed, default="geometry").replace("_", "-")
            raise ValueError(
                f"--tune chooses --{wrong}; leave that out, or write it to a file for --settings"
            )
        return tune(
            graph,
            self._start,
            dim=self.training.dim,
            budget=self.budget,
            seed=self.training.seed,
            valid=valid,
            valid_fraction=fraction,
            journal=self._checkpoints / "search.json",
        ).settings

    def _result(self, estimator: SpacetimeEmbedding) -> dict[str, Any]:
        """What is worth knowing about the model, as plain values."""
        embedding, graph = estimator.embedding_, estimator.graph_
        info = embedding.info
        return {
            "model": str(self.out),
            "geometry": estimator.geometry_,
            "reason": estimator.reason_,
            "candidates": estimator.candidates_,
            "likelihood": str(embedding.model.likelihood),
            "dim": embedding.model.manifold.dim,
            "nodes": graph.num_nodes,
            "edges": graph.num_edges,
            "valid_edges": 0 if estimator.valid_ is None else len(estimator.valid_.positives),
            "refit": "refit" in info,
            "epochs": len(embedding.history["loss"]),
            "best_epoch": info["best_epoch"],
            "selected_by": info["selected_by"],
            "valid_ap": info.get("valid_ap"),
            "calibration": info.get("calibration"),
        }

    def _print(self, found: dict[str, Any]) -> None:
        learned = f"{self.out}: {found['nodes']:,} nodes, {found['edges']:,} edges learned"
        held = "of them held out for validation before" if found["refit"] else "held out for validation"
        print(f"{learned}, {found['valid_edges']:,} {held}")
        print(f"geometry       {found['reason']}")
        print(f"epoch          {found['best_epoch']} of {found['epochs']} ({found['selected_by']})")
        if found["valid_ap"] is not None:
            print(f"validation AP  {found['valid_ap']:.3f}")
        print(f"probabilities  {found['calibration'] or 'not calibrated: there are no validation edges'}")
        print(f"next           timelike predict {self.out} --all --top 20")
        print(f"               timelike plot {self.out} --out picture.png")
