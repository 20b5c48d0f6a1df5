"""Speed targets of the explorer: under load, and with 100,000 nodes in a browser."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_it_is_fast_enough(tmp_path):
    command = [sys.executable, "-m", "benchmarks", "explore", "--out", str(tmp_path / "out.json")]
    subprocess.run(command, cwd=ROOT, check=True)
    lines = json.loads((tmp_path / "out.json").read_text())["explore"]["lines"]
    assert len(lines) >= 2
    assert [line["work"] for line in lines if line["met"] is False] == []
