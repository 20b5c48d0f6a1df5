"""Add new nodes to a trained embedding: hide five nodes, train, and add them with half of their edges."""

import numpy as np

import timelike as tl

HIDDEN = 5


def main() -> None:
    """Predict the other half."""
    graph = tl.datasets.duplication_divergence(seed=17, nodes=80)
    old = graph.num_nodes - HIDDEN
    inside = (graph.sources < old) & (graph.targets < old)
    known = tl.DiGraph.from_arrays(graph.sources[inside], graph.targets[inside], old)
    spare = np.stack([graph.sources[~inside], graph.targets[~inside]], axis=1)
    shown, hidden = spare[::2], spare[1::2]

    model = tl.Model(tl.manifolds.CylindricalMinkowski(5), tl.likelihoods.TripleFermiDirac(0.4, 0.07, 0.09))
    embedding = tl.train(known, model, tl.Config(epochs=100))
    grown = embedding.add_nodes([tuple(edge) for edge in shown.tolist()])
    print(f"{embedding.info['graph']}, then {grown.info['added']}")
    assert np.array_equal(grown.points[:old], embedding.points)  # old points stay

    edges = np.array([pair for pair in hidden if max(pair) < len(grown.points)])
    rng = np.random.default_rng(0)
    new = rng.integers(old, len(grown.points), 400)
    pairs = np.stack([new, rng.integers(0, old, 400)], axis=1)
    pairs = np.concatenate([pairs, pairs[:, ::-1]])
    pairs = pairs[~graph.has_edges(pairs[:, 0], pairs[:, 1])]
    scores = tl.evaluate(grown, tl.evaluation.LabelledPairs.build(edges, pairs))
    print(f"{len(edges)} hidden edges of the new nodes, among {len(pairs)} of their non-edges:")
    random = len(edges) / (len(edges) + len(pairs))
    ap, auc = scores.average_precision, scores.roc_auc
    print(f"  average precision {ap:.2f} (random ranking {random:.2f}), AUC {auc:.2f}")
    print(f"the most likely targets of node {old}: {[edge.target for edge in grown.top_targets(old, k=5)]}")


if __name__ == "__main__":
    main()
