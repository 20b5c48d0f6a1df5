"""Best and last epochs, and runtimes: the pages count what the results hold."""

from pathlib import Path

import pytest

from paper.groups import cyclic
from paper.reports.epochs import best_and_last, in_burn_in
from paper.runner.reproduction import load_results
from paper.studies import runtimes

RESULTS = Path(__file__).parents[2] / "paper" / "results"


@pytest.fixture(scope="module")
def stored():
    return [r for r in load_results(RESULTS / "cyclic.json") if r.about["title"] != "baselines"]


def test_cells_with_an_early_best_epoch_are_marked_and_counted(stored, tmp_path):
    text = cyclic.report(list(stored), tmp_path).markdown
    early = sum(r.found["best_epoch"] <= 10 for r in stored)
    assert early > 0
    assert f"{early} of {len(stored)} cells have the mark" in text
    tables = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    assert tables.count(" †") == early
    networks = [r for r in stored if r.about["published"] and r.about["likelihood"] == "triple-fermi-dirac"]
    listed = [r for r in networks if r.about["dataset"].startswith("dream5")]
    line = next(x for x in text.splitlines() if x.startswith("| DREAM5, listed non-edges, paper protocol"))
    assert line.endswith(f"| {sum(map(in_burn_in, listed))} of {len(listed)} |")


def test_the_last_epoch_stands_beside_the_best():
    results = load_results(RESULTS / "last_epoch.json")
    text = best_and_last(results, cyclic.DATA)
    for r in results:
        if r.about["title"] != "baselines":
            assert len(r.found["lasts"]) == len(r.found["scores"]) == len(r.found["epochs"])
            assert f"→ {r.found['last']:.1f} |" in text
    assert best_and_last(load_results(RESULTS / "cyclic.json"), cyclic.DATA) == ""


def test_runtimes_are_divided_by_ours():
    results = load_results(RESULTS / "runtimes.json")
    assert len(results) == len(runtimes.CASES)
    lines = runtimes.report(results).splitlines()
    line = next(x for x in lines if x.startswith("| duplication-divergence, anti-de Sitter, d = 100 |"))
    found = next(r for r in results if r.about["published"] == 19.0).found
    shown = int(line.split("|")[-2].replace(",", ""))
    assert shown == pytest.approx(19.0 / found["best"], rel=0.06)


def test_the_papers_seconds_are_those_of_its_appendix():
    paper = Path(__file__).parents[3] / "shared" / "paper" / "sim2021.tex"
    if not paper.exists():
        pytest.skip("needs the paper's source beside the project")
    text = paper.read_text()
    for seconds in {
        case[4] for case in runtimes.CASES if case[1] == "anti-de-sitter" or case[5] == runtimes.V100
    }:
        assert rf"$\sim {seconds:g}$" in text
