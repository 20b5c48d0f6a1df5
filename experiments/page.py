"""Write the results into README and docs, from what `timelike reproduce` and the benchmarks left.

python -m experiments.page            # after new results: tables and pictures
python -m experiments.page --check    # are the pages in step with the results?

Tables go between the marks `<!-- results: NAME -->` and `<!-- end -->`; the words around them are written
by hand.
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

from experiments import members
from timelike.reproduce.groups import load_group
from timelike.reproduce.run import how, load_results
from timelike.reproduce.tables import markdown, score
from timelike.reproduce.task import Result

ROOT = Path(__file__).parents[1]
RESULTS, PICTURES = ROOT / "experiments" / "results", ROOT / "docs" / "_static"
BENCHMARKS = ROOT / "benchmarks" / "results"
PAGES = [
    ROOT / "README.md",
    *(
        ROOT / "docs" / f"{name}.md"
        for name in (
            "results",
            "choose-a-geometry",
            "evaluation",
            "predict",
            "big-graphs",
            "many-processes",
        )
    ),
]
BLOCK = re.compile(r"(<!-- results: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
#: The dimension that the README shows.
DIM = 10


def stored(group: str) -> list[Result]:
    """The results of a group that are kept in the repository."""
    file = RESULTS / f"{group}.json"
    return load_results(file) if file.is_file() else []


def summary() -> str:
    """The README's table: one row per model, one column per graph, ours and the paper's; degrees first."""
    cells = {
        (r.about["title"], r.about["dataset"]): r
        for r in stored("cyclic")
        if r.about.get("dim") == DIM and r.about["published"]
    }
    if not cells:
        return "Not computed yet.\n"
    titles = list(dict.fromkeys(r.about["title"] for r in stored("cyclic") if r.about.get("dim")))
    from timelike.reproduce.cyclic import DATA, degree_products

    degrees = degree_products(stored("cyclic"))
    asked = {dataset: r.about["negatives"] for (_, dataset), r in cells.items()}
    body = [["Degree product, no training", *(f"{degrees[dataset, asked[dataset]]:.1f}" for dataset in DATA)]]
    body += [[title, *(_cell(cells.get((title, dataset))) for dataset in DATA)] for title in _ordered(titles)]
    head = ["", *(name.removesuffix(", one graph") for name in DATA.values())]
    return f"{markdown(head, body)}\n\n{how(stored('cyclic'))}\n"


def _ordered(titles: list[str]) -> list[str]:
    from timelike.reproduce.row import load_rows

    known = list(dict.fromkeys(row.title for row in load_rows("cyclic")))
    return [title for title in known if title in titles]


def _cell(result: Result | None) -> str:
    if result is None:
        return "–"
    return f"{score(result.found)} [{result.about['published'][0]:.1f}]"


def cpu(name: str) -> str:
    """What a benchmark measured on processor cores, beside what was wanted."""
    found = json.loads((BENCHMARKS / "cpu.json").read_text("utf-8"))[name]
    body = [
        [line["work"], f"{_short(line['value'])} {line['unit']}", line["target"]] for line in found["lines"]
    ]
    machine = found["machine"]
    made = f"Made {found['date'][:10]} by `{found['command']}` on {machine['cores']} cores ({machine['cpu']})"
    return f"{markdown(['', 'measured', 'wanted'], body)}\n\n{made}.\n"


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
    """What was measured of big graphs on one GPU, beside what was wanted."""
    found = json.loads((BENCHMARKS / "h200.json").read_text("utf-8"))
    lines = found["big"]
    body = [[line["work"], f"{_short(line['value'])} {line['unit']}", line["target"]] for line in lines]
    commands = "; ".join(f"`{command}`" for command in dict.fromkeys(line["command"] for line in lines))
    made = f"Made {found['date']} on {found['machine']} by {commands}"
    return f"{markdown(['', 'measured', 'wanted'], body)}\n\n{made}.\n"


def _short(value: Any) -> str:
    """Three digits; powers of ten beyond 10⁵."""
    if abs(value) < 1e5:
        return f"{value:.3g}"
    power = int(math.log10(abs(value)))
    return f"{value / 10**power:.3g} · 10{str(power).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def block(name: str, folder: Path) -> str:
    """What belongs between the marks of a name."""
    if name == "summary":
        return summary()
    if name == "h200":
        return h200()
    if name == "h200-big":
        return h200_big()
    if name == "members":
        return members.table()
    if name in ("cost", "question", "wordnet_time"):
        report = importlib.import_module(f"experiments.{name}").report
        return f"{report(stored(name))}\n\n{how(stored(name))}\n"
    if name.startswith("cpu-"):
        return cpu(name.removeprefix("cpu-"))
    results = stored(name)
    if not results:
        return "Not computed yet.\n"
    text = load_group(name).report(results, folder).markdown
    body = re.sub(r"^# .*\n\n", "", text)  # the page has its own title
    body = re.sub(r"^## ", "### ", body, flags=re.MULTILINE)
    body = re.sub(r"\]\((\S+\.png)\)", r"](_static/\1)", body)
    return f"{body}\n\n{how(results)}\n"


def pages(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every page with its text as it should be; pictures go into `folder`."""
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        yield path, BLOCK.sub(lambda m: f"{m[1]}{block(m[2], folder)}{m[3]}", text)


def main() -> None:
    """Write the pages, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as name:
        for path, text in pages(Path(name)):
            if check and path.read_text(encoding="utf-8") != text:
                sys.exit(
                    f"{path.relative_to(ROOT)} is not in step with experiments/results: run `make results`"
                )
            if not check:
                path.write_text(text, encoding="utf-8")
        if not check:
            for picture in Path(name).glob("*.png"):
                shutil.copy(picture, PICTURES)


if __name__ == "__main__":
    main()
