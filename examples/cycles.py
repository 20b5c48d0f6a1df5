"""Embed a directed cycle in three spaces.

On a line of time, at least one edge must lead into the past. A space without time cannot distinguish an edge
from its reverse. On a circle of time, every edge leads to the future.
"""

import numpy as np

import timelike as tl
from timelike.likelihoods import FermiDirac, TripleFermiDirac
from timelike.manifolds import CylindricalMinkowski, Euclidean, Minkowski

NODES = 6
SPACES = {
    "Euclidean": tl.Model(Euclidean(2), FermiDirac(0.1, r=0.5)),
    "Minkowski": tl.Model(Minkowski(2), TripleFermiDirac(0.15, 0.05, 0.075)),
    "cylinder": tl.Model(CylindricalMinkowski(2, circumference=6.0), TripleFermiDirac(0.15, 0.05, 0.075)),
}


def main() -> None:
    """Print one line per space: does it separate the edges from all other pairs?"""
    graph = tl.datasets.cycle(NODES)
    config = tl.Config(epochs=400, batch_size=2)
    i = np.arange(NODES)
    print(f"{'':<12}{'worst edge':>12}{'best non-edge':>16}{'edges above their reverse':>28}")
    for name, model in SPACES.items():
        embedding = tl.train(graph, model, config)
        table = embedding.prob(np.repeat(i, NODES), np.tile(i, NODES)).reshape(NODES, NODES)
        edge = table[graph.sources, graph.targets]
        reverse = table[graph.targets, graph.sources]
        other = np.delete(table.ravel(), np.r_[i * (NODES + 1), graph.sources * NODES + graph.targets])
        above = (edge > reverse + 1e-6).mean()
        print(f"{name:<12}{edge.min():>12.2f}{other.max():>16.2f}{above:>28.0%}")
    print("A space represents the cycle if its worst edge is more likely than its best non-edge.")


if __name__ == "__main__":
    main()
