"""New nodes are placed among old ones, which do not move."""

import dataclasses

import numpy as np
import pytest
from embeddings import make, make_model

import timelike as tl
from timelike import Config, DiGraph, Model, Negatives
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import CylindricalMinkowski


def grown(nodes: int = 60, seed: int = 17) -> DiGraph:
    graph = tl.datasets.duplication_divergence(seed, nodes=nodes)
    return DiGraph(graph.sources, graph.targets, nodes, tuple(f"g{i}" for i in range(nodes)))


#: One program for most tests: 20 old nodes, 2 new ones, 4 edges of which 3 teach, 4 negatives, 5 epochs.
CONFIG = Config(epochs=5, learning_rate=0.1)
EDGES = [(20, 3), (5, 20), (20, 21), (1, 2)]


def test_old_points_keep_their_bits_and_new_ones_are_learned():
    embedding = make(nodes=20, names=tuple(f"n{i}" for i in range(20)))
    found = embedding.add_nodes([("new", "n3"), ("n5", "new"), ("new", "Ω"), ("n1", "n2")], CONFIG)
    assert found.names == (*embedding.names, "new", "Ω")
    assert found.points[:20].tobytes() == embedding.points.tobytes()
    assert found.points.shape == (22, 3)
    assert found.info["added"] == {"nodes": 2, "edges": 3}
    assert found.model == embedding.model
    assert len(embedding.points) == 20
    assert found.prob("new", "n3") > embedding.prob(embedding.names, ["n3"] * 20).mean()


def test_same_seed_same_points():
    embedding = make(nodes=20)
    first, again = (embedding.add_nodes(EDGES, CONFIG).points for _ in range(2))
    np.testing.assert_array_equal(first, again)
    other = embedding.add_nodes(EDGES, dataclasses.replace(CONFIG, seed=1)).points
    assert (other[20:] != first[20:]).any()


@pytest.mark.long
def test_new_points_lie_on_the_manifold():
    embedding = make(make_model("de-sitter"), nodes=20)
    found = embedding.add_nodes([(20, 1), (2, 21), (21, 22), (22, 20)], Config(epochs=30))
    embedding.model.manifold.check_points(found.points)


def test_without_names_new_nodes_are_the_next_numbers():
    embedding = make(nodes=20)
    found = embedding.add_nodes(EDGES, CONFIG)
    assert found.names is None
    assert len(found.points) == 22
    with pytest.raises(ValueError, match=r"edges has the new nodes 24.* 20 "):
        embedding.add_nodes([(1, 24)])
    with pytest.raises(ValueError, match="edges names no new node"):
        embedding.add_nodes([(1, 2)])
    with pytest.raises(ValueError, match=r"edges .*21, 22"):
        embedding.add_nodes([(1, 20), (21, 22)])


def test_settings_of_the_training_are_used_again():
    config = dataclasses.replace(CONFIG, negatives=Negatives(uniform=3, same_source=1), learning_rate=0.03)
    embedding = dataclasses.replace(make(nodes=20), info={"config": config.to_dict()})
    found, given = embedding.add_nodes(EDGES), embedding.add_nodes(EDGES, config)
    np.testing.assert_array_equal(found.points, given.points)
    assert (found.points != embedding.add_nodes(EDGES, CONFIG).points).any()


def test_rate_and_temperatures_fall_as_in_training():
    embedding = make(nodes=20)
    plain = embedding.add_nodes(EDGES, CONFIG).points
    for change in ({"final_rate": 0.01}, {"anneal": 3.0}):
        assert (embedding.add_nodes(EDGES, dataclasses.replace(CONFIG, **change)).points != plain).any()


@pytest.mark.long
def test_held_out_nodes_find_the_other_half_of_their_edges():
    """Rank of a folded-in node's unseen neighbours among all nodes: 0 is best, ½ is chance."""
    graph = grown(100)
    model = Model(CylindricalMinkowski(5), TripleFermiDirac(0.4, 0.07, 0.09))
    rng, ranks = np.random.default_rng(0), []
    degree = np.bincount(np.append(graph.sources, graph.targets), minlength=100)
    out = np.argsort(-degree)[5:25:10]  # neither the hubs nor the leaves
    touching = np.isin(graph.sources, out) | np.isin(graph.targets, out)
    rest = graph.subgraph(~touching)
    kept = [i for i in range(100) if i not in set(out)]
    renumber = {old: new for new, old in enumerate(kept)}
    rest = DiGraph.from_arrays(
        [renumber[i] for i in rest.sources],
        [renumber[i] for i in rest.targets],
        names=tuple(graph.names[i] for i in kept),
    )
    embedding = tl.train(rest, model, Config(epochs=60), progress=False)
    for node in out:
        others = np.setdiff1d(out, node)
        mine = (graph.sources == node) ^ (graph.targets == node)
        mine &= ~np.isin(graph.sources, others) & ~np.isin(graph.targets, others)
        ids = rng.permutation(np.flatnonzero(mine))
        named = [(graph.names[graph.sources[i]], graph.names[graph.targets[i]]) for i in ids]
        seen, unseen = named[: len(ids) // 2], named[len(ids) // 2 :]
        found = embedding.add_nodes(seen)
        for source, target in unseen:
            new = graph.names[node]
            ask = found.top_targets if source == new else found.top_sources
            order = [x.target if source == new else x.source for x in ask(new, 100)]
            order = [x for x in order if ((new, x) if source == new else (x, new)) not in seen]
            ranks.append(order.index(target if source == new else source) / (len(order) - 1))
    assert len(ranks) > 12
    assert np.mean(ranks) < 0.3, ranks
