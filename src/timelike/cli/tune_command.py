"""`timelike tune`: search for settings by validation."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

import timelike as tl
from timelike._util.checks import output_path
from timelike._util.choices import NegativeKind, Preset
from timelike.cli.options import MINUTES, Count, File, Flag, Json, Number, chosen, optional
from timelike.cli.printing import note, print_json, print_table, typed
from timelike.cli.reading_options import Edges, TimedOptions, source_of

if TYPE_CHECKING:
    from timelike.estimator.tuning import Tuned


@dataclasses.dataclass(frozen=True)
class Tune:
    """Search for the geometry, likelihood, negatives and numbers with the best validation AP.

    EDGES must be training edges only. Prints the finalists and writes the best settings to a file for
    `timelike fit --settings`. Choose --valid-negatives like the negatives that you will evaluate with; the
    default is the kind that the preset or settings file names, or the kind that suits the graph.

    Example: timelike tune edges.tsv --out best.toml --budget 10
    """

    edges: Edges

    out: Annotated[Path, tyro.conf.arg(metavar="FILE")] = Path("best.toml")
    """Settings file to write. FILE.journal keeps an unfinished search."""

    budget: Number = None
    """Approximate duration in minutes; default: 5."""

    trials: Count = None
    """Number of settings to try, instead of a duration: gives the same result on every machine."""

    preset: Annotated[Preset | None, chosen(Preset)] = None
    """Start from the settings found for this kind of graph."""

    settings: File = None
    """Start from a settings file."""

    valid_negatives: Annotated[NegativeKind | None, optional("KIND", aliases=("--protocol",))] = None
    """Kind of negatives in validation (see `timelike evaluate --help`); default: the one that suits."""

    dim: Count = None
    """Dimensions, time included; default: 10."""

    valid_fraction: float = 0.1
    """Fraction of the edges to hold out."""

    seed: int = 0
    """Seed of all random numbers."""

    seeds: int = 3
    """Number of fresh seeds to train the finalists with."""

    resume: Flag = False
    """Continue an interrupted search."""

    json: Json = False

    reading: tyro.conf.OmitArgPrefixes[TimedOptions] = dataclasses.field(default_factory=TimedOptions)

    def run(self) -> None:
        """Search, print the leaderboard and save the best settings."""
        if self.preset is not None and self.settings is not None:
            raise ValueError("--preset cannot be combined with --settings")
        if self.budget is not None and self.trials is not None:
            raise ValueError("--budget cannot be combined with --trials")
        output_path("--out", self.out, (".toml",))
        journal = self.out.with_name(f"{self.out.name}.journal")
        if journal.exists() and not self.resume:
            note(
                f"{journal} holds an interrupted search, which starts over; --resume would have continued it"
            )
            journal.unlink()
        try:
            tuned = tl.tune(
                self.reading.graph(source_of(self.edges)),
                self.preset or self.settings,
                dim=self.dim,
                budget=MINUTES if self.budget is None else self.budget,
                trials=self.trials,
                seeds=self.seeds,
                seed=self.seed,
                valid_fraction=self.valid_fraction,
                valid_negatives=self.valid_negatives,
                journal=journal,
            )
        except KeyboardInterrupt as stop:
            raise KeyboardInterrupt(f"{stop}{' (with --resume)' * journal.exists()}") from None
        tuned.settings.save(self.out)
        journal.unlink(missing_ok=True)
        if self.json:
            facts = {"settings": str(self.out), "leaderboard": tuned.leaderboard, "trials": tuned.trials}
            print_json({**facts, "seconds": round(tuned.seconds, 1), "version": tl.__version__})
        else:
            self._print(tuned)

    def _print(self, tuned: Tuned) -> None:
        rows: list[list[Any]] = [["", "validation AP", "±", "geometry", "likelihood", "negatives"]]
        for place, row in enumerate(tuned.leaderboard, 1):
            name = f"{place}{' (start)' if row['is_start'] else ''}"
            scores = [f"{row['valid_ap']:.3f}", f"{row['spread']:.3f}"]
            kinds = "+".join(kind for kind in row["negatives"] if kind != "weights")
            rows.append([name, *scores, row["geometry"], row["likelihood"], kinds])
        print_table(rows)
        took = f"{tuned.seconds:.0f} seconds" if tuned.seconds < 60 else f"{tuned.seconds / 60:.1f} minutes"
        print(f"{tuned.trials} settings tried in {took}; the best are in {self.out}")
        edges = " ".join(map(typed, self.edges))
        print(f"next           timelike fit {edges} --out model --settings {typed(self.out)}")
