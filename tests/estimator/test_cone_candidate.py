"""Nested cones as a candidate of a fit."""

import dataclasses
import json

import numpy as np
import pytest

from timelike import DiGraph, Embedding, SpacetimeEmbedding, resolve, tune
from timelike.datasets import chain, cycle, duplication_divergence, random_dag, transitive_closure
from timelike.datasets.families import tree
from timelike.estimator import FitOptions, NestedCones, Settings
from timelike.estimator.ahead import ahead
from timelike.estimator.carry_out import choose, embed_candidate
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.pair_evaluation import best_threshold
from timelike.graphs.reading_notes import ReadSummary
from timelike.hierarchy import hierarchy_of

TREE = tree(3, 4)
CLOSURE = transitive_closure(TREE)


def pairs_of(closure: DiGraph, known: DiGraph) -> LabelledPairs:
    """All pairs that follow from the known edges but are none of them, and ten times as many others."""
    implied = closure.pairs[~known.has_edges(*closure.pairs.T)]
    ends = np.random.default_rng(0).integers(0, closure.num_nodes, (20 * len(implied), 2))
    others = ends[(ends[:, 0] != ends[:, 1]) & ~closure.has_edges(*ends.T)]
    return LabelledPairs.build(implied, others[: 10 * len(implied)])


VALID = pairs_of(CLOSURE, TREE)


def grown(nodes: int, second: float) -> DiGraph:
    """A random recursive tree in which a share of the nodes has a second parent that no path implies."""
    rng = np.random.default_rng(1)
    child = np.arange(1, nodes)
    parents = (rng.random((2, child.size)) * child).astype(int)
    more = rng.random(child.size) < second
    both = DiGraph.from_arrays(np.append(parents[0], parents[1][more]), np.append(child, child[more]), nodes)
    order = hierarchy_of(both, doubt=False).order
    return DiGraph.from_arrays(order.parents, order.children, nodes)


def fitted(graph=TREE, valid=VALID, **options) -> SpacetimeEmbedding:
    settings = {"dim": 3, "evidence": "none", "baselines": "none", "progress": False}
    return SpacetimeEmbedding(**{**settings, **options}).fit(graph, valid=valid)


@pytest.mark.parametrize("graph", [TREE, CLOSURE], ids=["tree", "closure"])
def test_the_plan_sees_a_hierarchy(graph):
    plan = resolve(graph, valid=VALID)
    assert isinstance(plan.candidates[0], NestedCones)
    assert plan.trained[0].geometry == "minkowski"
    assert "depth 4" in plan.reasons["geometry"]
    assert "nested cones" in str(plan)
    again = json.loads(json.dumps(plan.to_dict()))
    assert again["candidates"][0]["method"] == "nested cones"


@pytest.mark.parametrize(
    ("graph", "options"),
    [
        (cycle(200), {}),
        (duplication_divergence(seed=17), {}),
        (random_dag(100, 800), {}),
        (CLOSURE, {"dim": 2}),
        (CLOSURE, {"likelihood": "law-lucas"}),
        (CLOSURE, {"tables": "float16"}),
        (CLOSURE, {"settings": "hierarchy"}),
        (CLOSURE, {"geometry": "minkowski"}),
    ],
)
def test_other_graphs_and_explicit_choices_have_no_cones(graph, options):
    assert not any(isinstance(one, NestedCones) for one in resolve(graph, FitOptions(**options)).candidates)


@pytest.mark.parametrize("geometry", ["auto", "nested-cones"])
@pytest.mark.parametrize(("second", "dim"), [(0.1, 10), (0.6, 20)])
def test_several_parents_need_room(geometry, second, dim):
    graph = grown(600, second)
    more = graph.num_edges - 599
    assert (more > 200) == (dim == 20)
    plan = resolve(graph, FitOptions(geometry=geometry), valid=VALID)
    assert plan.candidates[0].model.manifold.dim == dim
    assert (f"20 dimensions, for {more} parents" in plan.reasons["geometry"]) == (dim == 20)
    plan = resolve(graph, FitOptions(geometry=geometry, dim=5), valid=VALID)
    assert plan.candidates[0].model.manifold.dim == 5


def test_cones_win_without_training_the_others(tmp_path):
    found = fitted()
    status = {row["geometry"]: row["status"] for row in found.candidates_}
    assert status.pop("nested-cones") == "finished"
    assert {*status.values()} == {"not tried"}
    assert found.geometry_ == "nested-cones"
    assert found.embedding_.info["valid_ap"] == pytest.approx(1)
    s, t = (x.ravel() for x in np.indices((TREE.num_nodes, TREE.num_nodes)))
    s, t = s[s != t], t[s != t]
    np.testing.assert_array_equal(
        found.predict_proba(np.stack([s, t], 1))[:, 1] > 0.5, CLOSURE.has_edges(s, t)
    )
    found.save(tmp_path / "model")
    again = SpacetimeEmbedding.load(tmp_path / "model")
    np.testing.assert_array_equal(again.embedding_.points, found.embedding_.points)
    assert again.geometry_ == "nested-cones"
    assert Embedding.load(tmp_path / "model").info["plan"]["candidates"][0]["geometry"] == "nested-cones"
    assert len(again.top_edges(5)) == 5


def test_nothing_is_compiled_if_cones_suffice():
    plan = resolve(TREE, FitOptions(dim=3, evidence="none"), valid=VALID)
    assert plan.trained
    with ahead(plan) as work:
        chosen, _, _ = choose(plan, None, False, embed_candidate, work)
        assert isinstance(chosen, NestedCones)
        assert not work._compiling


def test_the_same_seed_gives_the_same_model():
    one, other = fitted(seed=3), fitted(seed=3)
    np.testing.assert_array_equal(one.embedding_.points, other.embedding_.points)
    assert one.embedding_.info == other.embedding_.info


def test_a_refit_embeds_all_edges():
    found = fitted(refit=True)
    assert found.embedding_.info["refit"]["edges"] == CLOSURE.num_edges
    assert found.known_.num_edges == CLOSURE.num_edges


def test_members_and_seeds_differ_by_their_packing():
    found = fitted(members=3, seeds=2, refit=True)
    assert found.embedding_.members == 3
    assert [one["seed"] for one in found.embedding_.info["members"]] == [0, 1, 2]
    assert not np.array_equal(found.embedding_.points, found.embedding_.others[0])


@pytest.mark.parametrize("geometry", ["nested-cones"])
def test_cones_by_name(geometry):
    plan = resolve(cycle(30), FitOptions(geometry))
    assert [one.geometry for one in plan.candidates] == [geometry]
    assert plan.trained == ()
    assert "none" in str(plan)
    found = fitted(geometry=geometry)
    assert found.geometry_ == geometry
    assert found.candidates_[0]["status"] == "finished"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"epochs": 3}, "epochs is 3"),
        ({"settings": Settings(training={"optimizer": "adam"})}, "optimizer is 'adam'"),
        ({"likelihood": "law-lucas"}, "likelihood is 'law-lucas'"),
        ({"dim": 2}, "dim"),
    ],
)
def test_what_cones_do_not_obey_is_an_error(options, said):
    with pytest.raises(ValueError, match=said):
        SpacetimeEmbedding("nested-cones", **options, progress=False).fit(TREE)


def test_there_is_nothing_to_tune():
    with pytest.raises(ValueError, match="nested-cones"):
        tune(CLOSURE, Settings(geometry="nested-cones"), trials=1, progress=False)


def test_an_ontology_is_validated_on_pairs_that_its_edges_imply():
    """All edges of a transitive relation are learned, and who lies above whom is asked."""
    ontology = dataclasses.replace(TREE, notes=ReadSummary("a.obo", TREE.num_edges, transitive=True))
    plan = resolve(ontology, FitOptions(dim=3))
    assert plan.graph is ontology
    assert not TREE.has_edges(*plan.valid.positives.T).any()
    assert CLOSURE.has_edges(*plan.valid.positives.T).all()
    assert not CLOSURE.has_edges(*plan.valid.negatives.T).any()
    assert (plan.evidence, plan.refit) == ("none", False)
    found = SpacetimeEmbedding(dim=3, baselines="none", progress=False).fit(ontology)
    assert found.geometry_ == "nested-cones"
    assert found.embedding_.info["valid_ap"] == pytest.approx(1)
    assert not TREE.has_edges(*resolve(TREE, FitOptions("nested-cones")).valid.positives.T).any()
    assert resolve(TREE).graph.num_edges < TREE.num_edges  # edges of other files need not imply others


def test_a_chain_has_no_pairs_to_compare_with():
    assert fitted(chain(30), None, geometry="nested-cones").geometry_ == "nested-cones"


def test_the_threshold_is_the_cone():
    """Also where validation would accept any in a wide range."""
    found = fitted()
    assert best_threshold(found.embedding_, VALID)[0] == found.embedding_.boundary
    assert found.embedding_.boundary == pytest.approx(found.embedding_.calibration.log_prob(np.log([0.5]))[0])
    s, t = (x.ravel() for x in np.indices((TREE.num_nodes, TREE.num_nodes)))
    inside = found.embedding_.log_prob_by_number(s, t) >= found.embedding_.boundary
    np.testing.assert_array_equal(inside[s != t], CLOSURE.has_edges(s, t)[s != t])
    assert fitted(geometry="minkowski", epochs=2).embedding_.boundary is None
