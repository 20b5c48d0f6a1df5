"""A table on stdout, everything as JSON in a file. README.md says what is measured."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import Any

from benchmarks import (
    big,
    compiling,
    engine,
    explore,
    many,
    memory,
    peers,
    predict,
    readers,
    scaling,
    seeds,
    updating,
)
from benchmarks.harness import ROOT, Options, machine, markdown, now, versions

#: The one list of benchmarks: name → module with `run`.
BENCHMARKS = {
    "peers": peers,
    "engine": engine,
    "seeds": seeds,
    "compile": compiling,
    "scaling": scaling,
    "memory": memory,
    "readers": readers,
    "predict": predict,
    "explore": explore,
    "big": big,
    "many": many,
    "updating": updating,
}
RESULTS = ROOT / "benchmarks" / "results" / "cpu.json"


def main() -> None:
    arguments = parse()
    names = list(BENCHMARKS) if "all" in arguments.which else arguments.which
    options = Options(arguments.quick, arguments.data_dir)
    command = " ".join(["python -m benchmarks", *arguments.which, *(["--quick"] if arguments.quick else [])])
    out = arguments.out or (None if arguments.quick else RESULTS)
    for name in names:
        print(f"{name}: running", file=sys.stderr, flush=True)
        before = os.getloadavg()
        lines = BENCHMARKS[name].run(options)
        load = {"before": before, "after": os.getloadavg()}
        print(f"\n## {name}\n\n{markdown(lines)}\n")
        print(f"Load average {before[0]:.1f} before, {load['after'][0]:.1f} after.", flush=True)
        figures = [dataclasses.asdict(line) for line in lines]
        head = {"command": command, "date": now(), "machine": machine(), "versions": versions()}
        if out is not None:
            keep(out, name, {**head, "load_average": load, "lines": figures})
    if out == RESULTS:
        print("the documentation shows some of these figures: run `make results`", file=sys.stderr)


def keep(file: Path, name: str, result: dict[str, Any]) -> None:
    """Put one benchmark's result into the file; those of other benchmarks stay."""
    results = json.loads(file.read_text()) if file.exists() else {}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({**results, name: result}, indent=1, ensure_ascii=False) + "\n")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = ["all", *BENCHMARKS]
    parser.add_argument(
        "which", nargs="*", default=["all"], choices=names, help=f"some of {', '.join(names)}"
    )
    parser.add_argument("--quick", action="store_true", help="few rounds, small graphs: a check")
    default = f"default: {RESULTS.relative_to(ROOT)}, or none with --quick"
    parser.add_argument("--out", type=Path, help=f"JSON file to put results into ({default})")
    parser.add_argument(
        "--data-dir",
        type=Path,
        default=Path(os.environ.get("TIMELIKE_DATA", ROOT.parent / "shared" / "data")),
        help="folder that holds dream5/ (default: $TIMELIKE_DATA)",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
