"""`timelike fit`: from edges to a model."""

from __future__ import annotations

import dataclasses
import shutil
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from timelike._util.choices import Geometry, Preset
from timelike._version import __version__
from timelike.cli.checkpoint_folder import beside, keeping
from timelike.cli.fit_summary import result, show
from timelike.cli.options import MINUTES, ManyOptions, TrainingOptions, chosen, optional
from timelike.cli.own_manifolds import OwnManifold, own_manifold
from timelike.cli.printing import note, print_json
from timelike.cli.reading_options import Edges, TimedOptions

if TYPE_CHECKING:
    from timelike.estimator.fit_plan import FitPlan
    from timelike.estimator.settings import Settings
    from timelike.estimator.spacetime_embedding import SpacetimeEmbedding
    from timelike.graphs.digraph import DiGraph
    from timelike.io.edge_shards import AnyGraph


@dataclasses.dataclass(frozen=True)
class Fit:
    """Embed a directed graph in a spacetime and save the model.

    Example: timelike fit edges.tsv --out model
    """

    edges: Edges
    """An edge file (TSV, CSV, Parquet, GraphML, …), `-` for standard input, or a data set: dream5:ecoli."""

    out: Annotated[Path, tyro.conf.arg(metavar="MODEL")]
    """The model folder to write. A model that is there is replaced; any other folder is left alone."""

    geometry: Literal["auto"] | Geometry = "auto"
    """The spacetime; auto tries those that suit the graph and keeps the best."""

    manifold: OwnManifold = None
    """A manifold of your own instead: a class in a module that Python can import, built with --dim."""

    preset: Annotated[Preset | None, chosen(Preset)] = None
    """Settings found for this kind of graph. Explicit options override the preset."""

    settings: Annotated[Path | None, optional("FILE")] = None
    """Settings from a file that `timelike tune` wrote. Explicit options override them."""

    tune: bool = False
    """Search for settings first, starting from those."""

    budget: Annotated[float | None, optional("FLOAT")] = None
    """Minutes to search; default: 5."""

    valid: Annotated[str | None, optional("FILE")] = None
    """Validation edges, a file or a data set. They choose the epoch and calibrate the probabilities; the
    model
    does not learn them, except with --refit yes."""

    valid_fraction: Annotated[float | None, optional("FLOAT")] = None
    """The share of EDGES to hold out for validation; default: 0.1 without --valid."""

    refit: Annotated[Literal["yes", "no"] | None, optional("{yes,no}")] = None
    """Whether to train once more at the end, with the validation edges; default: yes if they were held out of
    EDGES, and EDGES are at most a million."""

    members: int = 1
    """Train an ensemble of this size: predictions are the mean of its members and have a spread."""

    plan: bool = False
    """Print what the fit would do, and why, without training; nothing is written."""

    resume: bool = False
    """Continue an interrupted run from the folder MODEL.checkpoint."""

    snapshots: Annotated[int | None, optional("N")] = None
    """Train once more at the end and keep N epochs with the model, for the replay of `timelike explore`."""

    stream: bool = False
    """Keep the edges in files beside the checkpoint and stream them: for graphs larger than memory."""

    json: bool = False
    """Print the result as JSON."""

    training: tyro.conf.OmitArgPrefixes[TrainingOptions] = dataclasses.field(default_factory=TrainingOptions)

    many: tyro.conf.OmitArgPrefixes[ManyOptions] = dataclasses.field(default_factory=ManyOptions)

    reading: tyro.conf.OmitArgPrefixes[TimedOptions] = dataclasses.field(default_factory=TimedOptions)

    def run(self) -> None:
        """Read, train, save, and print a summary."""
        from timelike.embedding import model_folder

        self._check()
        estimator = self.estimator()
        model_folder.check_free(self.out, "--out")
        place = self.many.place
        if self.stream and (place is not None or self.many.ray is not None):
            raise ValueError("--stream runs in one process; leave out the options for many processes")
        if place is not None or self.many.ray is not None:
            from timelike.cli.fit_processes_command import fit_on_ray, watch_fit

            fit_on_ray(self) if place is None else watch_fit(self, place)
            return
        start = time.monotonic()
        if self.plan and not self.stream:
            graph = self.reading.graph(self.edges)
            self._print_plan(estimator.plan(graph, valid=self.read_valid(graph)))
            return
        with self.keeping():
            data: AnyGraph = self._shards() if self.stream else self.reading.graph(self.edges)
            plan = self._resolve(estimator, data)
            if plan is None:
                return
            estimator.save(self.out)
            if self.snapshots is not None:
                self._keep_replay(estimator)
            shutil.rmtree(self.checkpoints, ignore_errors=True)
        self.say(estimator, start)

    def _check(self) -> None:
        """Reject contradictory options before anything is read."""
        pairs = {
            ("--valid", "--valid-fraction"): self.valid is not None and self.valid_fraction is not None,
            ("--valid", "--time"): self.valid is not None and self.reading.time is not None,
            ("--preset", "--settings"): self.preset is not None and self.settings is not None,
            ("--manifold", "--geometry"): self.manifold is not None and self.geometry != "auto",
        }
        others = {
            "--tune": self.tune,
            "--valid": self.valid is not None,
            "--snapshots": self.snapshots is not None,
            "--time": self.reading.time is not None,
            "--nodes": self.reading.nodes is not None,
            "--seeds": self.training.seeds > 1,
            "--members": self.members > 1,
            "--refit yes": self.refit == "yes",
        }
        pairs |= {("--stream", name): self.stream and given for name, given in others.items()}
        for (first, second), given in pairs.items():
            if given:
                raise ValueError(f"{first} cannot be combined with {second}")
        if self.budget is not None and not self.tune:
            raise ValueError("--budget limits a search; add --tune, or leave it out")
        if self.snapshots is not None and self.snapshots < 2:
            raise ValueError(f"--snapshots is {self.snapshots}; it must be ≥ 2")
        if self.stream and not Path(self.edges).is_file():
            raise FileNotFoundError(f"{self.edges}: no such file; --stream reads a file")

    def estimator(self) -> SpacetimeEmbedding:
        """The estimator that the options describe, not fitted yet."""
        from timelike.estimator.spacetime_embedding import SpacetimeEmbedding

        geometry: Any = self.geometry
        if self.manifold is not None:
            geometry = own_manifold(self.manifold)(10 if self.training.dim is None else self.training.dim)
        options = self.training.options(
            geometry,
            settings=self._settings(),
            members=self.members,
            valid_fraction=0.1 if self.valid_fraction is None else self.valid_fraction,
            refit=None if self.refit is None else self.refit == "yes",
            **({} if self.manifold is None else {"dim": None}),
        )
        return SpacetimeEmbedding(**{f.name: getattr(options, f.name) for f in dataclasses.fields(options)})

    def _settings(self) -> Settings | None:
        """The preset or the settings file, parsed once."""
        from timelike.estimator.settings import Settings

        source = self.preset or self.settings
        return None if source is None else Settings.load(source)

    def _shards(self) -> AnyGraph:
        """The edges in files beside the checkpoint, written once."""
        from timelike.io.edge_shards import EdgeShards

        folder = self.checkpoints / "edges" / "shards"  # the folder of checkpoints itself is locked
        folder.parent.mkdir(exist_ok=True)
        if not folder.exists():
            fraction = 0.1 if self.valid_fraction is None else self.valid_fraction
            options = {"seed": self.training.seed, "skip_bad_rows": self.reading.skip_bad_rows}
            EdgeShards.write(self.edges, folder, hold_out=fraction, **options, **self.reading.given)
        return EdgeShards(folder)

    def _resolve(self, estimator: SpacetimeEmbedding, data: Any) -> FitPlan | None:
        """Plan and train, with a checkpoint beside the model; None if only the plan was asked for."""
        from timelike.training.checkpoint import Checkpointing
        from timelike.training.training_loop import InterruptedTraining

        valid = self.read_valid(data)
        if self.tune:
            estimator.set_params(settings=self._tuned(data, valid, estimator.valid_fraction))
        plan = estimator.plan(data, valid=valid)
        if self.plan:
            self._print_plan(plan)
            shutil.rmtree(self.checkpoints, ignore_errors=True)
            return None
        _hint(plan)
        every = self.many.checkpoint_seconds
        estimator.set_params(checkpoint=Checkpointing(self.checkpoints / "run.safetensors", None, every))
        try:
            estimator.carry_out(plan)
        except InterruptedTraining as stop:
            raise KeyboardInterrupt(f"{stop} (with --resume)") from None
        except KeyboardInterrupt:
            kept = "; --resume continues it" if any(self.checkpoints.iterdir()) else ""
            raise KeyboardInterrupt(f"interrupted{kept}") from None
        return plan

    def _print_plan(self, plan: FitPlan) -> None:
        print_json(plan.to_dict()) if self.json else print(plan)

    def say(self, estimator: SpacetimeEmbedding, start: float) -> None:
        """Print a summary of the model, with the seconds since `start`."""
        plan = estimator.plan_
        graph = plan.graph if estimator.trained_on_ is None else estimator.graph_
        summary = result(self.out, estimator.embedding_, graph, plan.valid)
        if self.json:
            print_json({**summary, "seconds": round(time.monotonic() - start, 1), "version": __version__})
        else:
            show(summary)

    @property
    def checkpoints(self) -> Path:
        """The folder for checkpoints, beside the model."""
        return beside(self.out)

    def keeping(self) -> AbstractContextManager[None]:
        """Hold that folder for this run."""
        return keeping(self.out, self.resume)

    def read_valid(self, graph: Any) -> DiGraph | None:
        """Validation edges, if a file names some."""
        file = self.valid
        if file is None:
            return None
        from timelike.estimator.inputs import said_of_validation
        from timelike.graphs.digraph import DiGraph

        edges = self.reading.pairs(file, graph.num_nodes, graph.names)
        for line in said_of_validation(graph, edges):
            note(f"{file}: {line}")
        return DiGraph.from_arrays(edges[:, 0], edges[:, 1], graph.num_nodes, graph.names)

    def _keep_replay(self, estimator: SpacetimeEmbedding) -> None:
        from timelike.training.replay import record

        assert self.snapshots is not None
        assert estimator.trained_on_ is not None
        replay = record(estimator.embedding_, estimator.trained_on_, self.snapshots)
        replay.save(self.out)
        if not replay.ends_at(estimator.embedding_):
            note("--snapshots repeated the run, and rounding made it end slightly differently")

    def _tuned(self, graph: DiGraph, valid: DiGraph | None, fraction: float) -> Settings:
        """The settings that a search finds; its journal lies beside the checkpoint."""
        from timelike.estimator.tuning import tune

        searched = ("likelihood", "epochs", "batch_size", "learning_rate", "negatives")
        fixed = [name for name in searched if getattr(self.training, name) is not None]
        if fixed or self.geometry != "auto" or self.manifold is not None:
            wrong = (fixed or ["geometry" if self.manifold is None else "manifold"])[0].replace("_", "-")
            raise ValueError(f"--tune chooses --{wrong}; leave it out, or put it into a file for --settings")
        return tune(
            graph,
            self._settings(),
            dim=self.training.dim,
            budget=MINUTES if self.budget is None else self.budget,
            seed=self.training.seed,
            valid=valid,
            valid_fraction=fraction,
            journal=self.checkpoints / "search.json",
        ).settings


def _hint(plan: FitPlan) -> None:
    """Say so if the graph suggests another comparison than with any two nodes."""
    import numpy as np

    graph: Any = plan.graph
    if (
        plan.valid_negatives not in ("active_source", "active_target")
        or "suit" not in plan.reasons["validation"]
    ):
        return
    outgoing = plan.valid_negatives == "active_source"
    count = len(np.unique(graph.sources if outgoing else graph.targets))
    ends, learned = (
        ("outgoing", "which targets each source has, not which nodes are sources")
        if outgoing
        else ("incoming", "which sources each target has, not which nodes are targets")
    )
    note(
        f"{count:,} of {graph.num_nodes:,} nodes have {ends} edges: the model learns {learned}; "
        "--preset general compares edges with any two nodes"
    )
