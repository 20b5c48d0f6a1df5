"""Published files, if present, have their known numbers of nodes and edges."""

import os
from pathlib import Path

import pytest

from timelike import read

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("TIMELIKE_DATA", ROOT.parent / "shared" / "data"))
NETWORK = "DREAM5_NetworkInference_GoldStandard_Network{}.tsv"
NOUNS = "noun_closure.tsv.train_{}percent"


def present(*parts: str) -> Path:
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is not there; set TIMELIKE_DATA to the folder with dream5/ and wordnet/")
    return path


@pytest.mark.parametrize(
    ("number", "nodes", "edges", "listed"),
    [(1, 1565, 4012, 274_380), (3, 1081, 2066, 150_214), (4, 1994, 3940, 223_262)],
)
def test_dream5(number, nodes, edges, listed):
    graph = read(present("dream5", NETWORK.format(number)), columns=(0, 1, 2))
    assert (graph.num_nodes, graph.num_edges, graph.notes.zero_weights) == (nodes, edges, listed)


@pytest.mark.parametrize(("share", "edges"), [(0, 84_363), (10, 142_039), (25, 228_554), (50, 372_745)])
def test_wordnet(share, edges):
    graph = read(present("wordnet", NOUNS.format(share)))
    assert (graph.num_nodes, graph.num_edges, graph.notes.lines()) == (82_114, edges, [])
    assert graph.describe().is_dag
