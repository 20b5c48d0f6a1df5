"""The best recipes: rows that can be run again, and a report that says what was reached."""

import dataclasses
import json
import re
from pathlib import Path

import pytest

import timelike as tl
from paper.groups import best, defaults
from paper.reports.paired_comparisons import comparisons, holm
from paper.runner.reproduction import load_results
from paper.table_rows import load_rows
from paper.tasks import Options
from paper.training import refit_with_validation
from timelike.core.model import Model
from timelike.core.struct import numbers_of
from timelike.engine.config import Config
from timelike.engine.negatives import Negatives
from timelike.estimator.recipes import portfolio
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import MANIFOLDS

ROWS = load_rows("best")
STORED = Path(__file__).parents[2] / "paper" / "results" / "best.json"
KNOWN = {*Config.__dataclass_fields__}


@pytest.mark.parametrize("row", [r for r in ROWS if "members" not in r.more], ids=lambda row: row.name)
def test_rows_can_be_run(row):
    cases = row.more.get("cases") or {str(row.dims[0]): {"settings": row.settings, **row.more}}
    assert set(cases) == {str(d) for d in row.dims}
    for dim, case in cases.items():
        likelihood = LIKELIHOODS[case.get("likelihood", row.likelihood)]()
        model = Model(MANIFOLDS[row.geometry](int(dim)), likelihood)
        assert case["settings"] == "portfolio" or set(case["settings"]) <= {*numbers_of(model), *KNOWN}
        assert Negatives(**case["negatives"]).total > 0
    assert row.open["search"]
    assert row.more["first_seed"] > 2000  # searches had lower ones


def test_members_of_both_kinds_are_runs_of_the_rows_with_other_seeds():
    names = {row.name: row for row in ROWS}
    for task in best.tasks(Options()):
        if "members" not in task.about.get("more", ()):
            continue
        (cell,) = task.run.args
        assert [one.row.name.split("/")[1].split("-")[0] for one in cell.members] == ["cone", "tfd"]
        for one in cell.members:
            assert (one.dim, one.percent) == (cell.dim, cell.percent)
            assert one.settings == names[one.row.name].settings
            assert one.row.more["first_seed"] > names[one.row.name].more["first_seed"] + 10
            assert one.seeds == cell.seeds * cell.row.more["each"]


@pytest.mark.long
def test_models_of_members_have_those_of_both_kinds():
    from paper.training.wordnet_cells import train_cell

    graph = tl.datasets.transitive_closure(tl.datasets.tree(branching=3, depth=4))
    split = tl.split_edges(graph, 0.1, 0.1)
    options = Options(quick=True, dims=(5,))
    task = next(t for t in best.tasks(options) if "members" in t.about.get("more", ()))
    (cell,) = task.run.args
    small = tuple(
        dataclasses.replace(one, row=dataclasses.replace(one.row, batch_size=64)) for one in cell.members
    )
    found = train_cell(dataclasses.replace(cell, members=small), split)
    assert len(found["scores"]) == len(found["valid"]) == len(found["ranked_by"]) == 2
    assert all(0 < score <= 100 for score in found["scores"])


def test_the_portfolio_is_the_one_that_fit_compares():
    for row in ROWS:
        if any(case["settings"] == "portfolio" for case in row.more.get("cases", {}).values()):
            assert refit_with_validation.portfolio(row.geometry) == portfolio(row.geometry)


def test_every_model_of_a_graph_has_the_same_splits_and_targets():
    for dataset in {row.dataset for row in ROWS} - {"wordnet"}:
        same = [(row.more["splits"], row.more["targets"], row.dims) for row in ROWS if row.dataset == dataset]
        assert len(same) % 5 == 0
        assert all(one == same[0] for one in same)
        assert len(same[0][0]) >= 5


def test_stored_results_are_those_of_the_rows():
    stored = {json.dumps(r.about, sort_keys=True) for r in load_results(STORED)}
    assert stored == {json.dumps(t.about, sort_keys=True) for t in best.tasks(Options())}


def test_the_report_compares_split_by_split(tmp_path):
    results = [r for r in load_results(STORED) if r.about["dataset"] == "dream5:ecoli"]
    text = best.report(results, tmp_path).markdown
    assert text.count(" of 6, p = ") == 2 * 3
    assert text.count(") °") == 3
    for r in results:
        shown = f"{r.found['median']:.1f} ± {r.found['spread']:.1f} ({r.found['mean']:.1f})"
        assert (f"{shown} ‡" if best.from_search(r) else shown) in text


def test_holms_correction_is_that_of_the_textbook():
    assert holm([]) == []
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.4]) == pytest.approx([0.8, 0.8])
    assert holm([0.9, 0.9]) == [1, 1]


def test_tests_are_counted_after_the_correction(tmp_path):
    results = [r for r in load_results(STORED) if r.about["dataset"] != "wordnet"]
    text = best.report(results, tmp_path).markdown.partition("## How sure the gains are")[2]
    tests = [
        one for name in best.DATA for one in comparisons(r for r in results if r.about["dataset"] == name)
    ]
    left = [p for p in holm([one.test.permutation_p for one in tests]) if p <= 0.05]
    assert f"Of these {len(tests)} tests" in text
    assert (f"{len(left)} of them survive" if left else "none of them survives") in text
    networks = [r for r in results if r.about["dataset"].startswith("dream5")]
    assert "none of them survives" in best.report(networks, tmp_path).markdown


def test_ensembles_are_labelled_with_all_their_coordinates(tmp_path):
    results = load_results(STORED)
    text = best.report(results, tmp_path).markdown
    for r in results:
        if "together" in r.found and r.about["dataset"] == "wordnet":
            count, dim = r.about["seeds"], r.about["dim"]
            score = f"{r.found['together']:.2f}"
            assert re.search(rf"{score}(\*\*)? ⟨{count} × {dim} = {count * dim}⟩", text)
        if "members" in r.about:
            assert f"({r.found['mean']:.1f}) ⟨20 × 10 = 200⟩" in text


def test_defaults_are_compared_with_the_present_recipes(tmp_path):
    """The tuned side is what the recipes' own table stores for the same splits."""
    results, recipes = load_results(STORED.with_name("defaults.json")), load_results(STORED)
    [row] = (
        one
        for one in defaults.report(results, tmp_path).rows
        if (one["data"], one["non_edges"], one["geometry"]) == ("dream5:ecoli", "listed", "minkowski")
    )
    [recipe] = (r for r in recipes if (r.about["row"], r.about["dim"]) == ("dream5-ecoli/minkowski", 10))
    scores = dict(zip(recipe.about["splits"], recipe.found["scores"], strict=True))
    assert row["tuned"] == pytest.approx(sum(scores[split] for split in (100, 101, 102)) / 3)


def test_results_of_a_search_are_marked_and_counted(tmp_path):
    results = load_results(STORED)
    text = best.report(results, tmp_path).markdown
    count = sum("search" in r.made["command"] for r in results)
    assert f"‡: {count} of the {len(results)} results" in text
    assert text.count("‡") == 1 + count
    again = [r._replace(made={**r.made, "command": "python -m paper best"}) for r in results]
    assert "‡" not in best.report(again, tmp_path).markdown


@pytest.mark.long
def test_a_refit_scores_the_test_at_the_epoch_of_the_first_fit():
    row = next(r for r in ROWS if r.name == "duplication-divergence/minkowski")
    row = row.__class__(**{**row.__dict__, "epochs": 3, "burn_in": 0})
    found = refit_with_validation.run(refit_with_validation.Case(row, 10, (17, 44), (1, 2), None))
    assert len(found["scores"]) == 2
    assert all(1 <= epoch <= 3 for epoch in found["epoch"])
    assert all(0 < score < 100 for score in found["scores"] + found["together"] + found["without_valid"])
