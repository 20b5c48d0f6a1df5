"""From a file of edges to missing edges, a picture and a model on disk.

python examples/gene_network.py                       # a small file that is written first
python examples/gene_network.py my.tsv                # your own
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
    """Read, learn, predict, draw, save."""
    # A column called `weight` is read as such; under another name it has to be asked for.
    columns = ("regulator", "gene", "confidence") if source == "network.tsv" else None
    graph = tl.read(source, columns=columns)
    print(graph.notes or graph)
    print(f"suggested: {graph.describe().geometry}\n")

    found = tl.SpacetimeEmbedding("minkowski", dim=5, negatives=tl.Negatives(uniform=2, same_source=2)).fit(
        graph
    )

    print("The likeliest edges that are not in the file:")
    for regulator, gene, probability in found.top_edges(5):
        print(f"  {regulator} → {gene}  {probability:.2f}")
    edges = [(graph.name(a), graph.name(b)) for a, b in zip(graph.sources, graph.targets, strict=True)]
    there, back = (found.predict_proba(pairs)[:, 1] for pairs in (edges, [edge[::-1] for edge in edges]))
    print(f"known edges that score above their reverses: {(there > back).mean():.0%}")

    found.save("network-model")
    tl.plot.save(found.embedding_, "network.png", graph)
    print("written: network-model/, network.png")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        Path("network.tsv").write_text(EXCERPT, encoding="utf-8")
        main("network.tsv")
