"""DREAM5 compared with its files: counts, gene names, non-edges, regulators."""

import functools
import shutil

import numpy as np
import pytest

from timelike.datasets import DATASETS, dream5, load
from timelike.datasets.dream5 import FILES

COUNTS = {  # nodes, edges, listed non-edges, reciprocal pairs, transcription factors among the nodes
    "in-silico": (1, 1_565, 4_012, 274_380, 16, 178),
    "ecoli": (3, 1_081, 2_066, 150_214, 11, 159),
    "yeast": (4, 1_994, 3_940, 223_262, 5, 196),
}


def rows(path) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


read = functools.cache(dream5)


@pytest.mark.parametrize("network", FILES)
def test_counts(network, data_dir):
    _, nodes, edges, non_edges, reciprocal, factors = COUNTS[network]
    found = read(network, data_dir)
    graph = found.graph
    assert (graph.num_nodes, graph.num_edges, len(found.non_edges)) == (nodes, edges, non_edges)
    assert (DATASETS[f"dream5:{network}"].nodes, DATASETS[f"dream5:{network}"].edges) == (nodes, edges)
    assert graph.has_edges(graph.targets, graph.sources).sum() == 2 * reciprocal
    assert len(found.regulators) == factors


@pytest.mark.parametrize("network", FILES)
def test_equal_to_the_files_read_naively(network, data_dir):
    number = COUNTS[network][0]
    folder = data_dir / "dream5"
    names = dict(rows(folder / f"net{number}_gene_ids.tsv"))
    gold = rows(folder / f"DREAM5_NetworkInference_GoldStandard_Network{number}.tsv")
    factors = {names[row[0]] for row in rows(folder / f"net{number}_transcription_factors.tsv")}
    found = read(network, data_dir)
    graph = found.graph
    labelled = {(names[s], names[t]): label for s, t, label in gold}
    called = list(graph.names)
    for label, pairs in (("1", np.stack([graph.sources, graph.targets], 1)), ("0", found.non_edges)):
        assert all(labelled.pop((called[s], called[t])) == label for s, t in pairs.tolist())
    assert not labelled
    assert {graph.names[i] for i in found.regulators} == factors & set(graph.names)
    assert np.isin(graph.sources, found.regulators).all()


def test_genes_have_the_names_biologists_use(data_dir):
    graph = read("ecoli", data_dir).graph
    assert graph.has_edges(graph.numbers("lexA"), graph.numbers("recA")).all()


def test_the_variable_names_the_folder(data_dir, monkeypatch):
    monkeypatch.setenv("TIMELIKE_DATA", str(data_dir))
    assert load("dream5:yeast").num_nodes == 1_994


def test_a_changed_file_is_refused(data_dir, tmp_path):
    shutil.copytree(data_dir / "dream5", tmp_path / "dream5")
    gold = tmp_path / "dream5" / FILES["ecoli"][0].name
    gold.chmod(0o644)
    gold.write_bytes(gold.read_bytes().replace(b"\t1\n", b"\t0\n", 1))
    with pytest.raises(ValueError, match=f"{gold} .*sha256 .*657c9d41"):
        load("dream5:ecoli", tmp_path)


def test_unknown_network():
    with pytest.raises(ValueError, match=r"network is 'mouse'.*in-silico, ecoli, yeast"):
        dream5("mouse")
