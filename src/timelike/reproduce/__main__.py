"""`python -m timelike.reproduce`: the same as `timelike reproduce`, with the standard library alone."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from timelike._util.hardware import cores, remember_compilations
from timelike._util.interrupts import INTERRUPTED
from timelike.reproduce.groups import GROUPS
from timelike.reproduce.listing import as_text, listing
from timelike.reproduce.run import reproduce
from timelike.reproduce.task import Options


def main() -> None:
    """Parse the command line, compute, print the reports."""
    parser = argparse.ArgumentParser(prog="python -m timelike.reproduce", description=__doc__)
    parser.add_argument("what", choices=["list", "all", *GROUPS])
    parser.add_argument("--out", type=Path, default=Path("reproduced"))
    parser.add_argument("--dims", type=int, nargs="+")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--jobs", type=int, default=cores())
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--data-dir")
    for flag in ("--quick", "--resume", "--json"):
        parser.add_argument(flag, action="store_true")
    a = parser.parse_args()
    remember_compilations()
    try:
        options = Options(tuple(a.dims) if a.dims else None, a.seeds, a.quick, a.data_dir)
        if a.what == "list":
            groups = listing(options)
            print(json.dumps(groups, ensure_ascii=False) if a.json else as_text(groups))
            return
        reports = reproduce(a.what, options, a.out, only=a.only, resume=a.resume, jobs=max(1, a.jobs))
    except (ArithmeticError, OSError, ImportError, TypeError, ValueError) as error:
        print(f"timelike.reproduce: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt as stop:
        print(f"timelike.reproduce: {str(stop) or 'interrupted'}", file=sys.stderr)
        sys.exit(INTERRUPTED)
    if a.json:
        print(json.dumps({name: report.rows for name, report in reports.items()}))
    else:
        print("\n\n".join(report.markdown for report in reports.values()))


if __name__ == "__main__":
    main()
