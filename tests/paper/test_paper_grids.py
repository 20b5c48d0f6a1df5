"""The hyperparameter grids come in pieces, and are put together again."""

import dataclasses
import itertools
from pathlib import Path

import pytest

from paper.groups import grid
from paper.reports.grid_conclusions import conclusions
from paper.table_rows import load_rows, product
from paper.tasks import Options, Result
from paper.training.link_prediction import Case


def test_pieces_cover_every_grid_with_programs_of_one_shape():
    tasks = list(grid.tasks(Options()))
    for _, some in itertools.groupby(tasks, key=lambda task: task.name.rpartition("-")[0]):
        abouts = [task.about for task in some]
        assert len({about["size"] for about in abouts}) == 1
        assert abouts[0]["size"] * abouts[0]["seeds"] <= grid.LANES
        covered = {i for about in abouts for i in range(about["first"], about["first"] + about["size"])}
        assert covered == set(range(len(product(abouts[0]["grid"]))))


def test_grids_without_a_choice_are_left_out():
    names = {task.about["row"] for task in grid.tasks(Options())}
    left_out = {row.name for row in load_rows("cyclic")} - names
    assert left_out == {"dream5-ecoli/anti-de-sitter", "dream5-yeast/anti-de-sitter"}


def found(task, merit) -> Result:
    """A result that scores as its settings merit, as the runner stores it."""
    about = task.about
    settings = product(about["grid"])[about["first"] : about["first"] + about["size"]]
    merits = [merit(one) for one in settings]
    scores = [m - 1 for m in merits]
    return Result(about, {"scores": scores, "spreads": [0.5] * len(scores), "merits": merits}, {})


def test_pieces_are_one_grid_again():
    tasks = [t for t in grid.tasks(Options()) if "duplication-divergence/cylindrical" in t.name]

    bold = load_rows("cyclic")[4].settings

    def merit(one):
        return 40 + 20 * (one["tau1"] == 0.15) + sum(one[name] == value for name, value in bold.items())

    results = [found(task, merit) for task in tasks]
    report = grid.report(results, Path())
    assert [row["tried"] for row in report.rows] == [450, 450]
    assert "45.0 → 64.0 (+19.0)" in report.markdown  # one of six settings is not bold
    assert "| τ₁ 0.15 |" in report.markdown
    part = grid.report([r for r in results if r.about["first"] > 0], Path())
    assert "of 365, 85 missing" in part.markdown


@pytest.mark.long
def test_a_piece_scores_its_settings():
    row = next(row for row in load_rows("cyclic") if row.name == "duplication-divergence/anti-de-sitter")
    row = dataclasses.replace(row, epochs=15, grid={"r": [-0.1, 0.0], "learning_rate": [0.02, 0.0001]})
    case = Case.of(row, 3, "paper", "uniform", Options())._replace(seeds=2)
    whole = grid.run(case, "uniform", 0, 4)
    assert grid.run(case, "uniform", 2, 2)["scores"] == pytest.approx(whole["scores"][2:], abs=0.5)
    assert whole["scores"][0] > whole["scores"][1] + 2  # a rate that is too low learns nothing
    assert whole["merits"] == pytest.approx(whole["scores"], abs=0.01)


def searched(title: str, dataset: str, protocol: str, best: dict, scores: dict) -> grid.Searched:
    """A grid of two rates and two α, whose `best` combination has the highest merit."""
    about = {"title": title, "dataset": dataset, "dim": 10, "protocol": protocol}
    about |= {"training_negatives": "same_source" if "dream5" in dataset else "uniform", "seeds": 3}
    about |= {"grid": {"learning_rate": [0.02, 0.08, 0.2], "alpha": [0.03, 0.09]}}
    about |= {"bold": {"learning_rate": [0.02, 0.2], "alpha": [0.03]}}
    tried = [
        grid.Tried(
            one, scores.get(tuple(one.values()), 50.0), 1.0, 99.0 if one == best else 40 + one["alpha"]
        )
        for one in product(about["grid"])
    ]
    return grid.Searched(about, sorted(tried, key=lambda one: -one.merit))


def test_conclusions_follow_from_the_grids():
    best = {"learning_rate": 0.08, "alpha": 0.09}
    data = ("duplication-divergence", "dream5:ecoli")
    found = [
        searched("Minkowski + TFD", name, protocol, best, {(0.08, 0.09): 60.0})
        for name in data
        for protocol in ("paper", "honest")
    ]
    text = conclusions(found)
    assert "*Bold values* are the best of 0 of 4 grids" in text
    assert "bold value in 0 % of all settings under the paper's protocol (a random one: 58 %)" in text
    assert "gains +0.0 points of test AP in the median (+0.0 to +0.0), the whole grid +10.0" in text
    assert "worse on the test than the bold values in 0 of 1 and 0 of 1" in text
    assert "above every bold one in 2 of 2 grids" in text
    assert "in 2 of the 2 grids that have several" in text
    assert "Spacetimes with" not in text  # no Riemannian model to compare with
    rivals = [
        searched(title, name, "honest", {"learning_rate": 0.02, "alpha": 0.03}, {(0.02, 0.03): 60.5})
        for title in ("Euclidean + FD", "Hyperboloid + FD")
        for name in data
    ]
    text = conclusions([*found, *rivals])
    assert "under the honest one, 0 of 2 spacetimes are above both Riemannian models" in text
    assert "-0.5 to -0.5 points from the better of them, within the spread over seeds on 2 of 2" in text
    assert "*Bold values* are the best of 4 of 8 grids" in text
