"""The WordNet table: rows that say what the paper says, and cells that choose by validation alone."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import timelike as tl
from paper.groups import wordnet
from paper.groups.wordnet import Cell
from paper.reports.wordnet_rivals import (
    UNTRAINED,
    above_models,
    above_with_less,
    best_published,
    published_table,
    untrained,
    untrained_lines,
)
from paper.reports.wordnet_training import AUTHORS, steps
from paper.runner.reproduction import load_results
from paper.table_rows import load_rows
from paper.tasks import Options, Result
from timelike.baselines import MODELS
from timelike.core.model import Model
from timelike.core.struct import numbers_of
from timelike.engine.config import Config
from timelike.engine.negatives import Negatives
from timelike.evaluation import Reachability
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
    assert set(row.published) >= (set() if name == "minkowski-cone" else cases)
    settings = {k for one in row.more.get("tries", []) for k in one} | {*row.settings}
    likelihood = LIKELIHOODS[row.likelihood]()
    model = MODELS[row.geometry](5) if row.geometry in MODELS else Model(Minkowski(5), likelihood)
    assert settings <= {*numbers_of(model), *Config.__dataclass_fields__}
    for kinds in (row.more["negatives"], *row.more["negatives_at"].values()):
        assert Negatives(**kinds).total > 0


def test_every_baseline_has_a_row():
    orders = {*MODELS} - {"dot-product", "twisted-time"}  # which are no models of a hierarchy
    assert orders == {row.geometry for row in ROWS.values()} - {"minkowski"}
    titles = {row.title for row in ROWS.values()}
    assert len(list(wordnet.tasks(Options()))) == 8 * len(titles)
    assert len(list(wordnet.tasks(Options(quick=True)))) == len(titles)


def results_of(name: str, **medians: float) -> list[Result]:
    """Made-up results of a row, by share of the closure: p10=90.0."""
    row, made = ROWS[name], {"seconds": 1.0, "cpu_seconds": 1.0}
    found = {"spread": 0.5, "settings": {"learning_rate": 0.01}, "tried": [{}, {}]}
    cells = {key[1:]: median for key, median in medians.items()}
    return [
        Result(wordnet.describe(Cell(row, 5, int(percent), 5, None)), {**found, "median": median}, made)
        for percent, median in cells.items()
    ]


def test_report_marks_cells_and_rows_far_below_published():
    report = wordnet.report(results_of("spherical-disk", p10=90.0, p25=80.0), Path())
    assert "| Spherical Disk | 90.0 ± 0.5 [84.8] | 80.0 ± 0.5 † [90.5] |" in report.markdown
    assert "1 of 2 cells" in report.markdown
    assert "| Spherical Disk † | 6,000 | 4,096 | 25 | adam | – |" in report.markdown
    assert "| 2 | 1 of 2, by up to 10.5 |" in report.markdown
    assert [row["published"] for row in report.rows] == [84.8, 90.5]


def test_report_names_whole_rows_and_the_place_of_the_cone():
    results = results_of("order-embedding", p10=80.0, p0=10.0) + results_of("spherical-disk", p10=90.0)
    results += results_of("minkowski-cone", p10=85.0, p0=20.0)
    text = wordnet.report(results, Path()).markdown
    assert "This holds in every cell of Spherical Disk." in text
    assert "Minkowski + cone has place 2 from 10 % on and 1 without closure pairs." in text


def test_report_says_which_rows_drew_harder_negatives():
    results = results_of("minkowski", p0=50.0) + results_of("order-embedding", p0=40.0)
    assert "Only Minkowski + TFD drew negatives of harder kinds" in wordnet.report(results, Path()).markdown


def test_report_compares_the_training_of_the_authors_with_that_of_the_other_rows():
    results = results_of("poincare-embedding", p10=44.0, p50=72.0)
    assert "What the training of their authors" not in wordnet.report(results, Path()).markdown
    results += results_of("poincare-authors", p10=70.0, p50=71.0)
    text = wordnet.report(results, Path()).markdown
    assert (
        "- Poincaré Embeddings: F1 is higher than with that of the other rows in 1 of 2 cells (-1.0 to "
        "+26.0 points), and -12.9 to +0.6 points from the published one; 1 of 2 cells are at most 3 points "
        "below it."
    ) in text
    text = wordnet.report(results_of("cones-authors", p50=90.0), Path()).markdown
    assert "sgd, after 100 epochs as Poincaré Embeddings" in text
    assert "- Hyperbolic Entailment Cones: F1 is -2.8 to -2.8 points from the published one" in text


def test_rows_with_their_authors_training_are_named_alike():
    named = {name: row for name, row in ROWS.items() if name.endswith("-authors")}
    assert len(named) == 3
    assert all(row.title.endswith(AUTHORS) for row in named.values())
    titles = {row.title for row in ROWS.values()}
    assert all(row.title.removesuffix(AUTHORS) in titles for row in named.values())


def test_steps_of_rows_with_epochs_follow_from_the_training_edges():
    (result,) = results_of("minkowski-paper", p0=30.0)
    edges = untrained()[0].found["edges"]
    assert steps(result) == 150 * -(-edges // 50)


@pytest.mark.parametrize("percent", [0, 10, 25, 50])
def test_reachability_is_the_ceiling_of_every_column(percent):
    found = untrained()[percent].found["methods"]
    assert found["Reachability"]["test"] == found["Reachability"]["above_0"] == 100
    lines = {line[0]: line[1] for line in untrained_lines([(5, percent)])}
    assert lines["Reachability, no training"] == "100.0"
    assert lines["Degree product, no training"] == f"{found['Degree product']['test']:.1f}"


def test_best_published_tells_sizes_apart():
    same, other = best_published([(5, 0), (10, 50)])
    assert same[1:] == ["45.2", "97.0"]
    assert other[1:] == ["98.6", "–"]
    assert "the best published F1 is 98.6 (Binder)" in published_table([(5, 0)])


def test_columns_in_which_a_method_without_training_wins_are_counted():
    katz = untrained()[25].found["methods"]["Katz, paths of up to 4 edges"]["test"]
    text = above_models({(5, 25): katz - 1, (10, 25): katz + 0.5})
    assert "Reachability is above every model in 2 of 2 columns" in text
    assert "4 edges is above every model in 1 of 2" in text
    assert "above 2 of our 3 scores" in above_with_less([90.0, 98.0, 99.0])


def test_poincare_study_scores_the_test_of_the_run_that_validation_chooses():
    from paper.studies import wordnet_poincare

    results = load_results(UNTRAINED.with_name("wordnet_poincare.json"))
    assert [r.about for r in results] == [task.about for task in wordnet_poincare.tasks(None)]
    assert all(r.found["valid"][r.found["chosen"]] == max(r.found["valid"]) for r in results)
    text = wordnet_poincare.report(results)
    assert all(f"**{r.found['test']:.1f}**" in text for r in results)


def test_a_method_without_training_is_scored_at_the_threshold_of_validation():
    from paper.studies.wordnet_untrained import METHODS, measured

    graph = tl.datasets.transitive_closure(tl.datasets.tree(branching=3, depth=4))
    split = tl.split_edges(graph, 0.1, 0.1)
    found = {name: measured(make(split.train), split) for name, make in METHODS.items()}
    assert all(0 < one["test"] <= 100 for one in found.values())
    assert measured(Reachability(graph), split)["test"] == 100  # it sees the held-out edges


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
