"""Run the zoo, prepare its real graphs, or write its page from stored results; README.md explains it.

python -m benchmarks.zoo prepare --data FOLDER --prepared GRAPHS
python -m benchmarks.zoo --half tune --prepared GRAPHS --jobs 2 --out RESULTS
python -m benchmarks.zoo page --out RESULTS
python -m benchmarks.zoo store --out RESULTS   # the page, and into benchmarks/results/zoo.json
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from benchmarks.zoo.absent import fill_in
from timelike._util.hardware import remember_compilations

fill_in()  # before the first import of what may be missing
remember_compilations()

from benchmarks.zoo import results, running  # noqa: E402
from benchmarks.zoo.downloads import MissingSourceError, Sources  # noqa: E402
from benchmarks.zoo.families import FAMILIES  # noqa: E402
from benchmarks.zoo.fits import has_option, options_of  # noqa: E402
from benchmarks.zoo.halves import HALVES, graphs_of, half_of  # noqa: E402
from benchmarks.zoo.page import page  # noqa: E402
from benchmarks.zoo.real import REAL  # noqa: E402
from benchmarks.zoo.sources import facts, prepare  # noqa: E402
from timelike.estimator.baseline_names import baseline_names  # noqa: E402


def main() -> None:
    a = parse()
    graphs = a.graphs or graphs_of(a.half)
    try:
        if a.what == "prepare":
            prepare_all([name for name in graphs if name in REAL], a.prepared or a.out, a)
            return
        if a.what == "run":
            run(graphs, a)
    except (MissingSourceError, ValueError) as error:
        sys.exit(f"zoo: {error}")
    if not a.out.is_dir():
        sys.exit(f"zoo: {a.out} has no results; run python -m benchmarks.zoo --out {a.out} first")
    command = f"python -m benchmarks.zoo --half {a.half} --seeds {a.seeds} --out RESULTS"
    text = page(results.read_all(a.out), graphs, command)
    (a.out / "zoo.md").write_text(text)
    print(text)
    if a.what == "store":
        results.pack(a.out, results.STORED)


def run(graphs: tuple[str, ...], a: argparse.Namespace) -> None:
    """Compute what is missing, first the simple methods, and name the graphs that cannot be had."""
    if a.evidence and not has_option("evidence"):
        print("zoo: this version has no evidence: default is geometry alone", file=sys.stderr)
        a.evidence = []
    arms = list(dict.fromkeys([*a.arms, *(f"evidence={name}" for name in a.evidence)]))
    for arm in arms:
        for option in options_of(arm):
            if not has_option(option):
                raise ValueError(f"{arm}: SpacetimeEmbedding has no option {option}; leave it out")
    methods = baseline_names(a.baselines)
    tasks = []
    for arm in [*([results.SIMPLE] if methods else []), *arms]:
        for name in sorted(graphs, key=lambda name: name in FAMILIES):
            if name not in FAMILIES and not (a.prepared and (a.prepared / f"{name}.npz").is_file()):
                print(f"zoo: {name} is left out: it is not prepared in {a.prepared}", file=sys.stderr)
                continue
            used = methods if arm == results.SIMPLE else ()
            tasks += [results.Task(name, seed, arm, used, a.prepared, a.out) for seed in range(a.seeds)]
    todo = [task for task in tasks if not task.is_done()]
    print(f"zoo: {len(todo)} of {len(tasks)} results to compute", file=sys.stderr, flush=True)
    running.run_all(todo, a.jobs)


def prepare_all(names: list[str], folder: Path | None, a: argparse.Namespace) -> None:
    """Prepare real graphs, print a table of them, and say in a line what is missing."""
    if folder is None:
        raise ValueError("prepare needs --prepared FOLDER or --out FOLDER")
    print("| graph | half | nodes | edges | reciprocity | what |\n|---|---|--:|--:|--:|---|")
    for name in names:
        try:
            about = facts(prepare(name, Sources(a.cache.absolute(), a.data), folder))
        except MissingSourceError as error:
            print(f"zoo: {name} is not prepared: {error}", file=sys.stderr)
            continue
        what = (REAL[name].__doc__ or "").split("\n")[0]
        sizes = f"{about['nodes']:,} | {about['edges']:,} | {about['reciprocity']:.3f}"
        print(f"| {name} | {half_of(name)} | {sizes} | {what} |", flush=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.zoo", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("what", nargs="?", default="run", choices=["run", "prepare", "page", "store"])
    add("--half", default="all", choices=[*HALVES, "all"], help="default: all")
    add("--graphs", type=_names, default=(), metavar="NAME,…", help="these graphs only")
    add("--seeds", type=int, default=3, help="seeds 0 to SEEDS − 1 (default: 3)")
    add(
        "--arms",
        nargs="*",
        default=["default"],
        metavar="ARM",
        help='"default", or options: dim=32,members=5',
    )
    add(
        "--evidence",
        nargs="*",
        default=[],
        metavar="KIND",
        help='also with this evidence: "none" is geometry',
    )
    add("--baselines", default="all", help="all, untrained, none, or a list (default: all)")
    add("--jobs", type=int, default=1, help="processes; each has its share of the cores (default: 1)")
    add(
        "--prepared",
        type=Path,
        default=_folder("TIMELIKE_ZOO"),
        help="prepared graphs (default: $TIMELIKE_ZOO)",
    )
    add(
        "--data",
        type=Path,
        default=_folder("TIMELIKE_DATA"),
        help="folder of data sets (default: $TIMELIKE_DATA)",
    )
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "timelike" / "zoo"
    add("--cache", type=Path, default=cache, help=f"folder for downloaded packages (default: {cache})")
    add("--out", type=Path, default=Path("zoo-results"), help="folder of results (default: zoo-results)")
    a = parser.parse_args()
    if unknown := [name for name in a.graphs if name not in graphs_of("all")]:
        parser.error(f"--graphs: there is no {unknown[0]}; choose from {', '.join(graphs_of('all'))}")
    return a


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _folder(variable: str) -> Path | None:
    return Path(os.environ[variable]) if os.environ.get(variable) else None


if __name__ == "__main__":
    main()
