"""`timelike fit`: from edges to a model."""

from __future__ import annotations

import dataclasses
import shutil
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import tyro

from timelike._version import __version__
from timelike.cli.checkpoint_folder import beside, keeping
from timelike.cli.fit_streamed import fit_streamed
from timelike.cli.fit_summary import result, show
from timelike.cli.options import MINUTES, Geometry, ManyOptions, Preset, TrainingOptions, optional
from timelike.cli.printing import note, print_json
from timelike.cli.reading_options import Edges, TimedOptions

if TYPE_CHECKING:
    from timelike.estimator.settings import Settings
    from timelike.estimator.spacetime_embedding import SpacetimeEmbedding
    from timelike.graphs.digraph import DiGraph


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

    budget: Annotated[float | None, optional("FLOAT")] = None
    """For how many minutes to search; 5 unless given."""

    valid: Annotated[str | None, optional("FILE")] = None
    """Edges to validate on, a file or a data set: they choose the epoch and calibrate the probabilities,
    nothing is learned from them, unless with --refit."""

    valid_fraction: Annotated[float | None, optional("FLOAT")] = None
    """The share of EDGES to hold out for that; 0.1 if no --valid is given."""

    refit: Annotated[Literal["yes", "no"] | None, optional("{yes,no}")] = None
    """Whether to train again in the end, with the validation edges too; unless given: if they were held out
    of EDGES, and these are not more than a million."""

    members: int = 1
    """Train so many models, with other seeds: predictions are their mean, and have a spread."""

    resume: bool = False
    """Continue an interrupted run, kept in the folder MODEL.checkpoint until it is done."""

    snapshots: Annotated[int | None, optional("N")] = None
    """Train once more in the end, and keep N epochs with the model, for the replay of `timelike explore`."""

    stream: bool = False
    """Keep the edges in files beside the checkpoint and stream them: for more than memory holds."""

    json: bool = False
    """Print the result as JSON."""

    training: tyro.conf.OmitArgPrefixes[TrainingOptions] = dataclasses.field(default_factory=TrainingOptions)

    many: tyro.conf.OmitArgPrefixes[ManyOptions] = dataclasses.field(default_factory=ManyOptions)

    reading: tyro.conf.OmitArgPrefixes[TimedOptions] = dataclasses.field(default_factory=TimedOptions)

    def run(self) -> None:
        """Read, train, save, and say what came of it."""
        from timelike._util.checks import share, whole_number
        from timelike.embedding import model_folder
        from timelike.estimator.settings import as_settings

        if self.valid is not None and self.valid_fraction is not None:
            raise ValueError("--valid and --valid-fraction exclude each other; leave one out")
        if self.valid is not None and self.reading.time is not None:
            raise ValueError("--valid and --time exclude each other; leave one out")
        if self.preset is not None and self.settings is not None:
            raise ValueError("--preset and --settings exclude each other; leave one out")
        if self.budget is not None and not self.tune:
            raise ValueError("--budget is for a search; give --tune too, or leave it out")
        if self.snapshots is not None and self.snapshots < 2:
            raise ValueError(f"--snapshots is {self.snapshots}; it must be ≥ 2")
        self.training.check()
        whole_number("members", self.members, 1)
        share("valid_fraction", self.valid_fraction or 0)
        as_settings(self._start)
        model_folder.check_free(self.out, "--out")
        place = self.many.place
        if self.stream and (place is not None or self.many.ray is not None):
            raise ValueError("--stream is for one process; leave it out, or the options for many")
        if place is not None or self.many.ray is not None:
            from timelike.cli.fit_processes_command import fit_on_ray, watch_fit

            fit_on_ray(self) if place is None else watch_fit(self, place)
            return
        start = time.monotonic()
        if self.stream:
            with self.keeping():
                found = fit_streamed(self, self.checkpoints)
                shutil.rmtree(self.checkpoints, ignore_errors=True)
            self._say(found, start)
            return
        graph = self.reading.graph(self.edges)
        valid = self.read_valid(graph)
        self._hint(graph)
        with self.keeping():
            estimator = self._train(graph, valid)
            estimator.save(self.out)
            if self.snapshots is not None:
                self._keep_replay(estimator)
            shutil.rmtree(self.checkpoints, ignore_errors=True)
        self.say(estimator, start)

    def _hint(self, graph: DiGraph) -> None:
        """Say what is asked where the graph suggests another question than about any two nodes."""
        import numpy as np

        from timelike.estimator.asked import protocol_of
        from timelike.estimator.settings import as_settings

        settings = as_settings(self._start)
        protocol = protocol_of(settings, self.training.negatives, graph)
        if settings.protocol is not None or protocol == "uniform":
            return
        inner = protocol == "inner"
        few = len(np.unique(graph.sources if inner else graph.targets))
        have, learned = (
            ("have edges to others", "which nodes each of them points to")
            if inner
            else ("have edges from others", "which nodes point to each of them")
        )
        note(
            f"{few:,} of {graph.num_nodes:,} nodes {have}: learned is {learned}, not who they are; "
            "--preset general asks about any two nodes"
        )

    def say(self, estimator: SpacetimeEmbedding, start: float) -> None:
        """Print what is worth knowing about the model, and how long it took from `start` on."""
        self._say(result(self.out, estimator.embedding_, estimator.graph_, estimator.valid_), start)

    def _say(self, found: dict[str, Any], start: float) -> None:
        if self.json:
            print_json({**found, "seconds": round(time.monotonic() - start, 1), "version": __version__})
        else:
            show(found)

    @property
    def checkpoints(self) -> Path:
        """The folder for checkpoints, beside the model."""
        return beside(self.out)

    def keeping(self) -> AbstractContextManager[None]:
        """Have that folder for this run."""
        return keeping(self.out, self.resume)

    @property
    def _start(self) -> str | None:
        """The preset or the file of settings."""
        return self.preset or (None if self.settings is None else str(self.settings))

    def read_valid(self, graph: DiGraph) -> DiGraph | None:
        """Validation edges, if some are given."""
        file = self.valid
        if file is None:
            return None
        from timelike.estimator.inputs import said_of_validation
        from timelike.graphs.digraph import DiGraph

        edges = self.reading.pairs(file, graph.num_nodes, graph.names)
        for line in said_of_validation(graph, edges):
            note(f"{file}: {line}")
        return DiGraph.from_arrays(edges[:, 0], edges[:, 1], graph.num_nodes, graph.names)

    def estimator(self) -> SpacetimeEmbedding:
        """What the options ask for, not fitted yet."""
        from timelike.estimator.spacetime_embedding import SpacetimeEmbedding

        fraction = 0.1 if self.valid_fraction is None else self.valid_fraction
        return SpacetimeEmbedding(
            self.geometry,
            settings=self._start,
            valid_fraction=fraction,
            refit=None if self.refit is None else self.refit == "yes",
            members=self.members,
            **self.training.given,
        )

    def _train(self, graph: DiGraph, valid: DiGraph | None) -> SpacetimeEmbedding:
        """Train with a checkpoint beside the model; a signal says how to go on."""
        from timelike.training.checkpoint import Checkpointing
        from timelike.training.training_loop import InterruptedTraining

        estimator = self.estimator()
        if self.tune:
            estimator.set_params(settings=self._tuned(graph, valid, estimator.valid_fraction))
        every = self.many.checkpoint_seconds
        estimator.set_params(checkpoint=Checkpointing(self.checkpoints / "run.safetensors", None, every))
        try:
            return estimator.fit(graph, valid=valid)
        except InterruptedTraining as stop:
            raise KeyboardInterrupt(f"{stop} (with --resume)") from None
        except KeyboardInterrupt:
            kept = "; --resume goes on with what is done" if any(self.checkpoints.iterdir()) else ""
            raise KeyboardInterrupt(f"interrupted{kept}") from None

    def _keep_replay(self, estimator: SpacetimeEmbedding) -> None:
        from timelike.training.replay import record

        assert self.snapshots is not None
        assert estimator.trained_on_ is not None
        replay = record(estimator.embedding_, estimator.trained_on_, self.snapshots)
        replay.save(self.out)
        if not replay.ends_at(estimator.embedding_):
            note("the run was repeated for --snapshots and came out a little otherwise, by rounding")

    def _tuned(self, graph: DiGraph, valid: DiGraph | None, fraction: float) -> Settings:
        """What a search finds; its journal lies beside the checkpoint."""
        from timelike.estimator.tuning import tune

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
            budget=MINUTES if self.budget is None else self.budget,
            seed=self.training.seed,
            valid=valid,
            valid_fraction=fraction,
            journal=self.checkpoints / "search.json",
        ).settings
