"""`timelike sweep`: many settings and seeds in one program."""

from __future__ import annotations

import dataclasses
import math
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import tyro

from timelike.commands.options import Geometry, TrainingOptions, optional
from timelike.commands.printing import note, print_json
from timelike.commands.reading import Edges, TimedOptions

if TYPE_CHECKING:
    from timelike.config import Config
    from timelike.model import Model
    from timelike.splits import Split
    from timelike.sweeps import Sweep as Found


@dataclasses.dataclass(frozen=True)
class Sweep:
    """Train every combination of settings with every seed, side by side; one row each, as TSV.

    Example: timelike sweep edges.tsv --grid tau1=0.1,0.4 alpha=0.05,0.1 --seeds 3 --out best
    """

    edges: Edges
    """An edge file (TSV, CSV, Parquet, GraphML, …), `-` for standard input, or a data set: dream5:ecoli."""

    grid: Annotated[tuple[str, ...], optional("NAME=VALUE,…")] = ()
    """What to vary: learning_rate, anneal, init_scale, clip, and the numbers of the model: tau1, alpha, …"""

    geometry: Annotated[Geometry | None, optional(f"{{{','.join(get_args(Geometry))}}}")] = None
    """The spacetime; if not given, what the graph's cycles suggest."""

    out: Annotated[Path | None, optional("MODEL")] = None
    """The folder to save the best model to."""

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
        from timelike import store
        from timelike.splits import split_edges
        from timelike.sweeps import sweep
        from timelike.trained_on import TrainedOn

        grid = dict(_setting(text) for text in self.grid)
        if self.out is not None:
            store.check_free(self.out, "--out")
        graph = self.reading.graph(self.edges)
        geometry = self.geometry or graph.describe(self.training.seed).geometry
        by = "edges" if graph.times is None else "time"
        split = split_edges(graph, self.valid_fraction, 0, self.training.seed, by=by)
        model, config = self.training.recipe(geometry, split.train)
        try:
            if self.storage is None:
                found = sweep(split.train, model, config, grid, self.training.seeds, valid=split.valid)
            else:
                found = self._share(self.storage, split, model, config, grid)
        except ValueError as error:
            said = re.sub(r"^[A-Z]\w*: ", "", str(error))
            raise ValueError(f"--grid: {said}" if said.split()[0] in grid else error) from None
        best = found.best.calibrated(split.valid) if self.valid_fraction else found.best
        if self.out is not None:
            reason = "it was asked for" if self.geometry else "it suits the graph"
            best = dataclasses.replace(best, info={**best.info, "geometry": geometry, "reason": reason})
            best.save(self.out, TrainedOn(split.train, split.valid if self.valid_fraction else None))
        rows = [{k: v for k, v in row.items() if not k.endswith("test_ap")} for row in found.rows]
        first = max(rows, key=_merit)
        if self.json:
            out = None if self.out is None else str(self.out)
            print_json({"geometry": geometry, "best": first, "runs": rows, "model": out})
            return
        _print(rows)
        settings = ", ".join(f"{name}={first[name]:g}" for name in [*grid, "seed"])
        note(f"best in {geometry}: {settings}" + (f"; saved to {self.out}" if self.out else ""))

    def _share(
        self, storage: str, split: Split, model: Model, config: Config, grid: dict[str, list[float]]
    ) -> Found:
        """The same by several workers; the best is trained again only if it is to be saved."""
        from timelike.sharing import share
        from timelike.sweeps import Sweep as Found

        if not self.valid_fraction:
            raise ValueError("storage: runs are compared by validation; valid_fraction must not be 0")
        rows, train = share(storage, split.train, model, config, grid, self.training.seeds, split.valid)
        return Found(rows, train(max(rows, key=_merit)))


def _setting(text: str) -> tuple[str, list[float]]:
    """A name and its values, from `tau1=0.1,0.4`."""
    name, _, values = text.partition("=")
    try:
        return name, [float(value) for value in values.split(",")]
    except ValueError:
        raise ValueError(f"--grid has {text!r}; it must be like tau1=0.1,0.4") from None


def _merit(row: Mapping[str, Any]) -> float:
    """Validation AP, or without one the loss, the wrong way round."""
    score = -row["loss"] if math.isnan(row["valid_ap"]) else row["valid_ap"]
    return -math.inf if math.isnan(score) else score


def _print(rows: list[dict[str, Any]]) -> None:
    sys.stdout.write("\t".join(rows[0]) + "\n")
    for row in rows:
        values = (f"{value:.6g}" if isinstance(value, float) else str(value) for value in row.values())
        sys.stdout.write("\t".join(values) + "\n")
