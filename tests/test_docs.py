"""The Python blocks of the README and of every page of the documentation run."""

import re
from pathlib import Path
from unittest.mock import patch

import pytest

from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import MANIFOLDS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def program(page: Path) -> str:
    """The blocks of a page as one program, each on its own lines of the page so that errors point there."""
    text = page.read_text(encoding="utf-8")
    lines = [""] * (text.count("\n") + 1)
    for block in BLOCK.finditer(text):
        start = text.count("\n", 0, block.start(1))
        code = block[1].splitlines()
        lines[start : start + len(code)] = code
    return "\n".join(lines)


#: Pages that train many models.
SLOW = ("gallery",)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(p, id=p.stem, marks=[pytest.mark.slow] if p.stem in SLOW else [])
        for p in PAGES
        if program(p).strip()
    ],
)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with patch.dict(MANIFOLDS), patch.dict(LIKELIHOODS):
        exec(compile(program(page), str(page), "exec"), {"__name__": f"docs_{page.stem}"})


def test_pictures_are_small_and_all_used():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for picture in (ROOT / "docs" / "_static").glob("*.png"):
        assert picture.stat().st_size < 200_000
        assert picture.name in text
