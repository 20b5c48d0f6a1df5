"""Evidence from outside: reading, matching, no leaks, files, the command line."""

import gzip
import json

import numpy as np
import polars as pl
import pytest

import timelike as tl
from timelike.cli.main import main
from timelike.estimator.inputs import with_feature_nodes
from timelike.evidence import Expression, NodeFeatures, ScoredPairs
from timelike.evidence.group_weights import group_weights
from timelike.evidence.named_table import NamedTable
from timelike.evidence.outside import KINDS, packed, split_evidence, unpacked
from timelike.evidence.profile_terms import UNKNOWN

QUICK = {"dim": 3, "epochs": 3, "learning_rate": 0.03, "baselines": "none", "progress": False}
NODES, SAMPLES = 60, 30


def regulated(seed: int = 0) -> tuple[tl.DiGraph, np.ndarray]:
    """Ten regulators of fifty genes in five modules, and expression that goes with the modules."""
    rng = np.random.default_rng(seed)
    module = np.arange(NODES) % 5
    activity = rng.normal(size=(5, SAMPLES))
    values = activity[module] + 0.6 * rng.normal(size=(NODES, SAMPLES))
    likely = np.where(module[:10, None] == module[None, 10:], 0.8, 0.06)
    s, t = np.nonzero(rng.random((10, NODES - 10)) < likely)
    names = [f"g{i}" for i in range(NODES)]
    return tl.DiGraph.from_arrays(s, t + 10, names=names), values.astype(np.float32)


@pytest.fixture(scope="module")
def gold() -> tuple[tl.DiGraph, np.ndarray]:
    return regulated()


def frame(values: np.ndarray, names: list[str] | None = None) -> pl.DataFrame:
    names = [f"g{i}" for i in range(len(values))] if names is None else names
    return pl.DataFrame({"gene": names} | {f"s{i}": x for i, x in enumerate(values.T)})


def every_kind(values: np.ndarray, seed: int = 0) -> list:
    """One piece of evidence of each kind, about the nodes of `regulated`."""
    rng = np.random.default_rng(seed)
    listed = rng.permutation(np.argwhere(~np.eye(NODES, dtype=bool)))[:900]
    pairs = [(f"g{s}", f"g{t}", float(x)) for (s, t), x in zip(listed, rng.random(900), strict=True)]
    features = pl.DataFrame(
        {
            "node": [f"g{i}" for i in range(NODES)],
            "size": [None if i % 9 == 0 else float(x) for i, x in enumerate(rng.normal(size=NODES))],
            "module": [f"m{i % 5}" for i in range(NODES)],
        }
    )
    names = [f"g{i}" for i in range(10)]
    return [
        Expression.read(frame(values), regulators=names),
        NodeFeatures.read(features),
        ScoredPairs.read(pairs, "tool"),
    ]


def test_every_kind_is_listed_and_public():
    assert {kind.__name__ for kind in KINDS.values()} <= {*tl.evidence.__all__}
    assert len(every_kind(regulated()[1])) == len(KINDS)


@pytest.mark.parametrize("number", range(len(KINDS)))
def test_no_number_of_a_pair_sees_its_own_edge(gold, number):
    """The features of a pair are the same whether the graph has its edge or not."""
    graph, values = gold
    one = every_kind(values)[number]
    own = one.prepare(graph)
    for edge in range(0, graph.num_edges, 13):
        s, t = graph.pairs[[edge]].T
        without = one.prepare(graph.subgraph(np.arange(graph.num_edges) != edge))
        np.testing.assert_allclose(own.features(s, t), without.features(s, t), atol=2e-4)


@pytest.mark.parametrize("number", range(len(KINDS)))
def test_blocks_equal_listed_pairs(gold, number):
    graph, values = gold
    prepared = every_kind(values)[number].prepare(graph)
    sources = np.array([3, 40])
    s, t = np.repeat(sources, NODES), np.tile(np.arange(NODES), 2)
    np.testing.assert_allclose(
        prepared.block(sources).reshape(2 * NODES, -1), prepared.features(s, t), atol=1e-4
    )
    assert len(prepared.names) == len(set(prepared.names)) == len(prepared.groups)


@pytest.mark.parametrize("number", range(len(KINDS)))
def test_evidence_survives_a_file(gold, number):
    graph, values = gold
    one = every_kind(values)[number]
    tensors, about = packed([one])
    (again,) = unpacked(tensors, json.loads(json.dumps(about)))
    s, t = np.repeat(np.arange(20), 3), np.tile([11, 30, 59], 20)
    np.testing.assert_array_equal(one.prepare(graph).features(s, t), again.prepare(graph).features(s, t))


def test_the_side_with_the_names_of_nodes_is_found(gold, tmp_path):
    graph, values = gold
    upright = frame(values)
    files = {name: tmp_path / name for name in ("a.tsv", "b.csv", "c.parquet", "d.tsv.gz")}
    upright.write_csv(files["a.tsv"], separator="\t")
    turned = upright.transpose(include_header=True, header_name="sample", column_names="gene")
    turned.write_csv(files["b.csv"])
    upright.write_parquet(files["c.parquet"])
    files["d.tsv.gz"].write_bytes(gzip.compress(files["a.tsv"].read_bytes()))
    for file in files.values():
        found = Expression.read(file, graph)
        assert found.names == tuple(f"g{i}" for i in range(NODES))
        np.testing.assert_allclose(found.values, values, atol=1e-6)


def test_anndata_is_read_dense_and_sparse(gold, tmp_path):
    anndata = pytest.importorskip("anndata")
    from scipy.sparse import csr_matrix

    graph, values = gold
    cells, genes = [f"c{i}" for i in range(SAMPLES)], [f"g{i}" for i in range(NODES)]
    data = anndata.AnnData(csr_matrix(np.maximum(values.T, 0)))
    data.obs_names, data.var_names = cells, genes
    data.write_h5ad(tmp_path / "cells.h5ad")
    from_file = Expression.read(tmp_path / "cells.h5ad", graph)
    direct = Expression.from_anndata(data)
    assert from_file.names == direct.names == tuple(genes)
    s, t = np.repeat(np.arange(10), 5), np.tile(np.arange(20, 25), 10)
    expected = Expression.from_anndata(anndata.AnnData(data.X.toarray(), data.obs, data.var))
    found = direct.prepare(graph).features(s, t)
    np.testing.assert_allclose(found, from_file.prepare(graph).features(s, t))
    first = expected.prepare(graph).names.index("importance")
    np.testing.assert_allclose(found[:, first], expected.prepare(graph).features(s, t)[:, first], atol=1e-4)


def test_names_that_do_not_match_are_counted_and_shown(gold):
    graph, values = gold
    names = [f"g{i}" if i < 40 else f"g-{i}" for i in range(NODES)]
    text = Expression.read(frame(values, names), graph).matching(graph).text
    assert "40 of 60" in text
    assert "g40 (nearest: g-40)" in text
    with pytest.raises(ValueError, match=r"x0, x1, x2.*g0, g1, g2"):
        Expression.read(frame(values, [f"x{i}" for i in range(NODES)])).matching(graph)
    upper = Expression.read(frame(values, [f"G{i}" for i in range(NODES)])).matching(graph)
    assert "ignoring case" in upper.text


def test_mistakes_in_tables_name_their_place(tmp_path):
    bad = tmp_path / "bad.tsv"
    bad.write_text("gene\ts1\ts2\ng1\t1\t2\ng2\thigh\t3\n")
    with pytest.raises(ValueError, match=r"row 2, column s1: 'high'"):
        Expression.read(bad)
    bad.write_text("gene\n")
    with pytest.raises(ValueError, match=r"bad\.tsv"):
        Expression.read(bad)
    bad.write_text("source\ttarget\na\tb\n")
    with pytest.raises(ValueError, match="2 columns"):
        ScoredPairs.read(bad)
    with pytest.raises(FileNotFoundError):
        NodeFeatures.read(tmp_path / "none.tsv")
    with pytest.raises(ValueError, match="evidence"):
        split_evidence(["structure", 3])
    with pytest.raises(ValueError, match="twice"):
        split_evidence([ScoredPairs.read([("a", "b", 1.0)])] * 2)


def test_a_list_without_a_header_or_with_missing_scores_is_read(tmp_path):
    file = tmp_path / "list.csv"
    file.write_text("g1,g2,0.5\ng3,g4,0.25\n")
    found = ScoredPairs.read(file)
    assert list(zip(found.sources, found.targets, found.scores.tolist(), strict=True)) == [
        ("g1", "g2", 0.5),
        ("g3", "g4", 0.25),
    ]
    file.write_text("target,score,TF\ng2,0.5,g1\ng9,NA,g1\n")
    assert ScoredPairs.read(file).sources == ("g1",)
    matrix = NamedTable(("g1", "g2"), ("g1", "r"), np.array([[1, 2], [3, 4.0]], np.float32), "matrix")
    assert {
        *zip(*(getattr(ScoredPairs.read(matrix), end) for end in ("sources", "targets")), strict=True)
    } == {
        ("r", "g1"),
        ("g1", "g2"),
        ("r", "g2"),
    }


def test_pairs_that_nothing_is_known_of_are_told_apart(gold):
    graph, values = gold
    known = Expression.read(frame(values[:50]), graph, regulators=["g0"])
    prepared = known.prepare(graph)
    found = prepared.features(np.array([0, 0, 30]), np.array([20, 55, 20]))
    assert (found[1] == UNKNOWN).sum() >= len(prepared.names) - 5  # t has sources, with profiles
    importance = prepared.names.index("importance")
    assert found[0, importance] > 0
    assert found[2, importance] == UNKNOWN  # no regulator


def test_it_helps_and_is_saved_with_the_model(gold, tmp_path):
    graph, values = gold
    split = tl.split_edges(graph, valid=0, test=0.25, seed=1)
    expression = Expression.read(frame(values), graph)
    alone = tl.SpacetimeEmbedding("minkowski", **QUICK).fit(split.train)
    both = tl.SpacetimeEmbedding("minkowski", evidence=["structure", expression], **QUICK).fit(split.train)
    pairs = tl.evaluation.question_pairs(graph, split.test_edges)["same_source"]
    assert both.score(pairs) > alone.score(pairs) + 0.05
    weights = group_weights(both.joint_)
    assert sum(weights.values()) == pytest.approx(1)
    assert weights["expression like known targets"] > weights["geometry"]
    both.save(tmp_path / "model")
    again = tl.SpacetimeEmbedding.load(tmp_path / "model")
    np.testing.assert_array_equal(
        again.decision_function([("g1", "g20")]), both.decision_function([("g1", "g20")])
    )
    assert repr(again.evidence) == repr(["structure", both.joint_.evidence[1]])
    assert again.fit(split.train).joint_ is not None  # the loaded estimator can be fitted again


def reached(graph: tl.DiGraph, evidence: object, seed: int) -> float:
    """AP on a third of the edges, against as many other pairs of the same sources and targets."""
    split = tl.split_edges(graph, valid=0, test=0.3, seed=seed)
    free = np.argwhere(~graph.adjacency().toarray().astype(bool)[:10])
    free = free[free[:, 1] >= 10]
    chosen = np.random.default_rng(seed).permutation(free)[: len(split.test_edges)]
    pairs = tl.evaluation.LabelledPairs.build(split.test_edges, chosen)
    return (
        tl.SpacetimeEmbedding("minkowski", evidence=["structure", evidence], **QUICK)
        .fit(split.train)
        .score(pairs)
    )


def test_a_random_graph_scores_chance_with_real_expression(gold):
    """Edges between random pairs of the same ends score chance; not with expression that shows the edges."""
    honest, leaking = [], []
    for seed in range(3):
        s, t = np.nonzero(np.random.default_rng(seed).random((10, 50)) < 0.25)
        graph = tl.DiGraph.from_arrays(s, t + 10, names=[f"g{i}" for i in range(NODES)])
        shown = (graph.adjacency().toarray().T + np.eye(NODES))[:, :10]
        leak = np.hstack([gold[1], 3 * shown]).astype(np.float32)
        for found, values in ((honest, gold[1]), (leaking, leak)):
            found.append(reached(graph, Expression.read(frame(values), graph), seed))
    assert np.mean(honest) == pytest.approx(0.5, abs=0.1)
    assert np.mean(leaking) > 0.75


def test_expression_under_wrong_names_neither_helps_nor_hurts(gold):
    """Beside evidence that says nothing, with the same folds and negatives; right names do help."""
    graph, values = gold
    wrong = np.random.default_rng(0).permutation(NODES)
    found = {
        name: np.mean([reached(graph, evidence, seed) for seed in range(3)])
        for name, evidence in (
            ("nothing", ScoredPairs.read([("g0", "g1", 1.0)])),
            ("wrong", Expression.read(frame(values[wrong]), graph)),
            ("right", Expression.read(frame(values), graph)),
        )
    }
    assert found["wrong"] == pytest.approx(found["nothing"], abs=0.05)
    assert found["right"] > found["nothing"] + 0.06


def test_nodes_without_edges_get_predictions(gold):
    graph, _ = gold
    features = pl.DataFrame(
        {
            "node": [f"g{i}" for i in range(NODES)] + ["new"],
            "module": [f"m{i % 5}" for i in range(NODES)] + ["m2"],
        }
    )
    one = NodeFeatures.read(features)
    assert with_feature_nodes(graph, ["structure", one]).num_nodes == NODES + 1
    model = tl.SpacetimeEmbedding("minkowski", evidence=["structure", one], **QUICK).fit(graph)
    best = model.top_sources("new", 2)
    assert {row.source for row in best} == {"g2", "g7"}


def test_the_command_line_takes_files(gold, tmp_path, capsys):
    graph, values = gold
    edges, out = tmp_path / "edges.tsv", tmp_path / "model"
    pl.DataFrame(
        {"source": [f"g{s}" for s in graph.sources], "target": [f"g{t}" for t in graph.targets]}
    ).write_csv(edges, separator="\t")
    frame(values).write_csv(tmp_path / "expression.csv")
    (tmp_path / "tool.tsv").write_text("source\ttarget\tscore\ng1\tg20\t0.5\ng1\tg21\t0.4\ng2\tg22\t0.1\n")
    (tmp_path / "regulators.txt").write_text("".join(f"g{i}\n" for i in range(10)))
    words = ["--expression", str(tmp_path / "expression.csv")]
    words += ["--regulators", str(tmp_path / "regulators.txt"), "--scores", str(tmp_path / "tool.tsv")]
    words += ["--geometry=minkowski", "--epochs=2", "--dim=3"]
    main(["fit", str(edges), "--out", str(out), *words, "--json"])
    printed = capsys.readouterr()
    summary = json.loads(printed.out)
    assert summary["evidence"] == "structure, expression, tool"
    assert "tool" in summary["weights"]
    assert "nodes have expression" in printed.err
    main(["predict", str(out), "--all", "--top", "2", "--why"])
    assert "why: tool" in capsys.readouterr().out.splitlines()[0]
    with pytest.raises(SystemExit):
        main(["fit", str(edges), "--out", str(out), "--regulators", "x"])
    assert "--regulators needs --expression" in capsys.readouterr().err
    frame(values, [f"x{i}" for i in range(NODES)]).write_csv(tmp_path / "expression.csv")
    with pytest.raises(SystemExit):
        main(["fit", str(edges), "--out", str(out), *words[:2]])
    assert "x0, x1, x2" in capsys.readouterr().err
