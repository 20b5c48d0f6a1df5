"""`timelike tune`: a search for settings, by validation alone."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import tyro

from timelike._util.checks import output_path
from timelike._util.choices import NegativeKind, Preset
from timelike._version import __version__
from timelike.cli.options import MINUTES, Count, chosen, optional
from timelike.cli.printing import note, print_json, print_table, typed
from timelike.cli.reading_options import Edges, TimedOptions

if TYPE_CHECKING:
    from timelike.estimator.tuning import Tuned


@dataclasses.dataclass(frozen=True)
class Tune:
    """Search for the geometry, likelihood, negatives and numbers with the best validation AP.

    Pass training edges only. Prints the finalists and writes the winner to a file for
    `timelike fit --settings`.

    Example: timelike tune edges.tsv --out best.toml --budget 10
    """

    edges: Edges
    """An edge file (TSV, CSV, Parquet, GraphML, …), `-` for standard input, or a data set: dream5:ecoli."""

    out: Annotated[Path, tyro.conf.arg(metavar="FILE")] = Path("best.toml")
    """The settings file to write; FILE.journal keeps the search until it is done."""

    budget: Annotated[float | None, optional("FLOAT")] = None
    """Minutes to search, approximately; default: 5."""

    trials: Count = None
    """Number of settings to draw instead, however long that takes: the same on every machine."""

    preset: Annotated[Preset | None, chosen(Preset)] = None
    """Start from settings that were found for this kind of graph."""

    settings: Annotated[Path | None, optional("FILE")] = None
    """Start from a file of settings."""

    valid_negatives: Annotated[
        NegativeKind | None,
        tyro.conf.arg(
            metavar=f"{{{','.join(get_args(NegativeKind))}}}", help_behavior_hint="", aliases=("--protocol",)
        ),
    ] = None
    """The negatives that held-out edges are compared with; default: the kind that suits the graph, or that
    the
    preset names. Choose the comparison that you will evaluate."""

    dim: Count = None
    """Dimensions, time included; default: 10."""

    valid_fraction: float = 0.1
    """The share of the edges to hold out."""

    seed: int = 0
    """The source of all random numbers."""

    seeds: int = 3
    """Fresh seeds for the finalists."""

    resume: bool = False
    """Continue an interrupted search."""

    json: bool = False
    """Print the result as JSON."""

    reading: tyro.conf.OmitArgPrefixes[TimedOptions] = dataclasses.field(default_factory=TimedOptions)

    def run(self) -> None:
        """Search, print the leaderboard and save the winner."""
        from timelike.estimator.tuning import tune

        if self.preset is not None and self.settings is not None:
            raise ValueError("--preset cannot be combined with --settings")
        if self.budget is not None and self.trials is not None:
            raise ValueError("--budget cannot be combined with --trials")
        output_path("--out", self.out, (".toml",))
        journal = self.out.with_name(f"{self.out.name}.journal")
        if journal.exists() and not self.resume:
            note(f"{journal} belongs to an unfinished search, which starts over; --resume would continue it")
            journal.unlink()
        try:
            found = tune(
                self.reading.graph(self.edges),
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
        found.settings.save(self.out)
        journal.unlink(missing_ok=True)
        if self.json:
            print_json(self._result(found))
        else:
            self._print(found)

    def _result(self, found: Tuned) -> dict[str, Any]:
        return {
            "settings": str(self.out),
            "leaderboard": found.leaderboard,
            "trials": found.trials,
            "seconds": round(found.seconds, 1),
            "version": __version__,
        }

    def _print(self, found: Tuned) -> None:
        rows: list[list[Any]] = [["", "validation AP", "±", "geometry", "likelihood", "negatives"]]
        for place, row in enumerate(found.leaderboard, 1):
            name = f"{place}{' (start)' if row['is_start'] else ''}"
            scores = [f"{row['valid_ap']:.3f}", f"{row['spread']:.3f}"]
            kinds = "+".join(kind for kind in row["negatives"] if kind != "weights")
            rows.append([name, *scores, row["geometry"], row["likelihood"], kinds])
        print_table(rows)
        took = f"{found.seconds:.0f} seconds" if found.seconds < 60 else f"{found.seconds / 60:.1f} minutes"
        print(f"{found.trials} settings tried in {took}; the winner is in {self.out}")
        print(f"next           timelike fit {typed(self.edges)} --out model --settings {typed(self.out)}")
