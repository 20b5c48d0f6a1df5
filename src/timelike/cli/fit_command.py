"""`timelike fit`: train a model on edges."""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

import timelike as tl
from timelike._util.choices import Evidence, Geometry, Preset
from timelike._util.remote_files import url_of
from timelike.cli.evidence_options import EvidenceOptions
from timelike.cli.fit_checks import UNNAMED, check_fit
from timelike.cli.fit_summary import joint_result, note_few_ends, result, show
from timelike.cli.label_columns import read_labels
from timelike.cli.options import (
    MINUTES,
    Count,
    File,
    Flag,
    Json,
    Log,
    ManyOptions,
    Number,
    TrainingOptions,
    chosen,
    optional,
)
from timelike.cli.printing import note, print_json, showing
from timelike.cli.reading_options import Edges, TimedOptions, source_of
from timelike.cli.remote_models import local_model
from timelike.cli.saved_models import OwnManifold, beside, keeping, own_manifold
from timelike.cli.split_files import validation_of

if TYPE_CHECKING:
    from timelike.estimator.fit_plan import FitPlan
    from timelike.io.edge_shards import AnyGraph


@dataclasses.dataclass(frozen=True)
class Fit:
    """Embed a directed graph in a spacetime and save the model.

    Example: timelike fit edges.tsv --out model
    """

    edges: Edges

    out: Annotated[Path, tyro.conf.arg(metavar="MODEL", help_behavior_hint="(required without --plan)")] = (
        UNNAMED
    )
    """Model folder to write. An existing model is replaced; any other folder is left alone."""

    geometry: Literal["auto"] | Geometry = "auto"
    """The spacetime. auto tries those that suit the graph; validation picks the best."""

    manifold: OwnManifold = None
    """Your own manifold class, from a module that Python can import; it is built with --dim."""

    preset: Annotated[Preset | None, chosen(Preset)] = None
    """Settings for a kind of graph. Explicit options override the preset."""

    settings: File = None
    """Settings from a file that `timelike tune` wrote. Explicit options override them."""

    tune: Flag = False
    """Search for settings first, starting from the preset or the settings file."""

    budget: Number = None
    """Minutes for --tune to search; default: 5."""

    valid: Annotated[str | None, optional("FILE")] = None
    """Validation edges, a file or a data set: they choose the epoch and calibrate the probabilities."""

    valid_fraction: Number = None
    """Fraction of EDGES to hold out for validation; default: 0.1 without --valid."""

    refit: Annotated[Literal["yes", "no"] | None, optional("{yes,no}")] = None
    """Train again with the validation edges; default: yes without --valid, up to a million edges."""

    members: int = 1
    """Number of ensemble members. Predictions are the mean over the members and come with a spread."""

    plan: Flag = False
    """Print what the fit would do, and why. Train nothing and write nothing."""

    baselines: str = "untrained"
    """Simple methods to score on the validation pairs: untrained, all, none, or names separated by commas."""

    evidence: Evidence = "structure"
    """Evidence beside the geometry: structure (paths, degrees, …) predicts best; none is geometry alone."""

    resume: Flag = False
    """Continue an interrupted run from the folder MODEL.checkpoint."""

    snapshots: Annotated[int | None, optional("N")] = None
    """Train once more at the end and save N epochs with the model, for the replay of `timelike explore`."""

    stream: Flag = False
    """Stream the edges from files beside the checkpoint: for graphs larger than memory."""

    log: Log = None

    partitions: Count = None
    """Keep the points on disk, in this many partitions of the nodes, two at a time in memory."""

    json: Json = False

    outside: tyro.conf.OmitArgPrefixes[EvidenceOptions] = dataclasses.field(default_factory=EvidenceOptions)

    training: tyro.conf.OmitArgPrefixes[TrainingOptions] = dataclasses.field(default_factory=TrainingOptions)

    many: tyro.conf.OmitArgPrefixes[ManyOptions] = dataclasses.field(default_factory=ManyOptions)

    reading: tyro.conf.OmitArgPrefixes[TimedOptions] = dataclasses.field(default_factory=TimedOptions)

    def run(self) -> None:
        """Read, train, save, and print a summary."""
        from timelike.embedding import model_folder

        check_fit(self)
        estimator = self.estimator()
        place = self.many.place
        if (url := url_of(self.out)) is not None:
            if place is not None or self.many.ray is not None:
                raise ValueError(f"--out is {url}; many processes need a folder that all of them see")
            with showing(url) as stands, local_model(self.out, self.resume) as local:
                stands(local)
                dataclasses.replace(self, out=local).run()
            return
        if self.out != UNNAMED:
            model_folder.check_free(self.out, "--out")
        if place is not None or self.many.ray is not None:
            from timelike.cli.fit_processes_command import fit_on_ray, watch_fit

            fit_on_ray(self) if place is None else watch_fit(self, place)
            return
        if self.partitions is not None:
            from timelike.cli.fit_processes_command import fit_partitions

            fit_partitions(self)
            return
        if self.plan:
            self._print_plan(estimator)
            return
        start = time.monotonic()
        with keeping(self.out, self.resume):
            labels = read_labels(self.edges, self.outside.sign, self.outside.type)
            self._train(estimator, self._read(beside(self.out) / "edges" / "shards"))
            estimator.learn_labels(labels)
            estimator.save(self.out)
            if self.snapshots is not None:
                self._keep_replay(estimator)
            shutil.rmtree(beside(self.out), ignore_errors=True)
        self.print_summary(estimator, start)

    def estimator(self) -> tl.SpacetimeEmbedding:
        """The estimator that the options describe, not fitted yet."""
        geometry: Any = self.geometry
        source = self.preset or self.settings
        if self.manifold is not None:
            geometry = own_manifold(self.manifold)(10 if self.training.dim is None else self.training.dim)
        options = self.training.options(
            geometry,
            settings=None if source is None else tl.Settings.load(source),
            members=self.members,
            baselines=self.baselines,
            evidence=self.evidence,
            valid_fraction=self._fraction,
            refit=None if self.refit is None else self.refit == "yes",
            **({} if self.manifold is None else {"dim": None}),
        )
        return tl.SpacetimeEmbedding(
            **{f.name: getattr(options, f.name) for f in dataclasses.fields(options)}
        )

    @property
    def _fraction(self) -> float:
        return 0.1 if self.valid_fraction is None else self.valid_fraction

    def _read(self, shards: Path) -> AnyGraph:
        """The graph, or with --stream its edges in the folder `shards`, which is written once."""
        if not self.stream:
            return self.reading.graph(source_of(self.edges))
        if not shards.exists():
            shards.parent.mkdir(exist_ok=True)  # the folder of checkpoints itself is locked
            options = {"seed": self.training.seed, "skip_bad_rows": self.reading.skip_bad_rows}
            options |= self.reading.read_options
            tl.EdgeShards.write(source_of(self.edges), shards, hold_out=self._fraction, **options)
        return tl.EdgeShards(shards)

    def _informed(self, estimator: tl.SpacetimeEmbedding, graph: AnyGraph) -> AnyGraph:
        """The graph with nodes that only --features knows; the estimator gets the evidence of the files."""
        from timelike.estimator.inputs import with_feature_nodes

        if outside := self.outside.given(graph):
            estimator.set_params(evidence=[self.evidence, *outside])
        return with_feature_nodes(graph, outside)

    def _print_plan(self, estimator: tl.SpacetimeEmbedding) -> None:
        """Print the plan, as JSON in the form that a saved model keeps; files for --stream are temporary."""
        from timelike.embedding.plain_json import to_plain

        near = Path.cwd() if self.out == UNNAMED else self.out.absolute().parent  # on the disk of the fit
        with tempfile.TemporaryDirectory(dir=near) if self.stream else nullcontext("") as folder:
            graph = self._informed(estimator, self._read(Path(folder, "shards")))
            plan = self._planned(estimator, graph, self.read_valid(graph))
        print_json(to_plain(plan.to_dict(), "plan")) if self.json else print(plan)

    def _planned(
        self, estimator: tl.SpacetimeEmbedding, graph: AnyGraph, valid: tl.DiGraph | tl.Split | None
    ) -> FitPlan:
        """The plan; a note says if the graph, not the user, chose what the model learns."""
        from timelike.estimator.settings import as_settings

        plan = estimator.plan(graph, valid=valid)
        if as_settings(estimator.settings).valid_negatives is None:
            note_few_ends(plan)
        return plan

    def _train(self, estimator: tl.SpacetimeEmbedding, graph: AnyGraph) -> None:
        """Plan and train, with checkpoints beside the model."""
        graph = self._informed(estimator, graph)
        valid = self.read_valid(graph)
        if self.tune:
            estimator.set_params(settings=self._tuned(graph, valid, estimator.settings))
        plan = self._planned(estimator, graph, valid)
        every = self.many.checkpoint_seconds
        estimator.set_params(checkpoint=tl.Checkpointing(beside(self.out) / "run.safetensors", None, every))
        try:
            estimator.carry_out(plan)
        except tl.InterruptedTraining as stop:
            raise KeyboardInterrupt(f"{stop} (with --resume)") from None
        except KeyboardInterrupt:
            hint = "; --resume continues the run" if any(beside(self.out).iterdir()) else ""
            raise KeyboardInterrupt(f"interrupted{hint}") from None

    def print_summary(self, estimator: tl.SpacetimeEmbedding, start: float) -> None:
        """Print a summary of the model, with the seconds since `start`."""
        from timelike.estimator.baseline_names import beaten

        plan = estimator.plan_
        graph = plan.graph if estimator.trained_on_ is None else estimator.graph_
        summary = result(self.out, estimator.embedding_, graph, plan.valid) | joint_result(estimator)
        if self.json:
            print_json({**summary, "seconds": round(time.monotonic() - start, 1), "version": tl.__version__})
        else:
            show(summary)
        if not summary["baselines"] and self.baselines not in ("untrained", "none"):
            note("--baselines: there are no validation pairs to score them on")
        alone = summary.get("geometry_valid_ap")
        if line := beaten(summary["valid_ap"], summary["baselines"], "the validation pairs", alone):
            note(line)

    def read_valid(self, graph: Any) -> tl.DiGraph | tl.Split | None:
        """The validation edges of --valid, if any; those of a split come with its negatives."""
        return None if self.valid is None else validation_of(self.valid, self.reading, graph)

    def _keep_replay(self, estimator: tl.SpacetimeEmbedding) -> None:
        from timelike.training.replay import record

        assert self.snapshots is not None
        if not estimator.embedding_.history:
            note("--snapshots: the points were read off the edges, so there are no epochs to replay")
            return
        assert estimator.trained_on_ is not None
        replay = record(estimator.embedding_, estimator.trained_on_, self.snapshots)
        replay.save(self.out)
        if not replay.ends_at(estimator.embedding_):
            note("--snapshots trained again, and rounding made the replay end slightly differently")

    def _tuned(self, graph: Any, valid: tl.DiGraph | tl.Split | None, start: Any) -> tl.Settings:
        """The settings that a search finds; its journal is beside the checkpoint."""
        searched = ("likelihood", "epochs", "batch_size", "learning_rate", "negatives")
        fixed = [name for name in searched if getattr(self.training, name) is not None]
        fixed += ["geometry"] * (self.geometry != "auto") + ["manifold"] * (self.manifold is not None)
        if fixed:
            option = fixed[0].replace("_", "-")
            raise ValueError(f"--tune chooses --{option}; remove it, or set it in a file for --settings")
        return tl.tune(
            graph,
            start,
            dim=self.training.dim,
            budget=MINUTES if self.budget is None else self.budget,
            seed=self.training.seed,
            valid=valid,
            valid_fraction=self._fraction,
            journal=beside(self.out) / "search.json",
        ).settings
