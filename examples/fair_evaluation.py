"""One model, two kinds of non-edges, several splits: what a score says depends on what it was told from."""

import timelike as tl

PROTOCOLS = {
    "uniform": tl.Negatives(uniform=4),
    "degree": tl.Negatives(degree=4),
}
SEEDS = 3


def main() -> None:
    graph = tl.datasets.duplication_divergence(seed=17, nodes=80)
    model = tl.Model(tl.manifolds.CylindricalMinkowski(5), tl.likelihoods.TripleFermiDirac(0.4, 0.07, 0.09))
    print(f"{graph}: average precision, median of {SEEDS} splits; guessing has 0.20")
    for protocol, negatives in PROTOCOLS.items():
        rows = []
        for seed in range(SEEDS):
            split = tl.split.split_edges(graph, valid=0.1, test=0.15, seed=seed, protocol=protocol)
            config = tl.Config(epochs=60, negatives=negatives)
            embedding = tl.train(split.train, model, config, valid=split.valid)
            found = {"spacetime": tl.evaluate.evaluate(embedding, split)}
            found |= tl.baselines.evaluate_baselines(split.train, split)
            rows += [{"model": name, "seed": seed, **score.to_dict()} for name, score in found.items()]
        summary = [row for row in tl.compare.summarise(rows) if row["metric"] == "average_precision"]
        print(f"{protocol:<16}" + "   ".join(f"{row['model']} {row['median']:.2f}" for row in summary))


if __name__ == "__main__":
    main()
