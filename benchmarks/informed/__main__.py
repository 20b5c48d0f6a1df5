"""What evidence from outside adds: expression, other tools' lists.

    python -m benchmarks.informed --data DATA [--only TEXT …] [--out FILE]
    python -m benchmarks.informed --report

The files of `DATA/dream5` and `DATA/expression` are needed. Every case is fitted on the same split from the
graph alone and with the evidence; validation edges choose, test edges are scored once. Finished cases are
kept in the file.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.informed.cases import Case, cases
from benchmarks.informed.measuring import measure
from benchmarks.informed.page import RESULTS, page


def main() -> None:
    """Measure the cases that are not yet in the file, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    rows = json.loads(options.out.read_text("utf-8")) if options.out.exists() else []
    done = {Case(r["network"], r["by"], r["seed"], tuple(r["evidence"])).name for r in rows}
    for case in [] if options.report else cases():
        wanted = not options.only or any(text in case.name for text in options.only)
        if wanted and case.name not in done:
            rows.append(measure(case, options.data))
            options.out.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", "utf-8")
            print(case.name, rows[-1]["ap"], rows[-1]["cpu_seconds"], flush=True)
    print(page(rows))


if __name__ == "__main__":
    main()
