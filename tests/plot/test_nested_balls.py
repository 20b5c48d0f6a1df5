"""A hierarchy as disks within disks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import timelike as tl
from timelike import plot
from timelike.hierarchy import embed_hierarchy
from timelike.plot.circle_packing import packed
from timelike.plot.nested_balls import heights_above


@settings(max_examples=20, deadline=None)
@given(nodes=st.integers(1, 120), seed=st.integers(0, 2**20), flat=st.booleans())
def test_disks_hold_their_descendants_and_no_others(nodes, seed, flat):
    rng = np.random.default_rng(seed)
    parent = np.array([-1] + [0 if flat else int(rng.integers(-1, i)) for i in range(1, nodes)])
    centres, radii = packed(parent, heights_above(parent))
    near = np.linalg.norm(centres[:, None] - centres, axis=2)
    held = near + radii < radii[:, None] + 1e-9  # whether i holds j
    above = np.eye(nodes, dtype=bool)
    for node in range(nodes):
        if parent[node] >= 0:
            above[:, node] |= above[:, parent[node]]
    np.testing.assert_array_equal(held, above)
    apart = ~(above | above.T)
    assert (near >= radii + radii[:, None])[apart].all()


def test_a_disk_for_each_node():
    graph = tl.DiGraph.from_edges(
        [("animal", "dog"), ("animal", "cat"), ("pet", "cat"), ("pet", "dog"), ("thing", "pet")]
    )
    figure = plot.draw(embed_hierarchy(graph), graph, "balls")
    assert len(figure.axes[0].collections[0].get_offsets()) == graph.num_nodes
    letters = "".join(text.get_text() for text in figure.axes[0].texts)
    assert "dog" in letters
    assert "thing" in letters
    assert "several parents" in figure.get_supxlabel()
    for theme in ("dark", "grey"):
        assert plot.draw(embed_hierarchy(graph), graph, ["balls", "diagram"], theme=theme).axes


def test_balls_need_edges():
    with pytest.raises(ValueError, match="edges"):
        plot.draw(embed_hierarchy(tl.datasets.tree(2, 2)), kind="balls")
