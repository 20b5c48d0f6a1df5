"""The joint model: exact trees, honest evidence, calibrated answers, files, and the command line."""

import json

import lightgbm
import numpy as np
import pytest

import timelike as tl
from timelike.cli.main import main
from timelike.estimator.join import why_not_joined
from timelike.evaluation import metrics
from timelike.evaluation.questions import QUESTIONS, question_pairs
from timelike.evidence import combiner, joint_ranking
from timelike.evidence.density import Curve, Scale, missing_ratio
from timelike.evidence.likely_pairs import MIXTURES, LikelyPairs
from timelike.evidence.structure import Structure
from timelike.evidence.tree_tables import PARAMETERS, ROUNDS, TreeTables

QUICK = {"dim": 3, "epochs": 5, "learning_rate": 0.03, "baselines": "none", "progress": False}


def blocks(seed: int = 0, nodes: int = 60) -> tl.DiGraph:
    """Two groups; edges mostly go from the first to the second."""
    rng = np.random.default_rng(seed)
    group = np.arange(nodes) % 2
    likely = np.where((group[:, None] == 0) & (group == 1), 0.25, 0.01)
    np.fill_diagonal(likely, 0)
    edges = np.argwhere(rng.random((nodes, nodes)) < likely)
    return tl.DiGraph.from_arrays(*edges.T, num_nodes=nodes)


@pytest.fixture(scope="module")
def split() -> tl.Split:
    return tl.split_edges(blocks(), valid=0, test=0.2)


@pytest.fixture(scope="module")
def fitted(split) -> tl.SpacetimeEmbedding:
    return tl.SpacetimeEmbedding("minkowski", **QUICK).fit(split.train)


def learned(seed: int = 0, **begin: np.ndarray) -> tuple[TreeTables, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(500, 5)).astype(np.float32)
    x[:, 1] = np.round(x[:, 1])
    labels = x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size=500) > 0
    return TreeTables.learn(x, labels, np.ones(500), seed, **begin), x, labels


def test_tables_are_the_trees_of_lightgbm():
    trees, x, labels = learned()
    data = lightgbm.Dataset(x, labels, weight=np.ones(len(x)))
    booster = lightgbm.train({**PARAMETERS, "seed": 0}, data, ROUNDS)
    np.testing.assert_allclose(trees.score(x), booster.predict(x, raw_score=True), atol=1e-9)


def test_contributions_add_up_and_blame_no_idle_feature():
    trees, x, _ = learned()
    mean, parts = trees.contributions(x)
    np.testing.assert_allclose(mean + parts.sum(axis=1), trees.score(x), atol=1e-9)
    assert np.abs(parts[:, 0]).mean() > 3 * np.abs(parts[:, 4]).mean()


def test_slopes_come_on_top_of_trees_that_began_elsewhere():
    """Trees that begin at a straight line, plus this line, separate what the line alone does not."""
    slopes = np.array([1.0, 0, 0, 0, 0])
    _, x, _ = learned()
    trees, x, labels = learned(start=x @ slopes, slopes=slopes)
    alone = metrics.average_precision(x @ slopes, labels)
    assert metrics.average_precision(trees.score(x), labels) > alone + 0.05
    mean, parts = trees.contributions(x)
    np.testing.assert_allclose(mean + parts.sum(axis=1), trees.score(x), atol=1e-9)


@pytest.mark.parametrize("name", MIXTURES)
def test_likely_pairs_are_drawn_as_often_as_their_score_says(name):
    graph = blocks(2, 12)
    likely = LikelyPairs(graph, name)
    every = np.stack(np.indices((12, 12)), axis=-1).reshape(-1, 2)
    chances = np.exp(likely.score(*every.T)) / len(every)
    assert chances.sum() == pytest.approx(1, abs=1e-9)
    drawn = likely.draw(200_000, np.random.default_rng(0)) @ [12, 1]
    found = np.bincount(drawn, minlength=len(every)) / len(drawn)
    assert np.abs(found - chances).max() < 6 * np.sqrt(chances.max() / len(drawn))
    np.testing.assert_allclose(likely.rows(np.arange(12)).ravel(), likely.score(*every.T), atol=1e-6)


def test_counts_do_not_see_their_own_edge():
    """The features of an edge are the same whether the graph has it or not, but for what is decomposed."""
    graph = blocks(1, 20)
    names = Structure().prepare(graph).names
    ours = ("paths", "out-", "in-", "guess", "popularity")
    counted = tuple(name for name in names if name.startswith(ours))
    own = Structure(counted).prepare(graph)
    for number in range(0, graph.num_edges, 7):
        s, t = graph.pairs[[number]].T
        without = Structure(counted).prepare(graph.subgraph(np.arange(graph.num_edges) != number))
        for name, found, expected in zip(
            counted, own.features(s, t)[0], without.features(s, t)[0], strict=True
        ):
            if "normalised" not in name:  # there the degrees of neighbours change too
                assert found == pytest.approx(expected, abs=1e-5), name


def test_it_answers_better_than_geometry_and_counts(fitted, split):
    pairs = question_pairs(split.graph, split.test_edges)
    assert set(pairs) == set(QUESTIONS)
    found = tl.evaluate(fitted, split, questions=pairs)
    alone = tl.evaluate(fitted.embedding_, split)
    assert found.average_precision > alone.average_precision
    assert set(found.questions) == set(QUESTIONS)
    assert found.threshold_from.startswith("best F1 on held-out edges")


def test_a_random_graph_scores_chance():
    """Nothing leaks: where nothing can be learned, nothing is found, in all four questions."""
    reached = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        edges = np.argwhere(rng.random((80, 80)) < 0.08)
        graph = tl.DiGraph.from_arrays(*edges[edges[:, 0] != edges[:, 1]].T, num_nodes=80)
        split = tl.split_edges(graph, valid=0, test=0.3, seed=seed)
        model = tl.SpacetimeEmbedding("minkowski", seed=seed, **QUICK).fit(split.train)
        asked = question_pairs(graph, split.test_edges, seed)
        reached.append([model.score(pairs) for pairs in asked.values()])
        assert model.joint_.combiner.record["questions"]["uniform"] < 0.28
    np.testing.assert_allclose(np.mean(reached, axis=0), [0.2, 0.2, 0.2, 0.5], atol=0.06)


def test_probabilities_hold_for_the_ratio(fitted):
    joint = fitted.joint_
    assert joint.ratio == pytest.approx(missing_ratio(60, fitted.graph_.num_edges))
    s, t = np.divmod(np.arange(200), 60)
    shifted = joint.at_ratio(joint.ratio * np.e).log_odds_by_number(s, t)
    np.testing.assert_allclose(shifted, joint.log_odds_by_number(s, t) - 1, atol=1e-9)
    top = fitted.top_edges(20)
    assert [row.probability for row in top] == sorted((row.probability for row in top), reverse=True)
    assert not any(fitted.graph_.has_edges([row.source], [row.target])[0] for row in top)
    assert all(row.spread > 0 for row in top)
    assert 0 < joint.precision_at(20) <= 1


def test_reasons_add_up_to_the_log_odds(fitted):
    edge = fitted.top_edges(1)[0]
    base, reasons = fitted.why(edge.source, edge.target)
    total = base + sum(reason.contribution for reason in reasons)
    assert total == pytest.approx(float(fitted.joint_.log_odds(edge.source, edge.target)), abs=1e-6)
    assert {reason.group for reason in reasons} == set(fitted.joint_.combiner.groups)


def test_a_model_comes_back(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    again = tl.SpacetimeEmbedding.load(tmp_path / "model")
    assert again.top_edges(5) == fitted.top_edges(5)
    assert again.calibration_ == fitted.calibration_
    broken = tmp_path / "model" / "evidence.safetensors"
    broken.write_bytes(broken.read_bytes()[:100])
    with pytest.raises(ValueError, match=r"evidence\.safetensors"):
        tl.SpacetimeEmbedding.load(tmp_path / "model")


def test_new_nodes_are_answered_too(split):
    model = tl.SpacetimeEmbedding("minkowski", **QUICK).fit(split.train)
    model.add_nodes([(0, 60), (2, 60)])
    assert model.predict_proba([(4, 60)]).shape == (1, 2)


def test_without_evidence_the_geometry_answers(split, fitted):
    model = tl.SpacetimeEmbedding("minkowski", evidence="none", **QUICK).fit(split.train)
    assert model.joint_ is None
    assert model.answers_ is model.embedding_
    np.testing.assert_array_equal(model.embedding_.points, fitted.embedding_.points)
    with pytest.raises(ValueError, match="evidence"):
        model.why(0, 1)


def test_few_edges_are_geometry_alone():
    model = tl.SpacetimeEmbedding("minkowski", **QUICK).fit(tl.datasets.cycle(30))
    assert model.joint_ is None
    assert "30 edges" in model.embedding_.info["evidence"]


@pytest.mark.parametrize(("name", "why"), [("complete", "all possible edges"), ("isolated", "no edges")])
def test_graphs_without_anything_to_count_are_geometry_alone(name, why):
    edges = np.argwhere(~np.eye(9, dtype=bool))
    graph = tl.DiGraph.from_arrays(*edges.T, num_nodes=9 if name == "complete" else 3000)
    plan = tl.resolve(graph, tl.estimator.FitOptions("minkowski", valid_fraction=0))
    assert why in why_not_joined(plan)


def test_the_scale_finds_the_likelihood_ratio():
    """Normal scores: the log-likelihood ratio is linear in z."""
    rng = np.random.default_rng(0)
    edges, others = rng.normal(2, 1, 4000), rng.normal(0, 1, 40000)
    scale = Scale.fit(edges, others, np.full(40000, 1 / 40000), 1e4)
    z = np.linspace(0, 3, 7)
    np.testing.assert_allclose(scale(z), 2 * z - 2, atol=0.35)
    curve = Curve.of(scale(edges), scale(others), np.full(40000, 1 / 40000), 0.0)
    share = np.mean(edges > 2), np.mean(others > 2)
    count = 1000 * (share[0] + 10 * share[1])
    assert curve.precision_at(int(count), 1000, 10) == pytest.approx(
        share[0] / (share[0] + 10 * share[1]), abs=0.02
    )


def test_calibrated_on_a_planted_graph(fitted, split):
    """Of the top pairs about as many are hidden edges as their probabilities say."""
    hidden = split.test_edges
    unknown = 60 * 59 - split.train.num_edges
    joint = fitted.joint_.at_ratio((unknown - len(hidden)) / len(hidden))
    s, t = np.divmod(np.arange(3600), 60)
    kept = (s != t) & ~split.train.has_edges(s, t)
    s, t = s[kept], t[kept]
    probability = np.exp(joint.log_prob_by_number(s, t))
    assert probability.sum() == pytest.approx(len(hidden), rel=0.25)
    labels = split.graph.has_edges(s, t)
    assert metrics.average_precision(probability, labels) > 1.5 * labels.mean()


def test_commands_say_why_and_print_one_object(split, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.tsv").write_text("".join(f"g{s}\tg{t}\n" for s, t in split.train.pairs))
    fit = ["fit", "edges.tsv", "--out", "model", "--geometry", "minkowski", "--epochs", "5"]
    main([*fit, "--learning-rate", "0.03", "--baselines", "none", "--json"])
    summary = json.loads(capsys.readouterr().out)
    assert summary["evidence"] == "structure"
    assert set(summary["questions"]) == set(QUESTIONS)
    main(["predict", "model", "--all", "--top", "4", "--why", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert [*found["edges"][0]][:4] == ["source", "target", "probability", "spread"]
    assert "why: geometry" in found["edges"][0]
    assert 0 < found["precision_at_k"] <= 1
    main(["predict", "model", "--all", "--top", "4", "--ratio", "4", "--json"])
    likelier = json.loads(capsys.readouterr().out)["edges"]
    assert likelier[0]["probability"] > found["edges"][0]["probability"]
    with pytest.raises(SystemExit):
        main(["predict", "model", "--all", "--ratio", "0"])
    assert "--ratio" in capsys.readouterr().err


def test_structure_is_a_plain_value():
    structure = Structure().prepare(blocks(2, 12))
    assert Structure().suited_to(structure.graph) == Structure(structure.names)
    block = structure.block(np.array([3]))[0]
    free = np.flatnonzero(~structure.graph.has_edges(np.full(12, 3), np.arange(12)) & (np.arange(12) != 3))
    np.testing.assert_allclose(block[free], structure.features(np.full(len(free), 3), free), atol=1e-4)


def test_candidates_hold_the_best_of_all_pairs(fitted, monkeypatch):
    """A large graph is ranked by candidates; here they are compared with all pairs."""
    every = fitted.top_edges(15)
    monkeypatch.setattr(joint_ranking, "MOST_PAIRS", 100)
    monkeypatch.setattr(joint_ranking, "BY_GEOMETRY", 200)
    found = fitted.top_edges(15)
    assert len({row[:2] for row in found} & {row[:2] for row in every}) >= 12
    assert not any(fitted.graph_.has_edges([row.source], [row.target])[0] for row in found)
    few = fitted.top_edges(5, sources=range(30), targets=range(30))
    assert all(row.source < 30 and row.target < 30 for row in few)


@pytest.mark.parametrize("skewed", [True, False])
def test_popularity_is_taken_off_only_while_edges_rank_as_high_as_by_degrees(skewed):
    rng = np.random.default_rng(0)
    names = [combiner.EITHER_END, *combiner.ENDS, "paths"]

    def table(count, popular, paths):
        (out, into), other = rng.normal(popular, 1, (2, count)), rng.normal(paths, 1, count)
        return combiner.Table(np.stack([out + into, out, into, other], axis=1), np.zeros(count, int))

    edges, others = table(400, 0.6 * skewed, 1.0 - skewed), table(1600, 0.0, 0.0)
    none = [np.zeros((0, width)) for width in (3, 3, 8, 8)]
    slopes = np.array([-1.0, 1.2, 1.2, 0.03 if skewed else 5.0])
    tree = TreeTables(none[0].astype(int), *none[1:], slopes, np.zeros(4))
    (found,) = combiner._tempered([tree], edges, others, names)

    both, labels = np.concatenate([edges.features, others.features]), np.arange(2000) < 400
    before, after = (metrics.average_precision(one.score(both), labels) for one in (tree, found))
    degrees = metrics.average_precision(both[:, 1] + both[:, 2], labels)
    if skewed:
        assert degrees - combiner.COST < before < degrees
        assert after > before
    else:
        assert found.slopes[0] == -1
