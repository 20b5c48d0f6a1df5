"""`timelike reproduce`: the paper's tables and figures, computed by the package `paper` of the repository."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from pathlib import Path
from typing import Annotated, Literal

import tyro

from timelike.cli.options import Count, Flag, Json, optional

#: The names as text, so that the command line is read without the package; a test compares both lists.
What = Literal[
    "list",
    "all",
    "honest",
    "cyclic",
    "ablation",
    "wordnet",
    "toys",
    "figures",
    "best",
    "grid",
    "defaults",
    "negatives",
    "beyond",
]


@dataclasses.dataclass(frozen=True)
class Reproduce:
    """Compute the paper's tables and figures again, beside the published numbers.

    Needs a checkout of the repository. `list` shows the groups and their rows. Finished tasks are stored in
    --out, and --resume continues an interrupted run.

    Example: timelike reproduce cyclic --quick --out results
    """

    what: Annotated[tyro.conf.Positional[What], tyro.conf.arg(metavar="WHAT")]
    """Compute cyclic, ablation, wordnet, toys, figures or grid. all: all of these but grid. Not in the paper:
    best (our best recipes), defaults (how much tuning adds), negatives (how hard each kind of non-edges is).
    list: only list them."""

    out: Path = Path("reproduced")
    """The folder for Markdown, CSV, JSON and pictures."""

    dims: Annotated[tuple[int, ...], optional("INT …")] = ()
    """Dimensions (default: those of the paper)."""

    seeds: Count = None
    """Number of seeds (default: that of the paper)."""

    quick: Flag = False
    """Use few seeds, dimensions 3 and 10, and fewer settings."""

    only: Annotated[tuple[str, ...], optional("TEXT …")] = ()
    """Select the tasks whose names contain all of these texts, such as ecoli d10."""

    resume: Flag = False
    """Continue an interrupted run."""

    jobs: Count = None
    """Number of processes (default: one for each processor core)."""

    data_dir: Annotated[str | None, optional("FOLDER")] = None
    """The folder with the data files; searched before $TIMELIKE_DATA and the cache."""

    json: Json = False

    def run(self) -> None:
        """Pass the options on to `paper.__main__.run`."""
        root = str(repository())
        if root not in sys.path:
            sys.path.insert(0, root)
        importlib.import_module("paper.__main__").run(**dataclasses.asdict(self))


def repository() -> Path:
    """The checkout that this package lies in, or else the current folder."""
    source = Path(__file__).resolve().parents[2]
    roots = [source.parent] if source.name == "src" else []
    for root in (*roots, Path.cwd()):
        if (root / "paper" / "__main__.py").is_file() and (root / "paper" / "rows").is_dir():
            return root
    raise FileNotFoundError(
        "the paper's tables come with the repository, not with the installed package; clone it and run "
        "timelike reproduce there"
    )
