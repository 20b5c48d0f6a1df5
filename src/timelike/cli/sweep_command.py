"""`timelike sweep`: many settings and seeds, trained side by side."""

from __future__ import annotations

import dataclasses
import math
import re
import shutil
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

import timelike as tl
from timelike._util.choices import Geometry
from timelike.cli.options import Flag, Json, Log, TrainingOptions, chosen, optional
from timelike.cli.printing import note, print_json
from timelike.cli.reading_options import Edges, TimedOptions, source_of
from timelike.cli.saved_models import beside, keeping

if TYPE_CHECKING:
    from timelike.training.sweeps import Sweep as Found


@dataclasses.dataclass(frozen=True)
class Sweep:
    """Train every combination of settings with every seed side by side; print one TSV row per run.

    Example: timelike sweep edges.tsv --grid tau1=0.1,0.4 alpha=0.05,0.1 --seeds 3 --out best
    """

    edges: Edges

    grid: Annotated[tuple[str, ...], optional("NAME=VALUE,…")] = ()
    """Values of learning_rate, final_rate, anneal, init_scale, clip or a model number (tau1, alpha, …)."""

    geometry: Annotated[Geometry | None, chosen(Geometry)] = None
    """The spacetime; default: the one that suits the graph best."""

    out: Annotated[Path | None, optional("MODEL")] = None
    """Model folder for the best run; default: save no model."""

    resume: Flag = False
    """Continue interrupted runs from the folder MODEL.checkpoint. Needs --out."""

    storage: Annotated[str | None, optional("FILE|URL")] = None
    """Share the runs with other workers through a file that all see, or through postgresql+psycopg://…"""

    valid_fraction: float = 0.1
    """Fraction of the edges to hold out. The best run has the highest validation AP."""

    log: Log = None

    json: Json = False

    training: tyro.conf.OmitArgPrefixes[TrainingOptions] = dataclasses.field(default_factory=TrainingOptions)

    reading: tyro.conf.OmitArgPrefixes[TimedOptions] = dataclasses.field(default_factory=TimedOptions)

    def run(self) -> None:
        """Train, print the table, and save the best model."""
        from timelike.embedding import model_folder
        from timelike.embedding.trained_on import TrainedOn

        grid = _grid(self.grid)
        options = self.training.options(self.geometry or "auto", valid_fraction=self.valid_fraction)
        if self.resume and (self.out is None or self.storage is not None):
            raise ValueError(
                "--resume needs --out and cannot be combined with --storage, which keeps the runs itself"
            )
        if self.out is not None:
            model_folder.check_free(self.out, "--out")
        plan = tl.resolve(self.reading.graph(source_of(self.edges)), options)
        if not plan.trained:
            raise ValueError(f"--geometry is {self.geometry}, which has nothing to train; name another one")
        candidate = plan.trained[0]
        with nullcontext() if self.out is None or self.storage else keeping(self.out, self.resume):
            try:
                runs = self._train(plan, grid)
            except ValueError as error:
                message = re.sub(r"^[A-Z]\w*: ", "", str(error))
                raise ValueError(f"--grid: {message}" if message.split()[0] in grid else error) from None
            best = runs.best if plan.valid is None else runs.best.calibrated(plan.valid)
            if self.out is not None:
                about: dict[str, Any] = {"geometry": candidate.geometry, "reason": plan.reasons["geometry"]}
                about |= {"valid_negatives": plan.valid_negatives, "plan": plan.to_dict()}
                best = dataclasses.replace(best, info={**best.info, **about})
                best.save(self.out, TrainedOn(plan.graph, plan.valid))  # type: ignore[arg-type]
                shutil.rmtree(beside(self.out), ignore_errors=True)
        rows = [{k: v for k, v in row.items() if not k.endswith("test_ap")} for row in runs.rows]
        first = max(rows, key=_merit)
        if self.json:
            out = None if self.out is None else str(self.out)
            print_json({"geometry": candidate.geometry, "best": first, "runs": rows, "model": out})
            return
        print(*rows[0], sep="\t")
        for row in rows:
            print(*(f"{x:.6g}" if isinstance(x, float) else x for x in row.values()), sep="\t")
        settings = ", ".join(f"{name}={first[name]:g}" for name in [*grid, "seed"])
        note(f"best in {candidate.geometry}: {settings}" + (f"; saved to {self.out}" if self.out else ""))

    def _train(self, plan: tl.estimator.FitPlan, grid: dict[str, list[float]]) -> Found:
        """Train all runs: kept in a checkpoint beside --out, or shared with other workers by --storage."""
        from timelike.training.shared_sweep import share
        from timelike.training.sweeps import Sweep as Found

        graph: Any = plan.graph
        work = (graph, plan.trained[0].model, plan.trained[0].config, grid, self.training.seeds)
        if self.storage is not None:
            if plan.valid is None:
                raise ValueError("--storage needs validation to compare runs; valid_fraction must be > 0")
            rows, train_again = share(self.storage, *work, plan.valid)
            return Found(rows, train_again(max(rows, key=_merit)))
        file = None if self.out is None else beside(self.out) / "runs.safetensors"
        try:
            return tl.sweep(*work, valid=plan.valid, checkpoint=file)
        except tl.InterruptedTraining as stop:
            hint = " (with --resume)" if file else "; with --out, --resume could have continued it"
            raise KeyboardInterrupt(f"{stop}{hint}") from None


def _grid(settings: tuple[str, ...]) -> dict[str, list[float]]:
    """Names with their values, from texts like tau1=0.1,0.4."""
    grid: dict[str, list[float]] = {}
    for text in settings:
        name, _, values = text.partition("=")
        if name in grid:
            raise ValueError(f"--grid has {name} twice; list all values of a name at once, like tau1=0.1,0.4")
        try:
            grid[name] = [float(value) for value in values.split(",")]
        except ValueError:
            raise ValueError(f"--grid has {text!r}; it must be like tau1=0.1,0.4") from None
    return grid


def _merit(row: Mapping[str, Any]) -> float:
    from timelike.training.sweeps import merit

    return merit("last" if math.isnan(row["valid_ap"]) else "valid", row)
