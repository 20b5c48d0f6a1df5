"""Learn the direct is-a edges of an ontology in an OBO file, then predict the implied ones."""

from pathlib import Path

import timelike as tl

KINDS = {
    "animal": "",
    "mammal": "animal",
    "bird": "animal",
    "fish": "animal",
    "dog": "mammal",
    "cat": "mammal",
    "whale": "mammal",
    "eagle": "bird",
    "owl": "bird",
    "salmon": "fish",
    "shark": "fish",
    "poodle": "dog",
    "beagle": "dog",
    "siamese": "cat",
    "orca": "whale",
    "snowy owl": "owl",
}


def obo() -> str:
    """Return the text of an OBO file, one stanza per term."""
    ids = {name: f"ZOO:{i:04d}" for i, name in enumerate(KINDS)}
    stanzas = [f"[Term]\nid: {ids[name]}\nname: {name}\n" for name in KINDS]
    above = [f"is_a: {ids[parent]} ! {parent}\n" if parent else "" for parent in KINDS.values()]
    return "format-version: 1.2\n\n" + "\n".join(a + b for a, b in zip(stanzas, above, strict=True))


def main() -> None:
    """Write the file, read it, train on the direct edges, and score the implied ones."""
    Path("zoo.obo").write_text(obo(), encoding="utf-8")
    graph = tl.read("zoo.obo", labels=True)  # term → parent
    print(graph)

    # With a small α the whole future is likely, as is-a requires: it is transitive.
    model = tl.Model(tl.manifolds.Minkowski(4), tl.likelihoods.TripleFermiDirac(0.1, 0.05, alpha=0.001))
    negatives = tl.Negatives(uniform=4, reversed=1)
    embedding = tl.train(graph, model, tl.Config(epochs=400, batch_size=4, negatives=negatives))

    closure = tl.datasets.transitive_closure(graph)
    implied = closure.subgraph(~graph.has_edges(closure.sources, closure.targets))
    nodes = range(graph.num_nodes)
    others = [(a, b) for a in nodes for b in nodes if a != b and not closure.has_edges(a, b)]
    pairs = tl.evaluation.LabelledPairs.build(
        list(zip(implied.sources, implied.targets, strict=True)), others
    )
    scores = tl.evaluate(embedding, pairs)
    print(f"{implied.num_edges} implied edges, {scores.negatives} other pairs: AUC {scores.roc_auc:.2f}")

    for term in ("poodle", "orca"):
        ranked = [f"{edge.target} {edge.probability:.2f}" for edge in embedding.top_targets(term, k=4)]
        print(f"{term} is a: {', '.join(ranked)}")


if __name__ == "__main__":
    main()
