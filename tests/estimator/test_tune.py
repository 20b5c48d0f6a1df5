"""A search for settings: by validation only, again after a kill, and what it writes can be fitted."""

import dataclasses
import json

import numpy as np
import pytest

import timelike as tl
from timelike.core.struct import numbers_of
from timelike.engine.negatives import Negatives
from timelike.estimator import search_space, tuning
from timelike.estimator.planned_candidates import assemble
from timelike.estimator.recipes import negatives_of
from timelike.estimator.settings import PRESETS, TRAINING, Settings, as_settings

START = Settings(training={"epochs": 4, "batch_size": 64})
GRAPH_NAME = "random-dag:nodes=40,edges=240"
GRAPH = tl.datasets.random_dag(40, 240, seed=1)


def search(**given):
    return tl.tune(GRAPH, START, **{"dim": 3, "trials": 5, "progress": False, **given})


@pytest.fixture(scope="module")
def journal(tmp_path_factory):
    return tmp_path_factory.mktemp("search") / "journal.json"


@pytest.fixture(scope="module")
def tuned(journal):
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(tuning.LANES, "cpu", 4)
        patch.setattr(tuning, "arms_around", lambda *given: search_space.arms_around(*given)[:1])
        yield search(journal=journal)


def test_leaderboard(tuned):
    scores = [row["valid_ap"] for row in tuned.leaderboard]
    assert scores == sorted(scores, reverse=True)
    assert sum(row["is_start"] for row in tuned.leaderboard) == 1
    assert all(row["seeds"] == 3 and row["spread"] > 0 for row in tuned.leaderboard)
    assert tuned.trials == 5
    first = tuned.leaderboard[0]
    assert {**tuned.settings.numbers, **tuned.settings.training}.items() >= first["settings"].items()


def test_finished_steps_are_not_run_again(tuned, journal, monkeypatch):
    """Killed after the first steps: those are taken from the file, the rest comes out the same."""
    whole = json.loads(journal.read_text())
    kept = dict(list(whole["steps"].items())[:-1])
    journal.write_text(json.dumps({**whole, "steps": kept}))
    asked = []
    ours = tuning.sweep
    monkeypatch.setattr(tuning, "sweep", lambda *a, **k: asked.append(a) or ours(*a, **k))
    again = search(journal=journal)
    assert 0 < len(asked) <= 3
    assert again.leaderboard == tuned.leaderboard
    asked.clear()
    assert search(journal=journal).settings == tuned.settings
    assert asked == []
    with pytest.raises(ValueError, match="another search"):
        search(journal=journal, seed=1)
    journal.write_text("{}")
    with pytest.raises(ValueError, match="not the journal of a search"):
        search(journal=journal)


def test_training_and_validation_edges_are_all_of_the_graph(tuned):
    trained_on = tuned.trained_on
    assert trained_on.known.num_edges == GRAPH.num_edges
    held = np.asarray(trained_on.valid.labels)
    pairs = [np.asarray(end) for end in trained_on.valid[:2]]
    assert not trained_on.graph.has_edges(pairs[0], pairs[1]).any()
    assert not GRAPH.has_edges(pairs[0][~held], pairs[1][~held]).any()


def test_written_settings_are_read_and_fitted(tuned, tmp_path):
    tuned.settings.save(tmp_path / "best.toml")
    again = Settings.load(tmp_path / "best.toml")
    assert again == tuned.settings
    model, config = assemble(tuned.trained_on.graph, again.geometry, again)
    assert model.manifold.dim == 3
    assert config.learning_rate == tuned.leaderboard[0]["settings"]["learning_rate"]
    assert config.epochs == 4


@pytest.mark.parametrize("name", PRESETS)
def test_presets(name):
    preset = as_settings(name)
    assert preset.about
    model, config = assemble(GRAPH, preset.geometry or "minkowski", preset)
    assert numbers_of(model).items() >= preset.numbers.items()
    assert {key: getattr(config, key) for key in preset.training} == dict(preset.training)


def test_arms_begin_at_the_start_and_change_little_first():
    found = search_space.arms_around(as_settings("hierarchy"), GRAPH)
    assert (found[0].geometry, found[0].likelihood) == ("minkowski", "cone")
    assert found[0].negatives == as_settings("hierarchy").negatives
    assert len({arm.label for arm in found}) == len(found)
    changes = [sum(a != b for a, b in zip(arm, found[0], strict=True)) for arm in found]
    assert changes == sorted(changes)


def test_no_dimensions_are_a_mistake():
    with pytest.raises(ValueError, match="dim is 0; it must be a whole number ≥ 1"):
        search(dim=0)


def test_draws_are_allowed():
    centre = {"learning_rate": 0.03, "tau1": 0.1, "alpha": 0.9, "r": 0.0, "anneal": 1.0}
    rng = np.random.default_rng(0)
    for _ in range(50):
        drawn = search_space.draw(rng, centre)
        assert 0.0075 <= drawn["learning_rate"] <= 0.12
        assert drawn["alpha"] <= 1
        assert 1 <= drawn["anneal"] <= 4


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('geometry = "flat"', "geometry is 'flat'; it must be one of"),
        ('likelihood = "flat"', "likelihood is 'flat'; it must be one of"),
        ("dims = 3", "setting 'dims'"),
        ("numbers = 3", "numbers is 3; it must be a table"),
        ("[training]\nseed = 3", "training has 'seed'; it may have"),
        ("[training]\nepochs = 0", "epochs is 0"),
        ("[negatives]\nhard = 1", "negatives has 'hard'; it may have"),
        ("= 3", "line 1"),
    ],
)
def test_mistakes_in_a_file(tmp_path, text, line):
    file = tmp_path / "best.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match=line) as error:
        Settings.load(file)
    assert str(error.value).startswith(f"{file}: ")
    assert "\n" not in str(error.value)


def test_other_mistakes(tmp_path):
    with pytest.raises(FileNotFoundError, match="presets are cyclic, general, hierarchy, regulatory"):
        Settings.load("hierarchic")
    with pytest.raises(ValueError, match="numbers has 'beta'; this model has tau1"):
        assemble(GRAPH, "minkowski", Settings(numbers={"beta": 0.1}))
    with pytest.raises(ValueError, match="ten validation edges"):
        tl.tune(tl.datasets.cycle(8))
    with pytest.raises(ValueError, match="budget is 0"):
        tl.tune(GRAPH, budget=0)
    with pytest.raises(ValueError, match="seeds is 2"):
        tl.tune(GRAPH, seeds=2)


def test_training_names_are_those_of_a_config():
    assert set(TRAINING) < {field.name for field in dataclasses.fields(tl.Config)}


@pytest.mark.long
def test_fit_with_settings(tuned):
    fitted = tl.SpacetimeEmbedding(settings=tuned.settings, evidence="none", progress=False).fit(GRAPH)
    assert fitted.geometry_ == tuned.settings.geometry
    assert fitted.embedding_.info["config"]["learning_rate"] == tuned.settings.training["learning_rate"]
    assert fitted.embedding_.model.likelihood.tau1 == pytest.approx(tuned.settings.numbers["tau1"])
    assert fitted.valid_.labels.tolist() == tuned.trained_on.valid.labels.tolist()
    assert fitted.embedding_.info["valid_ap"] == pytest.approx(tuned.leaderboard[0]["valid_ap"], abs=0.3)


def test_a_search_has_a_budget_or_trials(capsys):
    from timelike.cli.main import main

    with pytest.raises(SystemExit) as stop:
        main(["tune", GRAPH_NAME, "--trials", "4", "--budget", "2"])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert {"--budget", "--trials"} <= {*error.split()}


@pytest.mark.long
def test_commands(tmp_path, monkeypatch, capsys):
    from timelike.cli.main import main

    monkeypatch.chdir(tmp_path)
    START.save("start.toml")
    main(["tune", GRAPH_NAME, "--settings", "start.toml", "--trials", "5", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["settings", "leaderboard", "trials", "seconds", "version"]
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["best.toml", "start.toml"]
    alone = ("--evidence", "none")
    main(["fit", GRAPH_NAME, "--settings", "best.toml", "--out", "model", *alone])
    assert "as the settings say" in capsys.readouterr().out
    budget = ("--tune", "--budget", "0.01")
    main(["fit", GRAPH_NAME, *budget, "--settings", "start.toml", "--out", "tuned", "--json", *alone])
    assert json.loads(capsys.readouterr().out)["epochs"] == 4
    for wrong in (["--preset", "cyclic", "--settings", "start.toml"], ["--out", "best.txt"]):
        with pytest.raises(SystemExit) as stop:
            main(["tune", GRAPH_NAME, *wrong])
        assert stop.value.code == 2
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("kind", ["uniform", "active_source", "active_target", "same_source"])
def test_a_search_begins_with_the_negatives_of_fit(kind):
    first = search_space.arms_around(Settings(valid_negatives=kind), GRAPH)[0]
    assert Negatives(**first.negatives) == negatives_of(kind)


def test_a_search_begins_with_uniform_negatives_where_training_has_no_matching_kind():
    for kind in ("reversed", None):
        first = search_space.arms_around(Settings(valid_negatives=kind), GRAPH)[0]
        assert first.negatives == {"uniform": 4}
