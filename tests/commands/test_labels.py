"""Labels of nodes: from the file through splits, fits and folders to tables, errors and new nodes."""

import dataclasses
import json

import numpy as np
import polars as pl
import pytest

import timelike as tl
from timelike.embedding.trained_on import TrainedOn
from timelike.graphs.node_names import NameColumn
from timelike.hierarchy import embed_hierarchy

OBO = """format-version: 1.2

[Term]
id: ZOO:1
name: animal

[Term]
id: ZOO:2
name: Dog
is_a: ZOO:1

[Term]
id: ZOO:3
name: cat
is_a: ZOO:1

[Term]
id: ZOO:4
is_a: ZOO:2

[Term]
id: ZOO:5
name: cat
is_a: ZOO:2
"""


@pytest.fixture
def graph(tmp_path):
    (tmp_path / "zoo.obo").write_text(OBO)
    return tl.read(tmp_path / "zoo.obo")


@pytest.fixture
def folder(graph, tmp_path):
    embed_hierarchy(graph, 3).save(tmp_path / "model", TrainedOn(graph))
    return tmp_path / "model"


def test_an_ontology_has_ids_and_labels(graph):
    assert list(graph.names) == [f"ZOO:{i}" for i in range(1, 6)]
    assert [graph.label(name) for name in graph.names] == ["animal", "Dog", "cat", "", "cat"]
    assert graph.subgraph(np.array([0])).label("ZOO:2") == "Dog"
    assert tl.DiGraph.from_edges([("a", "b")]).label("a") == ""


def test_labels_of_ones_own(tmp_path):
    graph = tl.DiGraph.from_edges([("a", "b"), ("b", "c")]).with_labels({"a": "the first"})
    assert [graph.label(x) for x in "abc"] == ["the first", "", ""]
    with pytest.raises(ValueError, match=r"labels.*'x'"):
        graph.with_labels({"x": "?"})
    numbered = tl.DiGraph.from_arrays([0], [1]).with_labels({1: "one"})
    assert numbered.label(1) == "one"
    column = NameColumn(pl.Series(["a", "b"])).labelled(["A", "B"])
    assert (column.with_label("a"), column.find(["b"])) == ([0], [1])


def test_numbers_as_ids_keep_their_labels(tmp_path):
    text = '<graphml><key id="k" for="node" attr.name="label"/><graph>{}</graph></graphml>'
    nodes = "".join(f'<node id="{i}"><data key="k">term {i}</data></node>' for i in range(3))
    edges = '<edge source="0" target="1"/><edge source="1" target="2"/>'
    (tmp_path / "g.graphml").write_text(text.format(nodes + edges))
    graph = tl.read(tmp_path / "g.graphml")
    assert [graph.label(i) for i in graph.names] == ["term 0", "term 1", "term 2"]


def test_a_split_keeps_labels(tmp_path):
    graph = tl.datasets.duplication_divergence(seed=1, nodes=40).with_labels({3: "three"})
    split = tl.split_edges(graph, valid=0.1, test=0.1)
    split.save(tmp_path / "split.safetensors")
    assert type(split).load(tmp_path / "split.safetensors").train.label(3) == "three"


def test_a_folder_and_new_nodes_keep_labels(folder):
    embedding = tl.Embedding.load(folder)
    assert embedding.label("ZOO:2") == "Dog"
    grown = embedding.add_nodes([("ZOO:6", "ZOO:2")], tl.Config(epochs=1))
    assert (grown.label("ZOO:2"), grown.label("ZOO:6")) == ("Dog", "")


def test_tables_have_labels_last(run, folder, tmp_path):
    code, out, _ = run("predict", folder, "--ancestors", "dog", "--json")
    assert code == 0
    assert [(row["node"], [*row][-1], row["label"]) for row in json.loads(out)["nodes"]] == [
        ("ZOO:1", "label", "animal")
    ]
    code, out, _ = run("predict", folder, "--all", "--top", 2)
    head, *rows = [line.split("\t") for line in out.splitlines()]
    labels = dict(zip([f"ZOO:{i}" for i in range(1, 6)], ["animal", "Dog", "cat", "", "cat"], strict=True))
    assert head == ["source", "target", "probability", "source_label", "target_label"]
    assert [row[3:] for row in rows] == [[labels[row[0]], labels[row[1]]] for row in rows]
    (pairs := tmp_path / "pairs.tsv").write_text("ZOO:2\tZOO:1\n")
    file = tmp_path / "out.parquet"
    assert run("predict", folder, "--pairs", pairs, "--out", file)[:2] == (0, "")
    assert pl.read_parquet(file).row(0)[-2:] == ("Dog", "animal")


def test_a_label_of_several_nodes_names_none(mistake, folder):
    assert "ZOO:3, ZOO:5" in mistake("predict", folder, "--ancestors", "cat")
    assert "animal" in mistake("predict", folder, "--ancestors", "animl")


def test_a_model_without_labels_has_no_such_column(run, folder, tmp_path):
    embedding = tl.Embedding.load(folder)
    plain = dataclasses.replace(embedding, names=embedding.names.labelled(None))
    plain.save(tmp_path / "plain")
    assert "label" not in run("predict", tmp_path / "plain", "--ancestors", "ZOO:2").out
    assert "label" not in pl.read_parquet(tmp_path / "plain" / "nodes.parquet").columns


def test_a_fit_of_an_ontology_suggests_the_questions_of_a_hierarchy(graph, run, tmp_path):
    code, out, _ = run("fit", tmp_path / "zoo.obo", "--out", tmp_path / "zoo")
    assert code == 0
    assert f"predict {tmp_path / 'zoo'} --ancestors NODE" in out
    assert f"plot {tmp_path / 'zoo'} --kind balls" in out
