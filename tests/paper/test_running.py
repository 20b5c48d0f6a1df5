"""Tasks run once, resume after an interruption, and end in reports; the pages show what was found."""

import json
import re
import subprocess
import sys
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import pytest

from paper import pages
from paper.__main__ import main as main_of_module
from paper.groups import GROUPS, honest, load_group
from paper.groups.cyclic import degree_products
from paper.pages import BLOCK, PAGES
from paper.reports.tables import choices
from paper.runner.reproduction import aged, load_results, provenance, reproduce, selected
from paper.runner.task_results import command
from paper.studies import one_model, paper_batch, wordnet_grid
from paper.tasks import Options, Result, Task
from timelike.cli import reproduce_command
from timelike.cli.main import main

ROOT = Path(__file__).parents[2]
ONE = ("duplication-divergence/minkowski", "d3-honest")


@pytest.fixture(scope="module")
def computed(tmp_path_factory) -> tuple[Path, list[str]]:
    """One task of the cyclic tables, and what was said meanwhile."""
    out, said = tmp_path_factory.mktemp("out"), []
    reproduce("cyclic", Options(seeds=1, dims=(3,)), out, only=ONE, say=said.append)
    return out, said


def test_a_report_has_the_scores_of_its_tasks(computed):
    out, said = computed
    [result] = load_results(out / "cyclic")
    assert result.found["median"] > 40  # guessing: 20
    assert f"| {result.found['median']:.1f} ± 0.0 |" in (out / "cyclic.md").read_text()
    assert load_results(out / "cyclic.json") == [result]
    assert (out / "cyclic.csv").read_text().count("\n") == 2
    assert len(said) == 1
    assert re.search(r"Made \d{4}-\d\d-\d\d by `.*` on .* \(timelike", (out / "cyclic.md").read_text())


def test_a_report_compares_only_what_was_computed(computed):
    out, _ = computed
    assert " of 1 " not in (out / "cyclic.md").read_text().partition("## Against the targets")[2]
    stored = load_results(ROOT / "paper" / "results" / "cyclic.json")
    row = [r for r in stored if r.about.get("row") == "dream5-ecoli/minkowski" and r.about["published"]]
    text = load_group("cyclic").report(row, out).markdown.partition("## Against the targets")[2]
    assert f"{len(row)} of {len(row)} spacetime cells reach the published median" in text
    assert "degree product" not in text
    assert "Riemannian" not in text
    assert "**" not in text


def test_a_report_has_its_whole_command(computed, monkeypatch):
    out, _ = computed
    results = load_results(out / "cyclic")
    words = ["cyclic", "--only", "Minkowski + TFD", "--dims", "3", "--out", "/home/x/out"]
    monkeypatch.setattr(sys, "argv", ["/x/paper/__main__.py", *words])
    results = [r._replace(made={**r.made, "command": command()}) for r in results]
    whole = "python -m paper cyclic --only 'Minkowski + TFD' --dims 3 --out OUT"
    assert f"`{whole}`" in provenance(results, whole=True)
    assert "`python -m paper cyclic --out OUT`" in provenance(results)


@pytest.mark.parametrize(
    ("only", "names"),
    [
        (["Minkowski + TFD", "ecoli"], {"dream5-ecoli/minkowski"}),
        (["minkowski + tfd", "ecoli"], {"dream5-ecoli/minkowski", "dream5-ecoli/cylindrical-minkowski"}),
        (["dream5-ecoli/mink"], {"dream5-ecoli/minkowski"}),
        (["Hyperboloid", "duplication"], {"duplication-divergence/hyperboloid"}),
        (["Hyperboloid", "nothing"], set()),
    ],
)
def test_tasks_are_found_by_name_and_by_title(only, names):
    tasks = list(load_group("cyclic").tasks(Options()))
    assert {task.about["row"] for task in selected(tasks, only)} == names


def test_finished_tasks_are_not_run_again(computed):
    out, said = computed
    before = len(said)
    with pytest.raises(ValueError, match=r"1 finished tasks.*--resume"):
        reproduce("cyclic", Options(seeds=1, dims=(3,)), out, only=ONE, say=said.append)
    reproduce("cyclic", Options(seeds=1, dims=(3,)), out, only=ONE, resume=True, say=said.append)
    assert len(said) == before


def test_another_setting_is_another_task(computed):
    out, _ = computed
    file = next((out / "cyclic").rglob("*.json"))
    stored = json.loads(file.read_text())
    stored["about"]["epochs"] += 1
    file.write_text(json.dumps(stored))
    said = []
    reproduce("cyclic", Options(seeds=1, dims=(3,)), out, only=ONE, resume=True, say=said.append)
    assert len(said) == 1


@pytest.mark.long
def test_processes_share_the_work(tmp_path):
    said = []
    reports = reproduce("figures", Options(), tmp_path, jobs=2, say=said.append)
    assert len(said) == len(reports["figures"].rows) == len(list(tmp_path.glob("*.png"))) == 3


@pytest.mark.slow
def test_a_stopped_run_leaves_reports_and_goes_on(tmp_path):
    arguments = ["cyclic", "--dims", "3", "--seeds", "1", "--jobs", "2", "--out", str(tmp_path)]
    command = [sys.executable, "-m", "paper", *arguments, "--only", "duplication", "minkowski/"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as running:
        assert "1/4" in running.stderr.readline()
        running.terminate()
        assert re.search(r"stopped after \d of 4 tasks.*--resume", running.stderr.read())
    assert running.returncode == 130
    assert (tmp_path / "cyclic.md").exists()
    done = subprocess.run([*command[:3], *arguments, "--resume", *command[-3:]], cwd=ROOT, check=False)
    assert done.returncode == 0
    assert len(load_results(tmp_path / "cyclic")) == 4


@pytest.mark.parametrize("name", GROUPS)
def test_every_group_names_its_tasks_once(name):
    group = load_group(name)
    names = [task.name for task in group.tasks(Options())]
    assert names
    assert len(set(names)) == len(names)
    assert group.ABOUT
    json.dumps([task.about for task in group.tasks(Options(quick=True))])
    ForkingPickler.dumps(list(group.tasks(Options())))  # to another process


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["cyclic", "--only", "wordnett"], "--only is wordnett.* cyclic"),
        (["cyclic", "--dims", "3", "7"], "--dims has 7.* cyclic .*3, 5, 10, 50, 100"),
        (["figures", "--dims", "3"], "--dims has 3.* figures "),
        (["list", "--dims", "7"], "--dims has 7.* any group "),
        (["cyclic", "--seeds", "0"], "--seeds is 0.* 1"),
    ],
)
def test_mistakes_are_one_line(arguments, words, capsys, tmp_path, monkeypatch):
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", *arguments, "--out", str(tmp_path)])
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert re.search(words, said)
    assert said.count("\n") == 1
    monkeypatch.setattr(sys, "argv", ["paper", *arguments, "--out", str(tmp_path)])
    with pytest.raises(SystemExit) as stop:
        main_of_module()
    assert stop.value.code == 2
    assert capsys.readouterr().err.partition(": ")[2] == said.partition(": ")[2]


def test_without_the_repository_the_command_says_where_the_tables_are(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(reproduce_command, "__file__", str(tmp_path / "timelike" / "cli" / "x.py"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", "list"])
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert "repository" in said
    assert said.count("\n") == 1
    monkeypatch.chdir(ROOT)
    assert reproduce_command.repository() == ROOT


def test_the_module_lists_what_the_command_lists(monkeypatch, capsys):
    main(["reproduce", "list", "--json"])
    said = capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["paper", "list", "--json"])
    main_of_module()
    assert capsys.readouterr().out == said


def test_pages_are_in_step_with_the_stored_results():
    command = [sys.executable, "-m", "paper.pages", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_results_of_an_earlier_recipe_are_counted():
    tasks = [Task("a", {"title": "A", "rate": 1}, dict), Task("b", {"title": "B", "rate": (1, 2)}, dict)]
    same = Result({"title": "B", "rate": [1, 2]}, {}, {})
    assert aged([same], tasks) == ""
    text = aged([same, Result({"title": "A", "rate": 2}, {}, {})], tasks)
    assert "of 1 of them" in text
    assert "(A: 1)" in text


def test_a_default_fit_is_compared_with_the_best_simple_method():
    """Validation chooses the simple method; the fit is bold where it is above both."""
    best = {name: 40.0 for name in (*honest.SIMPLE, *honest.MODELS)}
    methods = {"valid": {**best, "L3": 50.0}, "test": {**best, "L3": 45.0, "Katz": 90.0}}
    place = {"dataset": honest.GROWN, "negatives": "uniform"}
    results = [Result({**place, "seed": seed}, methods, {}) for seed in (1, 2)]
    assert "default fit" not in honest.verdict(results)
    fits = [
        Result({**place, "seed": seed, "title": honest.FIT}, {"test": {honest.FIT: ap}}, {})
        for seed, ap in ((2, 99.0), (1, 44.0))
    ]
    text = honest.verdict(results + fits)
    assert "| Duplication-divergence | uniform | +26.5, 1 of 2 |" in text
    assert "the default fit is above the best simple method in 1 of 1" in text
    table = honest.table(results + fits, ["Duplication-divergence"])
    assert "geometry and evidence | 71.5 ± 27.5 |" in table
    assert "| **90.0 ± 0.0** |" in table


def test_every_table_says_what_it_was_chosen_on():
    """A table that `make results` writes has a line in the page on honesty."""
    page = (ROOT / "docs" / "honesty.md").read_text("utf-8")
    names = {name for path in PAGES for _, name, _ in BLOCK.findall(path.read_text("utf-8"))}
    kinds = {name.removesuffix("-summary").split("-")[0].rstrip("0123456789") for name in names}
    assert sorted(kind for kind in kinds if f"`{kind}" not in page) == []


def test_what_chose_is_told_and_the_degree_product_is_not_left_out(tmp_path):
    """Under the honest protocol test scores choose nothing, so none is shown beside a choice."""
    results = load_results(ROOT / "paper" / "results" / "cyclic.json")
    honest = [r for r in results if r.about.get("protocol") == "honest" and r.about["negatives"] == "listed"]
    for result in honest:
        [words] = choices([result]).splitlines()[2:]
        assert f"| {result.found['training_negatives']}, " in words
        assert " / " not in words
    text = load_group("cyclic").report(results, tmp_path).markdown
    degrees = degree_products(results)["dream5:in-silico", "listed"]
    low = [
        r.about["dim"]
        for r in results
        if r.about["title"] == "Anti-de Sitter + TFD"
        and r.about["dataset"] == "dream5:in-silico"
        and r.about["published"]
        and r.found["median"] <= degrees
    ]
    named = ", ".join(map(str, sorted(low)))
    assert f"| Anti-de Sitter + TFD | {named} |" in text.partition("Not above the degree product, d =")[2]


@pytest.mark.parametrize("name", [name for name in GROUPS if pages.stored(name)])
def test_stored_results_are_told_apart(name):
    """New results replace those of the same task, and no others."""
    tasks = [pages._task(one) for one in pages.stored(name)]
    assert len(tasks) == len(set(tasks))


@pytest.mark.parametrize("study", [one_model, paper_batch, wordnet_grid])
def test_results_of_studies_in_pieces_are_told_apart(study):
    tasks = [pages._task(Result(task.about, {}, {})) for task in study.tasks(None)]
    assert len(tasks) == len(set(tasks))
