"""`python -m paper`: compute the paper's tables and figures. `timelike reproduce` calls the same `run`."""

from __future__ import annotations

import argparse
import json as json_module
import os
import signal
import sys
from collections.abc import Collection
from pathlib import Path

from paper.groups import GROUPS, as_text, listing
from paper.runner.reproduction import reproduce
from paper.runner.task_results import cores
from paper.tasks import Options

#: The exit code of a program that Ctrl-C or SIGTERM stopped.
INTERRUPTED = 128 + signal.SIGINT


def run(
    what: str,
    out: Path = Path("reproduced"),
    dims: Collection[int] = (),
    seeds: int | None = None,
    quick: bool = False,
    only: Collection[str] = (),
    resume: bool = False,
    jobs: int | None = None,
    data_dir: str | None = None,
    json: bool = False,
) -> None:
    """Compute the missing tasks of a group, write its reports, and print them."""
    options = Options(tuple(dims) or None, seeds, quick, data_dir)
    if what == "list":
        groups = listing(options)
        print(json_module.dumps(groups, ensure_ascii=False) if json else as_text(groups))
        return
    reports = reproduce(what, options, out, only=only, resume=resume, jobs=max(1, jobs or cores()))
    if json:
        rows = {name: report.rows for name, report in reports.items()}
        print(json_module.dumps(rows, ensure_ascii=False))
    else:
        print("\n\n".join(report.markdown for report in reports.values()))


def main() -> None:
    """Read the command line and run it; a mistake is one line and exit code 2."""
    parser = argparse.ArgumentParser(prog="python -m paper", description=__doc__)
    parser.add_argument("what", choices=["list", "all", *GROUPS])
    parser.add_argument("--out", type=Path, default=Path("reproduced"))
    parser.add_argument("--dims", type=int, nargs="+", default=())
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--only", nargs="+", default=())
    parser.add_argument("--data-dir")
    for flag in ("--quick", "--resume", "--json"):
        parser.add_argument(flag, action="store_true")
    arguments = vars(parser.parse_args())
    _keep_compiled_programs()
    try:
        run(**arguments)
    except (ArithmeticError, OSError, ImportError, TypeError, ValueError) as error:
        print(f"paper: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt as stop:
        print(f"paper: {str(stop) or 'interrupted'}", file=sys.stderr)
        sys.exit(INTERRUPTED)


def _keep_compiled_programs() -> None:
    """Let JAX keep compiled programs in the user's cache folder, as the `timelike` command does."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(cache) / "timelike" / "compiled"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")


if __name__ == "__main__":
    main()
