"""The WordNet table: rows that say what the paper says, and cells that choose by validation alone."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import timelike as tl
from paper.groups import wordnet
from paper.groups.wordnet import Cell
from paper.table_rows import load_rows
from paper.tasks import Options, Result
from timelike.baselines import MODELS
from timelike.core.model import Model
from timelike.core.struct import numbers_of
from timelike.engine.config import Config
from timelike.engine.negatives import Negatives
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import Minkowski

PAPER = Path(__file__).parents[3] / "shared" / "paper" / "sim2021.tex"
ROWS = {row.name: row for row in load_rows("wordnet")}


def printed(line: str) -> list[float]:
    """The numbers in the cells of a line of LaTeX; spreads are left out."""
    line = re.sub(r"\\cite\{\w+\}|\\cellcolor\[HTML\]\{\w+\}|±\s*[\d.]+", "", line)
    return [float(x) for x in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", line.partition("&")[2])]


@pytest.mark.skipif(not PAPER.exists(), reason="needs the paper's source beside the project")
def test_published_numbers_are_those_of_the_table():
    text = PAPER.read_text()
    start = text.index(r"\toprule", text.index(r"\label{Wordnet_table}"))
    lines = [printed(line) for line in text[start : text.index(r"\end{tabular}", start)].split(r"\\")]
    names = ["minkowski", "order-embedding", "euclidean-disk", "spherical-disk", "hyperbolic-disk"]
    names += ["entailment-cones", "poincare-embedding"]
    published = {name: {**ROWS[name].published} for name in names}
    published["hyperbolic-disk"] |= ROWS["hyperbolic-disk-10"].published
    ours = [[case[0] for case in published[name].values()] for name in names]
    assert [line for line in lines if line] == ours
    assert ROWS["minkowski-paper"].published == ROWS["minkowski"].published


@pytest.mark.parametrize("name", ROWS)
def test_rows_can_be_run(name):
    row = ROWS[name]
    cases = {f"{d}, {p}%" for d in row.dims for p in row.more["percents"]}
    assert set(row.published) == (set() if name == "minkowski-cone" else cases)
    settings = {k for one in row.more.get("tries", []) for k in one} | {*row.settings}
    likelihood = LIKELIHOODS[row.likelihood]()
    model = MODELS[row.geometry](5) if row.geometry in MODELS else Model(Minkowski(5), likelihood)
    assert settings <= {*numbers_of(model), *Config.__dataclass_fields__}
    for kinds in (row.more["negatives"], *row.more["negatives_at"].values()):
        assert Negatives(**kinds).total > 0


def test_every_baseline_has_a_row():
    assert {*MODELS} - {"dot-product"} == {row.geometry for row in ROWS.values()} - {"minkowski"}
    titles = {row.title for row in ROWS.values()}
    assert len(list(wordnet.tasks(Options()))) == 8 * len(titles)
    assert len(list(wordnet.tasks(Options(quick=True)))) == len(titles)


def test_report_has_a_column_for_each_case():
    about = {"row": "spherical-disk", "title": "Spherical Disk", "dim": 5, "percent": 10, "seeds": 5}
    found = {"median": 90.0, "spread": 0.5, "settings": {"learning_rate": 0.01}}
    made = {"seconds": 1.0, "cpu_seconds": 1.0}
    results = [
        Result({**about, "published": [84.8]}, found, made),
        Result({**about, "percent": 25, "published": [90.5]}, {**found, "median": 80.0}, made),
    ]
    report = wordnet.report(results, Path())
    assert "| Spherical Disk | 90.0 ± 0.5 [84.8] | 80.0 ± 0.5 [90.5] |" in report.markdown
    assert "1 of 2 cells" in report.markdown
    assert [row["published"] for row in report.rows] == [84.8, 90.5]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["minkowski", "entailment-cones", "poincare-embedding"])
def test_a_cell_is_learned(name):
    from paper.training.wordnet_cells import train_cell

    graph = tl.datasets.transitive_closure(tl.datasets.tree(branching=3, depth=4))
    split = tl.split_edges(graph, 0.1, 0.1)
    row = ROWS[name]
    more = {**row.more, "steps": 300, "tries": row.more["tries"][:2]}
    more |= {"warm": {**row.more["warm"], "steps": 100}} if "warm" in row.more else {}
    found = train_cell(Cell(dataclasses.replace(row, batch_size=64, more=more), 5, 10, 2, None), split)
    assert len(found["scores"]) == len(found["valid"]) == 2
    assert len(found["tried"]) == 2
    assert np.median(found["scores"]) > 40
