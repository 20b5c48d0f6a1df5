"""`timelike tune`: a search for settings, by validation alone."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import tyro

from timelike._util.checks import output_path
from timelike._version import __version__
from timelike.cli.evaluate_command import Protocol
from timelike.cli.options import MINUTES, Count, Preset, optional
from timelike.cli.printing import note, print_json, print_table, typed
from timelike.cli.reading_options import Edges, TimedOptions

if TYPE_CHECKING:
    from timelike.estimator.tuning import Tuned


@dataclasses.dataclass(frozen=True)
class Tune:
    """Search for geometry, likelihood, negatives and numbers that find held-out edges best.

    Give training edges only: nothing else is looked at. Prints the finalists, and writes the winner to a
    file for `timelike fit --settings`.

    Example: timelike tune edges.tsv --out best.toml --budget 10
    """

    edges: Edges
    """An edge file (TSV, CSV, Parquet, GraphML, …), `-` for standard input, or a data set: dream5:ecoli."""

    out: Annotated[Path, tyro.conf.arg(metavar="FILE")] = Path("best.toml")
    """The file to write; the search is kept in FILE.journal until it is done."""

    budget: Annotated[float | None, optional("FLOAT")] = None
    """For about how many minutes to search; 5 unless given."""

    trials: Count = None
    """Draw so many settings instead, however long that takes: the same on every machine."""

    preset: Annotated[Preset | None, optional(f"{{{','.join(get_args(Preset))}}}")] = None
    """Where to begin: settings that were found for such graphs."""

    settings: Annotated[Path | None, optional("FILE")] = None
    """The same from a file."""

    protocol: Annotated[Protocol | None, optional(f"{{{','.join(get_args(Protocol))}}}")] = None
    """What held-out edges are told from: what suits the graph, as in fit, unless a preset says otherwise. Ask
    as you will ask the model."""

    dim: Count = None
    """Dimensions, time included; 10 unless given."""

    valid_fraction: float = 0.1
    """The share of the edges to hold out."""

    seed: int = 0
    """Where all random numbers come from."""

    seeds: int = 3
    """How many fresh seeds the finalists are trained with."""

    resume: bool = False
    """Go on after the finished steps of an interrupted search."""

    json: bool = False
    """Print the result as JSON."""

    reading: tyro.conf.OmitArgPrefixes[TimedOptions] = dataclasses.field(default_factory=TimedOptions)

    def run(self) -> None:
        """Search, print the leaderboard and save the winner."""
        from timelike.estimator.tuning import tune

        if self.preset is not None and self.settings is not None:
            raise ValueError("--preset and --settings exclude each other; leave one out")
        if self.budget is not None and self.trials is not None:
            raise ValueError("--budget and --trials exclude each other; leave one out")
        output_path("--out", self.out, (".toml",))
        journal = self.out.with_name(f"{self.out.name}.journal")
        if journal.exists() and not self.resume:
            note(f"{journal} is of a search that did not end; it is begun again, --resume continues it")
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
                protocol=self.protocol,
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
        print(f"{found.trials} settings in {took}; the winner is in {self.out}")
        print(f"next           timelike fit {typed(self.edges)} --out model --settings {typed(self.out)}")
