"""Draw each kind of negatives, `_static/negatives-KIND.png`; run `python docs/negative_pictures.py`.

Every node stands twice: on the left as a source, on the right as a target. Filled nodes can be drawn, and the
larger a node, the more often. The pools come from `KIND_ENDS`, which training and evaluation draw from.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from timelike.evaluation.negative_kinds import KIND_ENDS

STATIC = Path(__file__).parent / "_static"
NODES = "abcde"
EDGES = ("ac", "ad", "ae", "bd", "ce")
#: The edge that a negative pair goes with.
EDGE = "ad"
#: Kind → an example of a pair that it draws.
EXAMPLES = {
    "uniform": "eb",
    "same_source": "ab",
    "same_target": "ed",
    "reversed": "da",
    "degree": "be",
    "listed": "bc",
    "active_source": "ba",
    "active_target": "bc",
    "popular_source": "ab",
    "popular_same_target": "cd",
    "active_same_target": "cd",
}
#: The pairs of a user's list, for `listed`.
LISTED = ("bc", "de", "ed")
GREY, INK, BLUE, RED, POOL = "#c3c9cf", "#30363c", "#2166ac", "#b2182b", "#f4a582"


def pools(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """How often each node is drawn as a source and as a target: shares that add up to 1."""
    if kind == "listed":
        pairs = LISTED
        return tuple(np.array([sum(p[i] == n for p in pairs) / len(pairs) for n in NODES]) for i in (0, 1))
    if kind == "reversed":
        return tuple(np.array([float(n == EDGE[1 - i]) for n in NODES]) for i in (0, 1))
    return tuple(_pool(end, i) for i, end in enumerate(KIND_ENDS[kind]))


def _pool(end: str, side: int) -> np.ndarray:
    degrees = np.array([sum(edge[side] == node for edge in EDGES) for node in NODES], float)
    share = {
        "any": np.ones(len(NODES)),
        "own": np.array([float(node == EDGE[side]) for node in NODES]),
        "edge": degrees,
        "active_source": (degrees > 0).astype(float),
        "active_target": (degrees > 0).astype(float),
    }[end]
    return share / share.sum()


def draw(kind: str) -> Figure:
    """Edges in grey, the edge in blue, the negative pair in red; filled nodes are the pools."""
    figure = Figure((2.1, 1.75), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-0.34, 1.34), ylim=(-4.6, 1.0))
    axes.set_axis_off()
    height = {node: -i for i, node in enumerate(NODES)}

    def link(pair: str, color: str, width: float, style: str = "-", order: int = 1) -> None:
        ends = [(side, height[node]) for side, node in enumerate(pair)]
        axes.add_patch(
            FancyArrowPatch(
                *ends,
                arrowstyle="-|>",
                mutation_scale=8,
                shrinkA=5.5,
                shrinkB=6.5,
                color=color,
                linewidth=width,
                linestyle=style,
                zorder=order,
            )
        )

    for edge in EDGES:
        link(edge, GREY, 0.9)
    for pair in LISTED if kind == "listed" else ():
        link(pair, RED, 0.9, ":", order=2)
    link(EDGE, BLUE, 1.7, order=3)
    link(EXAMPLES[kind], RED, 1.7, "--", order=3)
    for side, (shares, title) in enumerate(zip(pools(kind), ("source", "target"), strict=True)):
        axes.text(side, 0.72, title, ha="center", va="center", fontsize=7, color="#6b737b", style="italic")
        for node, share in zip(NODES, shares, strict=True):
            size = 0.45 + 0.6 * share / shares.max() if share else 0.72
            axes.scatter(
                side,
                height[node],
                s=95 * size**2,
                facecolor=POOL if share else "white",
                edgecolor=INK if share else GREY,
                linewidth=0.9,
                zorder=4,
            )
            label = 0.19 * (1 if side else -1)
            axes.text(
                side + label, height[node], node, ha="center", va="center", fontsize=8.5, color=INK, zorder=5
            )
    return figure


def main() -> None:
    for kind in KIND_ENDS:
        draw(kind).savefig(STATIC / f"negatives-{kind}.png", dpi=200, metadata={"Software": None})


if __name__ == "__main__":
    main()
