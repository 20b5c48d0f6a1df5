"""Score one model against four kinds of negatives, on several splits: the kind decides what a score means."""

import timelike as tl

KINDS = ("uniform", "same_source", "degree", "reversed")
SEEDS = 3


def main() -> None:
    """Train once per split; only the negatives differ between kinds."""
    graph = tl.datasets.duplication_divergence(seed=17, nodes=80)
    model = tl.Model(tl.manifolds.CylindricalMinkowski(5), tl.likelihoods.TripleFermiDirac(0.4, 0.07, 0.09))
    rows: dict[str, list] = {kind: [] for kind in KINDS}
    for seed in range(SEEDS):
        splits = {
            kind: tl.split_edges(graph, valid=0.1, test=0.15, seed=seed, negatives=kind) for kind in KINDS
        }
        first = splits["uniform"]
        embedding = tl.train(first.train, model, tl.Config(epochs=60), valid=first.valid)
        for kind, split in splits.items():
            scores = {"spacetime": tl.evaluate(embedding, split)}
            scores |= tl.estimator.evaluate_baselines(split.train, split)
            rows[kind] += [{"model": name, "seed": seed, **x.to_dict()} for name, x in scores.items()]

    print(f"{graph}: average precision, median of {SEEDS} splits")
    for kind in KINDS:
        summary = [x for x in tl.evaluation.summarise(rows[kind]) if x["metric"] == "average_precision"]
        print(f"{kind:<16}" + "   ".join(f"{row['model']} {row['median']:.2f}" for row in summary))
    print("a random ranking scores 0.20 (reversed: 0.50)")


if __name__ == "__main__":
    main()
