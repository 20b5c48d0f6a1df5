"""The notebooks of the documentation run in Jupyter, and show what they showed when they were kept."""

import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


def kinds(notebook) -> list[list[str]]:
    """For each cell, what it shows: text, tables, pictures."""
    outputs = [cell.get("outputs", []) for cell in notebook.cells]
    return [
        [kind for one in some for kind in [one.output_type, *sorted(one.get("data", {}))]] for some in outputs
    ]


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["gene-network", "ontology", "own-manifold"]


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore")  # of Jupyter, about its own sockets
def test_a_notebook_runs_and_shows_the_same_kinds_of_output(path, tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    monkeypatch.syspath_prepend(DOCS)
    run_notebooks = pytest.importorskip("run_notebooks", reason="nbclient is not installed")
    shown = kinds(run_notebooks.executed(path, tmp_path))
    assert shown == kinds(nbformat.read(path, as_version=4))
    assert any("text/html" in some for some in shown)
    assert any("image/png" in some for some in shown)
    sys.modules.pop("run_notebooks")
