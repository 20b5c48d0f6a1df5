"""Rows say what the paper says, and every one of them can be turned into a model."""

import re
from pathlib import Path

import pytest

from paper import table_rows
from paper.table_rows import load_rows
from timelike.core.model import Model
from timelike.core.struct import numbers_of
from timelike.engine.config import Config
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import MANIFOLDS

PAPER = Path(__file__).parents[3] / "shared" / "paper" / "sim2021.tex"
SETTINGS = {*Config.__dataclass_fields__}
GROUPS = ("cyclic", "ablation", "toys")
ROWS = [pytest.param(row, id=f"{group}/{row.name}") for group in GROUPS for row in load_rows(group)]


@pytest.mark.parametrize("row", ROWS)
def test_settings_are_numbers_of_the_model_or_of_training(row):
    model = Model(MANIFOLDS[row.geometry](row.dims[0]), LIKELIHOODS[row.likelihood]())
    assert {*row.settings, *row.grid} <= {*numbers_of(model), *SETTINGS}
    assert row.open
    assert row.seeds > 1


def test_candidates_are_in_the_grid():
    for row in load_rows("cyclic"):
        for name, values in row.grid.items():
            assert set(row.candidates()[name]) <= set(values), (row.name, name)


def test_toys_name_the_settings_that_are_in_none_of_the_papers_grids():
    known: dict[str, set[float]] = {"alpha": {0.001, 0.075}}  # figure 3
    for row in load_rows("cyclic"):
        for name, values in (*row.grid.items(), *row.bold().items()):
            known.setdefault(name, set()).update(values)
    for row in load_rows("toys"):
        for name, value in row.settings.items():
            assert name == "k" or value in known[name] or f"{value:g}" in row.open["settings"], (
                row.name,
                name,
            )


def test_cyclic_rows_are_complete():
    rows = load_rows("cyclic")
    assert len(rows) == 20
    assert all(set(row.published) == {str(d) for d in row.dims} for row in rows)


@pytest.mark.skipif(not PAPER.exists(), reason="needs the paper's source beside the project")
def test_published_numbers_are_those_of_the_full_table():
    text = PAPER.read_text()
    start = text.index(r"\label{dupdiv_dream5_table_results}")
    table = text[start : text.index(r"\end{table*}", start)]
    lines = [re.findall(r"([\d.]+?)\.?\s*\\pm\s*([\d.]+)", line) for line in table.splitlines()]
    printed = [[[float(a), float(b)] for a, b in line] for line in lines if line]
    assert printed == [list(row.published.values()) for row in load_rows("cyclic")]


def test_a_row_can_be_like_another_and_take_back_what_it_says():
    like, other = (next(r for r in load_rows("ablation") if r.name == name) for name in ("m5", "m1"))
    assert like.settings == next(r for r in load_rows("cyclic") if r.name.endswith("/minkowski")).settings
    assert like.published
    assert not other.published


def test_a_slip_in_a_row_is_named(tmp_path, monkeypatch):
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "model.toml").write_text('title = "x"\nepoch = 3\n')
    monkeypatch.setattr(table_rows, "ROWS", tmp_path)
    with pytest.raises(ValueError, match=r"model\.toml: 'epoch'"):
        load_rows("new")
