"""Go from an edge file to missing edges, a picture and a saved model.

python examples/gene_network.py                       # writes a small file and uses it
python examples/gene_network.py my.tsv                # your own file
python examples/gene_network.py dream5:ecoli          # a data set
"""

import sys
from pathlib import Path

import timelike as tl

EXCERPT = """\
regulator	gene	confidence
lexA	recA	1.0
lexA	umuC	0.9
lexA	umuD	0.9
lexA	sulA	0.8
lexA	uvrA	0.8
lexA	uvrB	0.7
crp	araC	1.0
crp	malT	0.9
crp	fis	0.6
fis	crp	0.6
araC	araA	1.0
araC	araB	1.0
araC	araD	1.0
malT	malP	0.8
malT	malQ	0.8
malT	malE	0.7
lacI	lacZ	1.0
lacI	lacY	1.0
crp	lacZ	0.9
crp	lacY	0.9
"""


def main(source: str) -> None:
    """Read, fit, predict, draw and save."""
    # `read` finds a column called `weight` by itself; name any other column of weights.
    columns = ("regulator", "gene", "confidence") if source == "network.tsv" else None
    graph = tl.read(source, columns=columns)
    print(graph.notes or graph)
    print(f"suggested: {graph.describe().geometry}\n")

    negatives = tl.Negatives(uniform=2, same_source=2)
    model = tl.SpacetimeEmbedding("minkowski", dim=5, negatives=negatives).fit(graph)

    print("The most likely edges that are not in the file:")
    for regulator, gene, probability in model.top_edges(5):
        print(f"  {regulator} → {gene}  {probability:.2f}")
    edges = [(graph.name(a), graph.name(b)) for a, b in zip(graph.sources, graph.targets, strict=True)]
    forward, back = (model.predict_proba(pairs)[:, 1] for pairs in (edges, [edge[::-1] for edge in edges]))
    print(f"known edges that score above their reverse: {(forward > back).mean():.0%}")

    model.save("network-model")
    tl.plot.save(model.embedding_, "network.png", graph)
    print("written: network-model/, network.png")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        Path("network.tsv").write_text(EXCERPT, encoding="utf-8")
        main("network.tsv")
