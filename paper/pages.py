"""Write the stored results of the paper, the studies and the benchmarks into README and docs.

python -m paper.pages            # after new results: write tables and pictures
python -m paper.pages --check    # fail if a page differs from the results
python -m paper.pages --store OUT/cyclic.json    # first put new results into the stored ones of the group

Tables go between the marks `<!-- results: NAME -->` and `<!-- end -->`; the text around them is written by
hand.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paper.groups import honest, load_group
from paper.groups.cyclic import DATA
from paper.reports.epochs import best_and_last
from paper.reports.tables import markdown, score
from paper.runner.reproduction import aged, load_results, provenance, write_results
from paper.studies import members
from paper.table_rows import load_rows
from paper.tasks import Options, Result
from paper.training.simple_methods import SIMPLE

#: Benchmarks keep results and pages of their own.
zoo_page: Any = importlib.import_module("benchmarks.zoo.page")
informed_page: Any = importlib.import_module("benchmarks.informed.page")

ROOT = Path(__file__).parents[1]
RESULTS, PICTURES = ROOT / "paper" / "results", ROOT / "docs" / "_static"
BENCHMARKS = ROOT / "benchmarks" / "results"
PAGES = [
    ROOT / "README.md",
    *(
        ROOT / "docs" / f"{name}.md"
        for name in (
            *("results", "hierarchies", "performance", "runtimes"),
            *("beyond-the-paper", "zoo", "evidence"),
        )
    ),
]
#: Studies with a table of their own on a page.
STUDIES = (
    *(
        "batch",
        "cost",
        "cycle",
        "hierarchies",
        "one_model",
        "paper_batch",
        "question",
        "runtimes",
        "seed_graph",
        "transitivity",
    ),
    *("wordnet_cones", "wordnet_grid", "wordnet_poincare", "wordnet_time", "wordnet_untrained"),
)
BLOCK = re.compile(r"(<!-- results: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
#: The simple methods that the README shows, and those that it leaves to the results page.
SHOWN = ("degree product", "L3", "L3 normalised", "SVD", "dot product")
LEFT_OUT = [name for name in SIMPLE if name not in SHOWN]
#: The dimension that the README shows.
DIM = 10


def stored(group: str) -> list[Result]:
    """The stored results of a group."""
    file = RESULTS / f"{group}.json"
    return load_results(file) if file.is_file() else []


def summary() -> str:
    """The table of the README: a row for each model, a column for each graph, ours and published values."""
    cells = {
        (r.about["title"], r.about["dataset"]): r
        for r in stored("cyclic")
        if r.about.get("dim") == DIM and r.about["published"]
    }
    if not cells:
        return "Not computed yet.\n"
    kinds = {dataset: r.about["negatives"] for (_, dataset), r in cells.items()}
    simple = {
        r.about["dataset"]: r.found
        for r in stored("cyclic")
        if r.about["title"] == "baselines" and kinds.get(r.about["dataset"]) == r.about["negatives"]
    }
    body = [
        [
            f"{name}, one run" if name == "dot product" else name,
            *(f"{simple[data][name]:.1f}" for data in DATA),
        ]
        for name in SHOWN
    ]
    for title in dict.fromkeys(row.title for row in load_rows("cyclic")):
        body.append([title, *(_cell(cells.get((title, dataset))) for dataset in DATA)])
    head = ["", *(name.removesuffix(", one graph") for name in DATA.values())]
    return f"{markdown(head, body)}\n\n{provenance(stored('cyclic'))}\n"


def honest_summary() -> str:
    """The first table of the README: everything chosen on validation, and who wins."""
    results = stored("honest")
    if not results:
        return "Not computed yet.\n"
    columns = [name for name in honest.COLUMNS if "uniform" not in name]
    text = f"{honest.table(results, columns, LEFT_OUT)}\n\n{honest.verdict(results)}"
    return f"{text}\n\n{provenance(results)}\n"


def _cell(result: Result | None) -> str:
    if result is None:
        return "–"
    return f"{score(result.found)} [{result.about['published'][0]:.1f}]"


def cpu(name: str) -> str:
    """The measurements of a benchmark on processor cores, beside their targets."""
    found = json.loads((BENCHMARKS / "cpu.json").read_text("utf-8"))[name]
    body = [
        [line["work"], f"{_short(line['value'])} {line['unit']}", line["target"]] for line in found["lines"]
    ]
    machine = found["machine"]
    made = f"Made {found['date'][:10]} by `{found['command']}` on {machine['cores']} cores ({machine['cpu']})"
    return f"{markdown(['', 'measured', 'target'], body)}\n\n{made}.\n"


def h200() -> str:
    """Edges per second on WordNet's basic edges in d = 5, by batch and optimiser."""
    found = json.loads((BENCHMARKS / "h200.json").read_text("utf-8"))
    runs = {(r["optimizer"], r["batch"]): r["edges_per_s"] for r in found["wordnet"] if r["dim"] == 5}
    batches = sorted({batch for _, batch in runs})
    body = [
        [f"{title}, edges/s", *(_short(runs[key, batch]) for batch in batches)]
        for key, title in (("sgd", "SGD"), ("adam", "Adam"))
    ]
    head = ["batch", *(f"{batch:,}" for batch in batches)]
    return (
        f"{markdown(head, body)}\n\nMade {found['date']} by `{found['commands'][0]}` on {found['machine']}.\n"
    )


def h200_big() -> str:
    """The measurements on big graphs on one GPU, beside their targets."""
    found = json.loads((BENCHMARKS / "h200.json").read_text("utf-8"))
    lines = found["big"]
    body = [[line["work"], f"{_short(line['value'])} {line['unit']}", line["target"]] for line in lines]
    commands = "; ".join(f"`{command}`" for command in dict.fromkeys(line["command"] for line in lines))
    made = f"Made {found['date']} on {found['machine']} by {commands}"
    return f"{markdown(['', 'measured', 'target'], body)}\n\n{made}.\n"


def _short(value: Any) -> str:
    """Three significant digits; a power of ten from 10⁵ on."""
    if abs(value) < 1e5:
        return f"{value:.3g}"
    power = int(math.log10(abs(value)))
    return f"{value / 10**power:.3g} · 10{str(power).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def study(name: str, folder: Path) -> str:
    """The report of a study; its pictures go into `folder`."""
    module, results = importlib.import_module(f"paper.studies.{name}"), stored(name)
    if not results:
        return "Not computed yet.\n"
    if hasattr(module, "draw"):
        module.draw(results, folder)
    late = aged(results, module.tasks(None)) if hasattr(module, "tasks") else ""
    return f"{_shown(module.report(results))}\n\n{provenance(results)}{late}\n"


def _shown(text: str) -> str:
    """Markdown with the pictures where the documentation keeps them."""
    return re.sub(r"\]\((\S+\.png)\)", r"](_static/\1)", text)


def block(name: str, folder: Path) -> str:
    """The text between the marks of a name."""
    if name == "summary":
        return summary()
    if name == "honest-summary":
        return honest_summary()
    if name == "h200":
        return h200()
    if name == "h200-big":
        return h200_big()
    if name == "members":
        return members.table()
    if name == "zoo":
        return zoo_page.documented()
    if name == "zoo-summary":
        return zoo_page.summarised(zoo_page.unpack(zoo_page.STORED))
    if name == "informed":
        return informed_page.documented()
    if name == "last_epoch":
        return f"{best_and_last(stored(name), DATA)}\n\n{provenance(stored(name), whole=True)}\n"
    if name in STUDIES:
        return study(name, folder)
    if name.startswith("cpu-"):
        return cpu(name.removeprefix("cpu-"))
    results = stored(name)
    if not results:
        return "Not computed yet.\n"
    late = aged(results, load_group(name).tasks(Options()))
    text = load_group(name).report(results, folder).markdown
    body = re.sub(r"^# .*\n\n", "", text)  # the page has its own title
    body = re.sub(r"^## ", "### ", body, flags=re.MULTILINE)
    return f"{_shown(body)}\n\n{provenance(results)}{late}\n"


def pages(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every page with its text as the results demand it; pictures go into `folder`."""
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        yield path, BLOCK.sub(lambda m: f"{m[1]}{block(m[2], folder)}{m[3]}" if _known(m[2]) else m[0], text)


def _known(name: str) -> bool:
    """Whether the results of a block are in the repository; those of two benchmarks may not be yet."""
    files = {"zoo": zoo_page.STORED, "zoo-summary": zoo_page.STORED, "informed": informed_page.RESULTS}
    return name not in files or files[name].is_file()


def store(new: Path) -> None:
    """Put new results into the stored file of the same name, in place of those of the same tasks."""
    found = load_results(new)
    again = {_task(one) for one in found}
    kept = [one for one in stored(new.stem) if _task(one) not in again]
    write_results([*kept, *found], RESULTS / new.name)


def _task(result: Result) -> tuple[str, ...]:
    """What tells a task from the others of its group."""
    names = (
        *("row", "title", "kind", "geometry", "dataset", "dim", "percent", "protocol", "negatives"),
        *("training_negatives", "first", "graphs", "split", "seed"),
        *("nodes", "second", "share", "wrong"),
    )
    return tuple(str(result.about.get(name)) for name in names)


def main() -> None:
    """Write the pages, or check them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--store", type=Path, nargs="*", default=())
    arguments = parser.parse_args()
    check = arguments.check
    for new in arguments.store:
        store(new)
    with tempfile.TemporaryDirectory() as name:
        for path, text in pages(Path(name)):
            if check and path.read_text(encoding="utf-8") != text:
                sys.exit(
                    f"{path.relative_to(ROOT)} differs from the results in paper/results: run `make results`"
                )
            if not check:
                path.write_text(text, encoding="utf-8")
        if not check:
            for picture in Path(name).glob("*.png"):
                shutil.copy(picture, PICTURES)


if __name__ == "__main__":
    main()
