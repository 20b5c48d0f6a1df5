"""`timelike sweep`: many settings and seeds in one program."""

from __future__ import annotations

import dataclasses
import math
import re
import shutil
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import tyro

from timelike.cli.checkpoint_folder import beside, keeping
from timelike.cli.options import Geometry, TrainingOptions, optional
from timelike.cli.printing import note, print_json
from timelike.cli.reading_options import Edges, TimedOptions

if TYPE_CHECKING:
    from timelike.core.model import Model
    from timelike.engine.config import Config
    from timelike.evaluation.splits import Split
    from timelike.training.sweeps import Sweep as Found


@dataclasses.dataclass(frozen=True)
class Sweep:
    """Train every combination of settings with every seed, side by side; one row each, as TSV.

    Example: timelike sweep edges.tsv --grid tau1=0.1,0.4 alpha=0.05,0.1 --seeds 3 --out best
    """

    edges: Edges
    """An edge file (TSV, CSV, Parquet, GraphML, …), `-` for standard input, or a data set: dream5:ecoli."""

    grid: Annotated[tuple[str, ...], optional("NAME=VALUE,…")] = ()
    """What to vary: learning_rate, final_rate, anneal, init_scale, clip, and the numbers of the model: tau1,
    alpha, …"""

    geometry: Annotated[Geometry | None, optional(f"{{{','.join(get_args(Geometry))}}}")] = None
    """The spacetime; if not given, what the graph's cycles suggest."""

    out: Annotated[Path | None, optional("MODEL")] = None
    """The folder to save the best model to."""

    resume: bool = False
    """Continue interrupted runs, kept in the folder MODEL.checkpoint until they are done; needs --out."""

    storage: Annotated[str | None, optional("FILE|URL")] = None
    """Share the work with others who run the same: a file on a folder that all see, or postgresql+psycopg://…"""

    valid_fraction: float = 0.1
    """The share of the edges to hold out: the best run is the one that finds them best."""

    json: bool = False
    """Print the result as JSON."""

    training: tyro.conf.OmitArgPrefixes[TrainingOptions] = dataclasses.field(default_factory=TrainingOptions)

    reading: tyro.conf.OmitArgPrefixes[TimedOptions] = dataclasses.field(default_factory=TimedOptions)

    def run(self) -> None:
        """Train, print the table, and save the best model."""
        from timelike._util.checks import share
        from timelike.embedding import model_folder
        from timelike.embedding.trained_on import TrainedOn
        from timelike.estimator.asked import protocol_of
        from timelike.estimator.settings import Settings
        from timelike.evaluation.splits import split_edges

        grid = _grid(self.grid)
        self.training.check()
        share("valid_fraction", self.valid_fraction)
        if self.resume and (self.out is None or self.storage is not None):
            raise ValueError("--resume is for runs kept beside --out; --storage keeps its own")
        if self.out is not None:
            model_folder.check_free(self.out, "--out")
        graph = self.reading.graph(self.edges)
        geometry = self.geometry or graph.describe(self.training.seed).geometry
        by = "edges" if graph.times is None else "time"
        protocol = protocol_of(Settings(), self.training.negatives, graph)
        split = split_edges(graph, self.valid_fraction, 0, self.training.seed, protocol=protocol, by=by)
        model, config = self.training.recipe(geometry, split.train, protocol)
        with nullcontext() if self.out is None or self.storage else keeping(self.out, self.resume):
            try:
                found = self._train(split, model, config, grid)
            except ValueError as error:
                said = re.sub(r"^[A-Z]\w*: ", "", str(error))
                raise ValueError(f"--grid: {said}" if said.split()[0] in grid else error) from None
            best = found.best.calibrated(split.valid) if self.valid_fraction else found.best
            if self.out is not None:
                reason = "it was asked for" if self.geometry else "it suits the graph"
                about = {"geometry": geometry, "reason": reason, "protocol": protocol}
                best = dataclasses.replace(best, info={**best.info, **about})
                best.save(self.out, TrainedOn(split.train, split.valid if self.valid_fraction else None))
                shutil.rmtree(beside(self.out), ignore_errors=True)
        rows = [{k: v for k, v in row.items() if not k.endswith("test_ap")} for row in found.rows]
        first = max(rows, key=_merit)
        if self.json:
            out = None if self.out is None else str(self.out)
            print_json({"geometry": geometry, "best": first, "runs": rows, "model": out})
            return
        _print(rows)
        settings = ", ".join(f"{name}={first[name]:g}" for name in [*grid, "seed"])
        note(f"best in {geometry}: {settings}" + (f"; saved to {self.out}" if self.out else ""))

    def _train(self, split: Split, model: Model, config: Config, grid: dict[str, list[float]]) -> Found:
        """All runs, kept beside the model until they are done, if one is to be saved."""
        from timelike.training.sweeps import sweep
        from timelike.training.training_loop import InterruptedTraining

        if self.storage is not None:
            return self._share(self.storage, split, model, config, grid)
        file = None if self.out is None else beside(self.out) / "runs.safetensors"
        try:
            return sweep(
                split.train, model, config, grid, self.training.seeds, valid=split.valid, checkpoint=file
            )
        except InterruptedTraining as stop:
            hint = " (with --resume)" if file else "; with --out, --resume could go on"
            raise KeyboardInterrupt(f"{stop}{hint}") from None

    def _share(
        self, storage: str, split: Split, model: Model, config: Config, grid: dict[str, list[float]]
    ) -> Found:
        """The same by several workers; the best is trained again only if it is to be saved."""
        from timelike.training.shared_sweep import share
        from timelike.training.sweeps import Sweep as Found

        if not self.valid_fraction:
            raise ValueError("storage: runs are compared by validation; valid_fraction must not be 0")
        rows, train = share(storage, split.train, model, config, grid, self.training.seeds, split.valid)
        return Found(rows, train(max(rows, key=_merit)))


def _grid(settings: tuple[str, ...]) -> dict[str, list[float]]:
    """Names and their values, from `tau1=0.1,0.4` and so on."""
    grid: dict[str, list[float]] = {}
    for text in settings:
        name, _, values = text.partition("=")
        if name in grid:
            raise ValueError(f"--grid has {name} twice; give all its values together, like tau1=0.1,0.4")
        try:
            grid[name] = [float(value) for value in values.split(",")]
        except ValueError:
            raise ValueError(f"--grid has {text!r}; it must be like tau1=0.1,0.4") from None
    return grid


def _merit(row: Mapping[str, Any]) -> float:
    from timelike.training.sweeps import merit

    return merit("last" if math.isnan(row["valid_ap"]) else "valid", row)


def _print(rows: list[dict[str, Any]]) -> None:
    sys.stdout.write("\t".join(rows[0]) + "\n")
    for row in rows:
        values = (f"{value:.6g}" if isinstance(value, float) else str(value) for value in row.values())
        sys.stdout.write("\t".join(values) + "\n")
