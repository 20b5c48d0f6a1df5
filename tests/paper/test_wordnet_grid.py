"""The grid on WordNet: what is chosen on validation, and what the page says about it."""

import dataclasses

import pytest

import timelike as tl
from paper.studies import wordnet_grid
from paper.table_rows import load_rows, product
from paper.tasks import Result

ROW = next(row for row in load_rows("wordnet") if row.name == wordnet_grid.ROW)


def test_the_grid_has_81_settings_and_the_bold_one_among_them():
    settings = product(ROW.grid)
    assert len(settings) == 81
    assert ROW.settings in settings
    tasks = list(wordnet_grid.tasks(None))
    assert len(tasks) == 16
    assert len({task.name for task in tasks}) == 16


def made_up(kind: str, percent: int, best: int, test: float) -> Result:
    """A result in which one setting is the best by validation."""
    tasks = {(t.about["negatives"], t.about["dim"], t.about["percent"]): t for t in wordnet_grid.tasks(None)}
    settings = product(ROW.grid)
    searched = [50.0] * len(settings)
    searched[best] = 60.0
    found = {"searched": searched, "settings": settings[best], "median": test, "spread": 0.5}
    return Result(tasks[kind, 5, percent].about, found, {})


def test_report_compares_the_bold_values_with_the_best():
    bold = product(ROW.grid).index(ROW.settings)
    text = wordnet_grid.report([made_up("uniform", 0, bold, 30.0), made_up("both ends", 0, 0, 20.0)])
    assert "here: any two nodes and, apart, an edge with another source or another target." in text
    assert "here: any two nodes." in wordnet_grid.report([made_up("uniform", 0, bold, 30.0)])
    assert "| uniform: test [published] | 30.0 ± 0.5 [21.2] |" in text
    assert "| uniform: rank of the bold values | 1 of 81 |" in text
    assert "| both ends: rank of the bold values | 2 of 81 |" in text
    assert "With uniform negatives, the bold values are the best by validation in 1 of 1 cells" in text
    assert "by -1.2 to -1.2 points" in text
    assert "of 2: λ 1, α 2, τ₁ 1, τ₂ 1." in text  # bold: α at its end


@pytest.mark.long
def test_a_grid_is_searched_and_its_best_setting_tested(monkeypatch):
    graph = tl.datasets.transitive_closure(tl.datasets.tree(branching=3, depth=3))
    split = tl.split_edges(graph, 0.1, 0.1)
    monkeypatch.setattr(wordnet_grid, "load_split", lambda percent, data_dir: split)
    monkeypatch.setattr(wordnet_grid, "EPOCHS", 3)
    grid = {**ROW.settings, "learning_rate": [0.0001, 0.02]}
    row = dataclasses.replace(
        ROW, epochs=6, grid={k: x if isinstance(x, list) else [x] for k, x in grid.items()}
    )
    found = wordnet_grid.run(wordnet_grid.Cell(row, 5, 10, 2, None), "both ends")
    assert len(found["searched"]) == len(found["scores"]) == 2
    assert found["settings"]["learning_rate"] in (0.0001, 0.02)
