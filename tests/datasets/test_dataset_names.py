"""Names are a contract: the graphs that they load, and the errors for wrong names."""

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timelike import DiGraph, datasets
from timelike.datasets import DATASETS, load


def same(a: DiGraph, b: DiGraph) -> bool:
    return a.num_nodes == b.num_nodes and (a.sources == b.sources).all() and (a.targets == b.targets).all()


@pytest.mark.parametrize(
    ("name", "graph"),
    [
        ("cycle:5", datasets.cycle(5)),
        ("cycle", datasets.cycle()),
        ("chain:10", datasets.chain(10)),
        ("transitive-chain:10", datasets.transitive_chain(10)),
        ("three-node-chain", datasets.chain(3)),
        ("tripartite:4,3,middle=1", datasets.tripartite(4, 3, 1)),
        ("tripartite:successors=2", datasets.tripartite(10, 2)),
        ("tree:branching=2,depth=6", datasets.tree(2, 6)),
        ("grid: 3, columns = 4", datasets.grid(3, 4)),
        ("random-dag:edges=7,seed=3", datasets.random_dag(edges=7, seed=3)),
        ("rmat:scale=6,a=0.5", datasets.rmat(6, a=0.5)),
        (
            "duplication-divergence:seed=3,nodes=100,p1=0.7,p2=0.7",
            datasets.duplication_divergence(3, 100, 0.7, 0.7),
        ),
        (
            "duplication-divergence:nodes=9,start=complete",
            datasets.duplication_divergence(0, 9, start="complete"),
        ),
    ],
)
def test_names(name, graph):
    assert same(load(name), graph)


@pytest.mark.parametrize("name", [name for name, dataset in DATASETS.items() if not dataset.files])
def test_generated_data_sets_have_defaults(name):
    assert load(name).num_edges > 0
    assert all(isinstance(value, int | float | str) for value in DATASETS[name].parameters.values())


def test_every_data_set_is_described():
    for name, dataset in DATASETS.items():
        assert dataset.about, name
        assert dataset.source
        assert dataset.licence
        assert (dataset.nodes is not None) == (dataset.edges is not None) == bool(dataset.files)


def test_every_function_that_makes_a_graph_is_listed():
    functions = [f for name in datasets.__all__ if inspect.isfunction(f := getattr(datasets, name))]
    makers = {f for f in functions if f.__annotations__["return"] == "DiGraph" and can_be_called_plainly(f)}
    assert makers == {dataset.make for dataset in DATASETS.values() if not dataset.files}


def can_be_called_plainly(function) -> bool:
    return all(p.default is not p.empty for p in inspect.signature(function).parameters.values())


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("cylce:5", r"'cylce:5'.* cycle, .*datasets list"),
        ("dream5:ecol", r"'dream5:ecol'.* dream5:ecoli"),
        ("dream5", r"'dream5'.* dream5:"),
        ("", r"data set ''"),
        ("cycle:five", r"'cycle:five': nodes is 'five'.*nodes=5"),
        ("cycle:5,6", r"'cycle:5,6': '6' .*nodes=5"),
        ("cycle:length=5", r"'length=5' is .*nodes=5"),
        ("tree:depth=3,2", r"'2' .*depth twice.*branching=2, depth=6"),
        ("three-node-chain:4", r"'three-node-chain:4': '4' .*parameter"),
        ("random-dag:seed=1.5", r"seed is '1.5'"),
        ("rmat:a=x", r"a is 'x'"),
        ("chain:0", r"'chain:0': nodes is 0; .*≥ 1"),
        ("duplication-divergence:p1=7", r"p1 is 7.0"),
        ("wordnet:nouns:5", r"'wordnet:nouns:5'.* wordnet:nouns"),
    ],
)
def test_wrong_names(name, says):
    with pytest.raises(ValueError, match=says) as caught:
        load(name)
    assert "\n" not in str(caught.value)


def test_names_are_text():
    with pytest.raises(TypeError, match="name is 5"):
        load(5)


words = st.sampled_from(
    ["nodes", "seed", "p1", "depth", "a", "start", "=", ",", ":", "-1", "3", "1.5", "nan", " "]
)
generated = st.sampled_from([name for name in DATASETS if ":" not in name])


def outcome(name: str) -> str:
    """The graph or the error that loading gives, as text."""
    try:
        return str(load(name))
    except ValueError as error:
        return str(error)


@given(generated, st.lists(words, max_size=6), st.text(max_size=2))
def test_any_parameters_give_a_graph_or_one_line(name, parts, text):
    assert len(outcome(f"{name}:{''.join(parts)}{text}").splitlines()) == 1


@given(st.text(max_size=12))
def test_any_text_gives_a_graph_or_one_line(text):
    assert len(outcome(text).splitlines()) == 1
