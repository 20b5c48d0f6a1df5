"""Figures over commits: what the next commit must reach, and the page that draws them."""

import re
import xml.etree.ElementTree as ET

import pytest

from benchmarks import watched
from benchmarks.watched_page import page

RECORDS = [{"commit": f"c{i}", "figures": {"speed <a>": 1.0 + i, "new": 2.0}} for i in range(8)]


def test_the_least_is_below_the_median_of_the_last_commits():
    assert watched.floor_of(RECORDS, "speed <a>") == pytest.approx(0.8 * 6)
    assert watched.floor_of(RECORDS, "unknown") == 0


def test_a_figure_that_falls_fails(tmp_path, monkeypatch):
    out = tmp_path / "quick.json"
    monkeypatch.setattr("sys.argv", ["watched", "--out", str(out)])
    monkeypatch.setattr(watched, "FIGURES", {"speed": lambda: 1.0})
    watched.main()
    before = out.read_text()
    monkeypatch.setattr(watched, "versions", lambda: {"commit": "next"})
    monkeypatch.setattr(watched, "FIGURES", {"speed": lambda: 0.79})
    with pytest.raises(SystemExit, match="speed"):
        watched.main()
    assert out.read_text() == before
    monkeypatch.setattr(watched, "FIGURES", {"speed": lambda: 0.81})
    watched.main()
    assert out.read_text().count('"commit"') == 2
    assert "next" in out.with_suffix(".html").read_text()


def test_the_page_draws_every_figure():
    text = page(RECORDS, {"speed <a>": 4.8, "new": 1.6})
    pictures = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    lines = [ET.fromstring(picture).find("polyline").get("points").split() for picture in pictures]
    assert [len(line) for line in lines] == [8, 8]
    assert "speed &lt;a&gt;" in text
