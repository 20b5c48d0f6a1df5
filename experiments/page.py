"""Write the results into README.md and docs/results.md, from what `timelike reproduce` left in `results/`.

python -m experiments.page            # after new results: tables and pictures
python -m experiments.page --check    # are the pages in step with the results?

Tables go between the marks `<!-- results: NAME -->` and `<!-- end -->`; the words around them are written
by hand.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from timelike.reproduce.groups import load_group
from timelike.reproduce.run import how, load_results
from timelike.reproduce.tables import markdown, score
from timelike.reproduce.task import Result

ROOT = Path(__file__).parents[1]
RESULTS, PICTURES = ROOT / "experiments" / "results", ROOT / "docs" / "_static"
PAGES = (ROOT / "README.md", ROOT / "docs" / "results.md")
BLOCK = re.compile(r"(<!-- results: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
#: The dimension that the README shows.
DIM = 10


def stored(group: str) -> list[Result]:
    """The results of a group that are kept in the repository."""
    file = RESULTS / f"{group}.json"
    return load_results(file) if file.is_file() else []


def summary() -> str:
    """The README's table: one row per model, one column per graph, ours and the paper's."""
    cells = {
        (r.about["title"], r.about["dataset"]): r
        for r in stored("cyclic")
        if r.about.get("dim") == DIM and r.about["published"]
    }
    if not cells:
        return "Not computed yet.\n"
    titles = list(dict.fromkeys(r.about["title"] for r in stored("cyclic") if r.about.get("dim")))
    from timelike.reproduce.cyclic import DATA

    body = [[title, *(_cell(cells.get((title, dataset))) for dataset in DATA)] for title in _ordered(titles)]
    head = ["", *(name.removesuffix(", one graph") for name in DATA.values())]
    used = list(cells.values())
    return f"{markdown(head, body)}\n\n{how(used)}\n"


def _ordered(titles: list[str]) -> list[str]:
    from timelike.reproduce.row import load_rows

    known = list(dict.fromkeys(row.title for row in load_rows("cyclic")))
    return [title for title in known if title in titles]


def _cell(result: Result | None) -> str:
    if result is None:
        return "–"
    return f"{score(result.found)} [{result.about['published'][0]:.1f}]"


def block(name: str, folder: Path) -> str:
    """What belongs between the marks of a name."""
    if name == "summary":
        return summary()
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
