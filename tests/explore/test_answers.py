"""The page gets the same numbers as the library."""

import dataclasses
from collections import Counter

import jax
import numpy as np
import polars as pl
import pytest
from small_models import made_to_differ, make

from timelike import DiGraph, Embedding, Model, datasets
from timelike.evaluation.target_ranks import rank_targets
from timelike.explore import colours
from timelike.explore.answers import MOST_TEXT, Answers, UnknownNode
from timelike.explore.shown_model import Picture, Shown, views_of
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import MANIFOLDS, Minkowski
from timelike.plot.views import view_of


def test_a_hierarchy_has_disks_within_disks():
    graph = datasets.tree(3, 3)
    model = Model(Minkowski(2), LIKELIHOODS["cone"]())
    embedding = Embedding(model, np.zeros((graph.num_nodes, 2), np.float32), None, {}, {})
    picture = Picture(Shown("tree", embedding, graph))
    table = np.array(picture.balls)
    apart = np.linalg.norm(table[graph.sources, :2] - table[graph.targets, :2], axis=1)
    assert np.all(apart + table[graph.targets, 2] <= table[graph.sources, 2] + 1e-4)
    assert np.max(np.linalg.norm(table[:, :2], axis=1) + table[:, 2]) == pytest.approx(1, abs=1e-4)
    assert picture.about()["views"][-1] == "balls"
    ring = DiGraph.from_arrays(np.arange(40), np.roll(np.arange(40), -1))
    assert Picture(Shown("tree", embedding, ring)).balls is None
    assert Picture(Shown("tree", embedding)).about()["balls"] is None


def rows(found, side, kind):
    return [(row["name"], row["p"]) for row in found[side][kind]]


@pytest.mark.parametrize("number", [0, 7, 59])
def test_the_lists_of_a_node_are_those_of_the_embedding(shown, answers, number):
    embedding, known = shown[0].embedding, shown[0].known
    name, found = f"gene{number}", answers.node(number, 12)
    for exclude, kind in ((None, "all"), (known, "new")):
        targets = [(p.target, p.probability) for p in embedding.top_targets(name, 12, exclude=exclude)]
        sources = [(p.source, p.probability) for p in embedding.top_sources(name, 12, exclude=exclude)]
        assert rows(found, "targets", kind) == targets
        assert rows(found, "sources", kind) == sources
    neighbours = {known.names[t] for s, t in known.pairs if s == number}
    assert {row["name"] for row in found["targets"]["known"]} == neighbours
    assert found["targets"]["total"] == len(neighbours)
    marked = {row["name"] for row in found["targets"]["all"] if row["known"]}
    assert marked == neighbours & {row["name"] for row in found["targets"]["all"]}
    prob = embedding.prob([name] * len(neighbours), [r["name"] for r in found["targets"]["known"]])
    np.testing.assert_allclose([r["p"] for r in found["targets"]["known"]], prob, rtol=1e-5)


@pytest.mark.parametrize("kind", ["inner", "outer"])
def test_a_model_ranked_by_another_score_is_shown_so(kind):
    """Nodes that training never saw as sources (or targets) are not proposed as such."""
    shown = made_to_differ(make("minkowski"), kind)
    embedding, known = shown.embedding, shown.known
    found = Answers(shown).node(7, 12)
    targets, sources = (
        embedding.top_targets("gene7", 12, exclude=known),
        embedding.top_sources("gene7", 12, exclude=known),
    )
    assert rows(found, "targets", "new") == [(p.target, p.probability) for p in targets]
    assert rows(found, "sources", "new") == [(p.source, p.probability) for p in sources]
    best = [(row["source"]["name"], row["target"]["name"]) for row in Answers(shown).likeliest(5)]
    assert best == [tuple(p[:2]) for p in embedding.top_edges(5, exclude=known)]


def test_of_several_members_the_first_is_shown(shown, answers):
    """With its own probabilities, calibrated like those of the mean."""
    one = shown[0].embedding
    others = np.stack([one.points[::-1]])
    many = Answers(shown[0]._replace(embedding=dataclasses.replace(one, others=others)))
    assert many.node(7, 12) == answers.node(7, 12)
    assert many.pair(7, 8) == answers.pair(7, 8)
    assert many.likeliest(5) == answers.likeliest(5)


def test_an_edge_has_both_probabilities_and_its_places(shown, answers):
    embedding, known = shown[0].embedding, shown[0].known
    edges = np.array([[3, 8], [8, 4], *known.pairs[:3]])
    ranks = rank_targets(embedding, edges, known.with_edges(edges))  # filtered ranks
    for (a, b), rank in zip(edges, ranks, strict=True):
        found = answers.pair(int(a), int(b))
        names = f"gene{a}", f"gene{b}"
        assert found["forward"]["p"] == pytest.approx(embedding.prob(*names), rel=1e-6)
        assert found["backward"]["p"] == pytest.approx(embedding.prob(*names[::-1]), rel=1e-6)
        assert found["forward"]["among_targets"]["place"] == rank
        assert found["forward"]["known"] == bool(known.has_edges(np.array([a]), np.array([b]))[0])


def test_a_node_with_itself_has_no_place(answers):
    assert "among_targets" not in answers.pair(4, 4)["forward"]


FORMULAS = {
    "F": lambda k, log: log["F"],
    "k (F₁ F₂ F₃)^⅓": lambda k, log: np.log(k) + sum(log.values()) / 3,
    "F₁ F₂": lambda k, log: sum(log.values()),
    "2 k F₁ F₂": lambda k, log: np.log(2 * k) + sum(log.values()),
}


def test_the_factors_make_the_probability():
    @jax.jit
    def of_all(p, q):
        separation = MANIFOLDS["cylindrical-minkowski"](3).separation(p, q)
        found = {name: make() for name, make in LIKELIHOODS.items()}
        return {name: (x.factors(separation), x.log_prob(separation)) for name, x in found.items()}

    found = of_all(np.array([0.1, 0.2, 0.0], np.float32), np.array([0.6, 0.0, 0.1], np.float32))
    for name, (factors, log_prob) in found.items():
        likelihood = LIKELIHOODS[name]()
        made = FORMULAS[likelihood.formula](getattr(likelihood, "k", 1.0), factors)
        np.testing.assert_allclose(made, log_prob, rtol=1e-5, atol=1e-6)


def test_why_is_the_separation(shown, answers):
    images = answers.pair(3, 8)["forward"]["why"]["images"]
    embedding = shown[0].embedding
    separation = embedding.model.separation(*embedding.points[[3, 8]])
    np.testing.assert_allclose([x["interval"] for x in images], separation.interval, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose([x["time"] for x in images], separation.time, rtol=1e-5)
    total = min(1.0, sum(x["p"] for x in images))
    assert total == pytest.approx(answers.pair(3, 8)["forward"]["model"], rel=1e-5)


def test_the_likeliest_edges_are_those_of_the_embedding(shown, answers):
    expected = shown[0].embedding.top_edges(20, exclude=shown[0].known)
    found = [(x["source"]["name"], x["target"]["name"], x["p"]) for x in answers.likeliest()]
    assert found == [tuple(row) for row in expected]


def test_search_finds_beginnings_then_the_inside(answers):
    assert [x["name"] for x in answers.search("GENE1")][:3] == ["gene1", "gene10", "gene11"]
    assert [x["name"] for x in answers.search("ene59")] == ["gene59"]
    assert [x["name"] for x in answers.search("gene7", 1)] == ["gene7"]
    assert {x["name"] for x in answers.search("ne5", 50)} == {"gene5", *(f"gene5{i}" for i in range(10))}
    assert answers.search("  ") == answers.search("nobody") == []
    assert len(answers.search("gene", 5)) == 5


def test_an_unknown_name_has_three_near_ones(answers):
    with pytest.raises(UnknownNode, match="'gene7x'") as caught:
        answers.number("gene7x")
    assert len(caught.value.near) == 3
    with pytest.raises(UnknownNode):
        answers.number("x" * 10 * MOST_TEXT)


def test_nodes_without_names_go_by_number(shown):
    bare = dataclasses.replace(shown[0].embedding, names=None)
    answers = Answers(shown[0]._replace(embedding=bare, known=None))
    assert answers.number("7") == 7
    assert answers.node(7, 3)["name"] == "7"
    with pytest.raises(UnknownNode, match="0 to 59"):
        answers.number("60")


def test_positions_are_those_of_the_views(shown, answers):
    picture, embedding = answers.picture, shown[0].embedding
    view = view_of(embedding.model.manifold, embedding.points)
    np.testing.assert_allclose(picture.positions[:, :3], np.stack(view[:3], axis=1), atol=1e-6)
    about = picture.about()
    assert about["lost"] == pytest.approx(view.lost)
    assert about["period"] == 5.0
    last = picture.frames.reshape(3, -1, 4)[-1]  # the last epoch is the embedding itself
    np.testing.assert_allclose(last, picture.positions, atol=1e-6)


@pytest.mark.parametrize("name", MANIFOLDS)
def test_every_manifold_has_a_view(name):
    assert "diagram" in views_of(MANIFOLDS[name](3))


def test_columns_of_a_table_colour_nodes(tmp_path, shown):
    embedding = shown[0].embedding
    table = pl.DataFrame(
        {"gene": ["gene1", "gene2", "nobody"], "size": [1.5, None, 3.0], "kind": ["a", "b", "c"]}
    )
    for ending, write in (
        (".tsv", lambda f: table.write_csv(f, separator="\t")),
        (".parquet", table.write_parquet),
    ):
        write(file := tmp_path / f"nodes{ending}")
        size, kind = colours.read_columns(file, embedding)
        assert (size.label, kind.label) == ("size", "kind")
        assert size.values[1] == 1.5
        assert np.isnan(size.values[[0, 2, 3]]).all()
        assert kind.categories == ["a", "b"]
        assert kind.values[:4].tolist() == [colours.CATEGORIES, 0, 1, colours.CATEGORIES]
    (other := tmp_path / "other.csv").write_text("a,b\nx,1\n")
    with pytest.raises(ValueError, match=r"other\.csv.*'a'"):
        colours.read_columns(other, embedding)
    (one := tmp_path / "one.csv").write_text("a\nx\n")
    with pytest.raises(ValueError, match=r"one\.csv.* one column"):
        colours.read_columns(one, embedding)


def test_components_are_weak_and_largest_first(shown):
    known = shown[1].known
    label = list(range(known.num_nodes))
    for _ in label:  # naively: neighbours agree on the least label
        for a, b in known.pairs:
            label[a] = label[b] = min(label[a], label[b])
    sizes = sorted(Counter(label).values(), reverse=True)
    assert len(sizes) > 1
    assert np.bincount(colours.components(known)).tolist() == sizes


def test_one_program_serves_all_nodes(answers):
    for most in (1, 20):
        answers.node(0, most)
    answers.warm_up()
    before = _compilations()
    for i in range(0, 60, 7):
        answers.node(i, 5 + i % 3)
        answers.pair(i, 59 - i)
    assert _compilations() == before


def _compilations() -> int:
    from timelike.explore.answers import _both_ways, _from_and_to
    from timelike.plot.drawn_nodes import score_edges

    return sum(f._cache_size() for f in (_both_ways, _from_and_to, score_edges))
