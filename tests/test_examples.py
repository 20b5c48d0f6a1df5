"""Each script in `examples/` runs by itself and prints what its documentation promises."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"

#: Script → texts that its output must contain.
PROMISED = {
    "cycles": ("cylinder", "100%"),
    "fair_evaluation": ("uniform", "reversed", "degree product"),
    "gene_network": ("not in the file", "network-model/, network.png"),
    "new_nodes": ("'nodes': 5", "average precision"),
    "ontology": ("AUC", "poodle is a: dog"),
}


def test_every_example_is_run_and_listed():
    assert {path.stem for path in FOLDER.glob("*.py")} == set(PROMISED)
    listed = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}.py`" in listed for name in PROMISED)


@pytest.mark.long
@pytest.mark.parametrize("name", PROMISED)
def test_example(name, tmp_path):
    flags = {"PYTHONWARNINGS": "error"}
    command = [sys.executable, str(FOLDER / f"{name}.py")]
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | flags, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert all(part in done.stdout for part in PROMISED[name]), done.stdout
    assert not done.stderr
