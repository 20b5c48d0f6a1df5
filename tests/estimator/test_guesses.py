"""What users of scikit-learn, networkx, PyTorch Geometric and gensim write first: it works, or the error says
the right call.
"""

import copy
import pickle
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from small_fits import GENES, small

import timelike as tl
from timelike import DiGraph, SpacetimeEmbedding

SEEN = [("lexA", "recA"), ("crp", "umuD")]
UNFAIR = pytest.mark.filterwarnings("ignore:.* edges (have nodes that|are known)")


@pytest.fixture(scope="module")
def model(genes):
    return genes


@pytest.fixture(scope="module")
def edges(graph):
    return np.asarray(graph)


#: guess → a call that works, of the model (names), the graph (numbers) and its (m, 2) edges
WORK = {
    # scikit-learn
    "fit_transform": lambda model, graph, edges: small(epochs=1).fit_transform(graph).shape == (40, 3),
    "transform(graph)": lambda model, graph, edges: model.transform(GENES).shape == (5, 3),
    "transform(nodes)": lambda model, graph, edges: model.transform(["crp", "fis"]).shape == (2, 3),
    "predict": lambda model, graph, edges: set(model.predict(SEEN)) <= {0, 1},
    "classes_": lambda model, graph, edges: [*model.classes_] == [0, 1],
    "history_": lambda model, graph, edges: len(model.history_["loss"]) == 3,
    "feature names": lambda model, graph, edges: [*model.get_feature_names_out()] == ["t0", "x0", "x1"],
    "score(held-out edges)": lambda model, graph, edges: 0 < model.score([("fis", "recA")]) <= 1,
    "score(networkx graph)": lambda model, graph, edges: 0 < model.score(nx.DiGraph([("fis", "umuD")])) <= 1,
    "cross_val_score(graph)": lambda model, graph, edges: (
        cross_val_score(small(epochs=1), graph, cv=2) > 0
    ).all(),
    "cross_val_score(edges of networkx)": lambda model, graph, edges: (
        cross_val_score(small(epochs=1), list(nx.DiGraph(edges.tolist()).edges), cv=2) > 0
    ).all(),
    "GridSearchCV": lambda model, graph, edges: (
        GridSearchCV(small(epochs=1), {"seed": [0, 1]}, cv=2).fit(edges).best_score_ > 0
    ),
    "make_pipeline": lambda model, graph, edges: (
        len(
            make_pipeline(small(epochs=1), LogisticRegression())
            .fit(graph.adjacency(), np.arange(40) % 2)
            .predict(graph.adjacency())
        )
        == 40
    ),
    "set_output": lambda model, graph, edges: isinstance(
        small(epochs=1).set_output(transform="pandas").fit_transform(graph), pd.DataFrame
    ),
    "pickle": lambda model, graph, edges: (
        pickle.loads(pickle.dumps(model)).predict(SEEN) == model.predict(SEEN)
    ).all(),
    "deepcopy": lambda model, graph, edges: len(copy.deepcopy(model).embedding_) == 5,
    "a manifold object": lambda model, graph, edges: isinstance(
        small(tl.manifolds.Minkowski(2), dim=None, epochs=1).fit(graph).embedding_.model.manifold,
        tl.manifolds.Flat,
    ),
    # networkx, pandas, polars, SciPy
    "fit(networkx graph)": lambda model, graph, edges: (
        len(small(epochs=1).fit(nx.gnp_random_graph(20, 0.2, seed=1, directed=True)).embedding_) == 20
    ),
    "predict(graph.edges)": lambda model, graph, edges: len(model.predict(nx.DiGraph(SEEN).edges)) == 2,
    "predict(networkx graph)": lambda model, graph, edges: len(model.predict_proba(nx.DiGraph(SEEN))) == 2,
    "to_networkx": lambda model, graph, edges: {"t0", "x0", "time"} <= {*model.to_networkx().nodes["crp"]},
    "to_pandas": lambda model, graph, edges: [*model.to_pandas()] == model.to_polars().columns,
    "graph.to_pandas": lambda model, graph, edges: len(graph.to_pandas()) == graph.num_edges,
    "graph.to_polars": lambda model, graph, edges: (
        tl.read(model.known_.to_polars()).num_edges == model.known_.num_edges
    ),
    "graph.to_networkx": lambda model, graph, edges: {*model.known_.to_networkx().edges} == {*GENES},
    "pandas.DataFrame(predictions)": lambda model, graph, edges: (
        [*pd.DataFrame(model.top_edges(2))] == ["source", "target", "probability"]
    ),
    "fit(sparse matrix)": lambda model, graph, edges: (
        len(small(epochs=1).fit(csr_array(graph.adjacency())).embedding_) == 40
    ),
    # PyTorch Geometric
    "fit(edge_index)": lambda model, graph, edges: (
        small(epochs=1, valid_fraction=0).fit(edges.T).graph_.num_edges == graph.num_edges
    ),
    "fit(data)": lambda model, graph, edges: (
        small(epochs=1, valid_fraction=0).fit(SimpleNamespace(edge_index=edges.T)).graph_.num_edges
        == graph.num_edges
    ),
    "predict(edge_index)": lambda model, graph, edges: (
        len(small(epochs=1).fit(graph).predict(edges.T)) == graph.num_edges
    ),
    # gensim
    "np.asarray(embedding)": lambda model, graph, edges: np.asarray(model.embedding_).shape == (5, 3),
    "embedding[node]": lambda model, graph, edges: model.embedding_["crp"].shape == (3,),
    "embedding[nodes]": lambda model, graph, edges: model.embedding_[["crp", "fis"]].shape == (2, 3),
    "node in embedding": lambda model, graph, edges: (
        "crp" in model.embedding_ and "x" not in model.embedding_
    ),
    "len(embedding)": lambda model, graph, edges: len(model.embedding_) == len([*model.embedding_]) == 5,
    "embedding.to_pandas": lambda model, graph, edges: len(model.embedding_.to_pandas()) == 5,
}

#: guess → a call that fails, the error, and what its text names
ANSWERED = {
    "n_components": (lambda m, g: SpacetimeEmbedding(n_components=8), TypeError, "dim=8"),
    "vector_size": (lambda m, g: SpacetimeEmbedding(vector_size=8), TypeError, "dim=8"),
    "random_state": (lambda m, g: SpacetimeEmbedding(random_state=1), TypeError, "seed=1"),
    "manifold": (lambda m, g: SpacetimeEmbedding(manifold="sphere"), TypeError, "geometry='sphere'"),
    "lr": (lambda m, g: SpacetimeEmbedding(lr=0.1), TypeError, "learning_rate=0.1"),
    "topn": (lambda m, g: m.most_similar("crp", topn=5), TypeError, "k=5"),
    "top_k": (lambda m, g: m.embedding_.top_targets("crp", top_k=5), TypeError, "k=5"),
    "positive": (
        lambda m, g: m.most_similar(positive="crp"),
        TypeError,
        "^SpacetimeEmbedding.most_similar has .* node='crp'",
    ),
    "fit(epochs)": (lambda m, g: small().fit(g, epochs=3), TypeError, r"SpacetimeEmbedding\(epochs=…\)"),
    "test_size": (lambda m, g: tl.split_edges(g, test_size=0.2), TypeError, "test=0.2"),
    "a single pair": (lambda m, g: m.predict(("crp", "fis")), ValueError, r"write \[\('crp', 'fis'\)\]"),
    "subgraph(nodes)": (lambda m, g: g.subgraph(["crp"]), TypeError, "mask"),
    "successors": (lambda m, g: g.successors("crp"), AttributeError, r"to_networkx\(\).successors"),
    "out_degree": (lambda m, g: g.out_degree("crp"), AttributeError, "row_starts"),
    "vector_size of an embedding": (lambda m, g: m.embedding_.vector_size, AttributeError, "points.shape"),
    "n_iter_": (lambda m, g: m.n_iter_, AttributeError, "history_"),
    "plot": (lambda m, g: m.plot(), AttributeError, "timelike.plot.draw"),
    "tl.draw": (lambda m, g: tl.draw(m), AttributeError, "plot.draw"),
    "SpaceTimeEmbedding": (lambda m, g: tl.SpaceTimeEmbedding(), AttributeError, "SpacetimeEmbedding"),
    "partial_fit": (lambda m, g: m.partial_fit([("a", "b")]), AttributeError, "update"),
    "kneighbors": (lambda m, g: m.kneighbors("crp"), AttributeError, "most_similar"),
    "wv": (lambda m, g: m.wv["crp"], AttributeError, "embedding_"),
    "similarity": (lambda m, g: m.similarity("crp", "fis"), AttributeError, "predict_proba"),
    "index_to_key": (lambda m, g: m.embedding_.index_to_key, AttributeError, "names"),
    "save_word2vec_format": (
        lambda m, g: m.embedding_.save_word2vec_format("x"),
        AttributeError,
        "export.*word2vec",
    ),
    "edge_index": (lambda m, g: g.edge_index, AttributeError, "pairs.T"),
    "graph.edges": (lambda m, g: g.edges, AttributeError, "to_networkx"),
    "number_of_nodes": (lambda m, g: g.number_of_nodes(), AttributeError, "num_nodes"),
    "encode": (lambda m, g: m.encode(["crp"]), AttributeError, "transform"),
    "state_dict": (lambda m, g: m.state_dict(), AttributeError, "save"),
    "tl.load": (lambda m, g: tl.load("model"), AttributeError, "SpacetimeEmbedding.load"),
    "tl.fit": (lambda m, g: tl.fit(g), AttributeError, "SpacetimeEmbedding"),
    "a manifold class": (lambda m, g: small(tl.manifolds.Minkowski).fit(g), ValueError, "object"),
    "a model": (
        lambda m, g: small(tl.Model(tl.manifolds.Minkowski(2), tl.likelihoods.TripleFermiDirac())).fit(g),
        ValueError,
        "manifold",
    ),
    "transform(new nodes)": (lambda m, g: m.transform(["crp", "new"]), ValueError, "'new'"),
    "transform(another matrix)": (
        lambda m, g: small(epochs=1).fit(g).transform(np.eye(5)[::-1]),
        ValueError,
        "update",
    ),
    "score(rows of a matrix)": (
        lambda m, g: cross_val_score(small(), g.adjacency(), cv=2, error_score="raise"),
        ValueError,
        "graph.pairs",
    ),
    "score(unknown edges)": (lambda m, g: m.score([("a", "b")]), ValueError, "update"),
}


@UNFAIR
@pytest.mark.parametrize("guess", WORK)
def test_a_natural_guess_works(guess, model, graph, edges):
    assert WORK[guess](model, graph, edges)


@pytest.mark.parametrize("guess", ANSWERED)
def test_a_guess_is_answered_with_the_right_call(guess, model, graph):
    call, error, right = ANSWERED[guess]
    with pytest.raises(error, match=right) as caught:
        call(model, graph)
    assert "\n" not in str(caught.value)


def test_a_score_says_what_makes_it_unfair(model):
    with pytest.warns(UserWarning, match="1 of 2 edges have nodes"):
        model.score([("fis", "recA"), ("fis", "new")])
    with pytest.warns(UserWarning, match="1 of 2 edges are known"):
        model.score([("fis", "recA"), GENES[0]])


def test_a_graph_survives_the_way_there_and_back():
    graph = DiGraph.from_edges([("a", "b", 2.0), ("b", "c", 1.0)])
    for there in (graph.to_networkx(), graph.to_pandas(), graph.to_polars()):
        back = tl.read(there)
        assert (back.num_nodes, [*back.names]) == (3, ["a", "b", "c"])
        np.testing.assert_array_equal(back.weights, graph.weights)
    mixed = DiGraph.from_edges([("a", 1), (1, ("x", 2))])
    assert {*mixed.to_networkx().edges} == {("a", 1), (1, ("x", 2))}
    assert isinstance(mixed.to_polars(), pl.DataFrame)
