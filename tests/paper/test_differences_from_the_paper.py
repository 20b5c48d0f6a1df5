"""Differences from the paper: the seed graph, the batch, and the ablation."""

from pathlib import Path
from statistics import median

import numpy as np

import timelike as tl
from paper.groups import ablation
from paper.runner.reproduction import load_results
from paper.studies import batch, seed_graph
from paper.training.link_prediction import load_split

STORED = Path(__file__).parents[2] / "paper" / "results" / "seed_graph.json"


def test_graphs_have_the_papers_number_of_edges():
    for start, (_, graphs) in seed_graph.STARTS.items():
        for seed in graphs:
            assert tl.datasets.duplication_divergence(seed, start=start).num_edges == 1026
            split = load_split(f"duplication-divergence:{start}", seed, None, validated=False)
            assert split.train.num_edges + np.sum(split.test.labels) == 1026


def test_only_a_complete_seed_grows_reciprocal_edges():
    found = {r.about["start"]: r.found for r in load_results(STORED) if "grown" in r.about}
    assert set(found["cycle"]["reciprocal"]) == {0.0}
    shares = found["complete"]["reciprocal"]
    assert len(shares) == 200
    assert 0.12 < median(shares) < 0.15
    some = tl.datasets.duplication_divergence(7, start="complete")
    assert seed_graph.reciprocal(some) == shares[7]


def test_both_seeds_are_on_the_page():
    text = seed_graph.report(load_results(STORED))
    for r in load_results(STORED):
        if "median" in r.found:
            assert f"{r.found['median']:.1f} ± {r.found['spread']:.1f}" in text


def test_the_batch_is_blamed_only_if_the_numbers_allow_it():
    results = load_results(STORED.with_name("batch.json"))
    assert {(r.about["dataset"], r.about["protocol"]) for r in results} >= {
        ("duplication-divergence", "paper"),
        ("duplication-divergence", "honest"),
    }
    assert "the batch does not explain" in batch.report(results)
    for r in results:
        if r.about["batch_size"] == batch.SMALL:
            for one in r.found["tried"]:
                one["median"] += 20
    assert "the batch does not explain" not in batch.report(results)


def test_the_ablation_says_where_it_contradicts_the_paper(tmp_path):
    results = load_results(STORED.with_name("ablation.json"))
    text = ablation.report(results, tmp_path).markdown
    assert text.count("so this ablation contradicts it") == 2
    for r in results:
        if r.about["row"] == "m5":  # without the circle, nothing would be left
            r.found["scores"] = [0.0] * len(r.found["scores"])
    text = ablation.report(results, tmp_path).markdown
    assert "here the circle of time comes first." in text
