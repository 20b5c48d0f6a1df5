"""Write the stored results of the paper, the studies and the benchmarks into README and docs.

python -m paper.pages            # after new results: write tables and pictures
python -m paper.pages --check    # fail if a page differs from the results

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

from paper.groups import load_group
from paper.groups.cyclic import DATA, degree_products
from paper.reports.tables import markdown, score
from paper.runner.reproduction import load_results, provenance
from paper.studies import members
from paper.table_rows import load_rows
from paper.tasks import Result

ROOT = Path(__file__).parents[1]
RESULTS, PICTURES = ROOT / "paper" / "results", ROOT / "docs" / "_static"
BENCHMARKS = ROOT / "benchmarks" / "results"
PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("results", "performance", "beyond-the-paper")),
]
BLOCK = re.compile(r"(<!-- results: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
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
    degrees = degree_products(stored("cyclic"))
    kinds = {dataset: r.about["negatives"] for (_, dataset), r in cells.items()}
    body = [["Degree product, no training", *(f"{degrees[dataset, kinds[dataset]]:.1f}" for dataset in DATA)]]
    for title in dict.fromkeys(row.title for row in load_rows("cyclic")):
        body.append([title, *(_cell(cells.get((title, dataset))) for dataset in DATA)])
    head = ["", *(name.removesuffix(", one graph") for name in DATA.values())]
    return f"{markdown(head, body)}\n\n{provenance(stored('cyclic'))}\n"


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


def block(name: str, folder: Path) -> str:
    """The text between the marks of a name."""
    if name == "summary":
        return summary()
    if name == "h200":
        return h200()
    if name == "h200-big":
        return h200_big()
    if name == "members":
        return members.table()
    if name in ("cost", "question", "wordnet_time"):
        report = importlib.import_module(f"paper.studies.{name}").report
        return f"{report(stored(name))}\n\n{provenance(stored(name))}\n"
    if name.startswith("cpu-"):
        return cpu(name.removeprefix("cpu-"))
    results = stored(name)
    if not results:
        return "Not computed yet.\n"
    text = load_group(name).report(results, folder).markdown
    body = re.sub(r"^# .*\n\n", "", text)  # the page has its own title
    body = re.sub(r"^## ", "### ", body, flags=re.MULTILINE)
    body = re.sub(r"\]\((\S+\.png)\)", r"](_static/\1)", body)
    return f"{body}\n\n{provenance(results)}\n"


def pages(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every page with its text as the results demand it; pictures go into `folder`."""
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        yield path, BLOCK.sub(lambda m: f"{m[1]}{block(m[2], folder)}{m[3]}", text)


def main() -> None:
    """Write the pages, or check them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
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
