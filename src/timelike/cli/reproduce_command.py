"""`timelike reproduce`: the paper's tables and figures."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Literal

import tyro

from timelike.cli.options import optional
from timelike.cli.printing import print_json

#: Kept here as text, as the choices of other commands are; a test compares them with the list.
What = Literal[
    "list", "all", "cyclic", "ablation", "wordnet", "toys", "figures", "best", "grid", "defaults", "negatives"
]


@dataclasses.dataclass(frozen=True)
class Reproduce:
    """Compute the paper's tables and figures again, with the published numbers beside them.

    `list` shows what there is. What is finished is kept in --out: an interrupted run goes on with --resume.

    Example: timelike reproduce cyclic --quick --out results
    """

    what: Annotated[tyro.conf.Positional[What], tyro.conf.arg(metavar="WHAT")]
    """Take cyclic, ablation, wordnet, toys, figures or grid; all: all of these but grid; best, defaults or
    negatives, which are not the paper's: recipes, what tuning adds, what non-edges ask; list: only list."""

    out: Path = Path("reproduced")
    """The folder for Markdown, CSV, JSON and pictures."""

    dims: Annotated[tuple[int, ...], optional("INT …")] = ()
    """Dimensions; those of the paper unless given."""

    seeds: Annotated[int | None, optional("INT")] = None
    """Random starts; as many as in the paper unless given."""

    quick: bool = False
    """Take few seeds, dimensions 3 and 10, and fewer settings."""

    only: Annotated[tuple[str, ...], optional("TEXT …")] = ()
    """Take the tasks with all of these texts in their names, such as ecoli d10."""

    resume: bool = False
    """Go on where an interrupted run stopped."""

    jobs: Annotated[int | None, optional("INT")] = None
    """Processes at the same time; one for each processor core unless given."""

    data_dir: Annotated[str | None, optional("FOLDER")] = None
    """Where the data files are; looked for before $TIMELIKE_DATA and the cache."""

    json: bool = False
    """Print the result as JSON."""

    def run(self) -> None:
        """Compute what is missing, write the reports and print them."""
        from timelike._util.hardware import cores
        from timelike.reproduce.listing import as_text, listing
        from timelike.reproduce.run import reproduce
        from timelike.reproduce.task import Options

        options = Options(self.dims or None, self.seeds, self.quick, self.data_dir)
        if self.what == "list":
            groups = listing(options)
            print_json(groups) if self.json else print(as_text(groups))
            return
        jobs = max(1, self.jobs or cores())
        reports = reproduce(self.what, options, self.out, only=self.only, resume=self.resume, jobs=jobs)
        if self.json:
            print_json({name: report.rows for name, report in reports.items()})
        else:
            print("\n\n".join(report.markdown for report in reports.values()))
