"""What the members of a model are good for: five against one, and whether their spread tells anything.

python -m experiments.members score --out OUT [--only TEXT]    # a file for each split; several may share OUT
python -m experiments.members report --out OUT                 # the results, a table and the picture

Every split is fitted by `SpacetimeEmbedding(dim=10, members=5)`, as a user would, trained again with the
validation edges, and asked about its test pairs once. A member alone is calibrated on validation by itself.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from timelike import metrics
from timelike.auto import refit
from timelike.embedding import Embedding
from timelike.estimator import SpacetimeEmbedding
from timelike.evaluation import LabelledPairs
from timelike.reproduce.refit import load_split

DIM, MEMBERS = 10, 5
#: Data → seeds of splits, or of graphs. The mean of log-odds was chosen by validation on others.
DATA = {
    "duplication-divergence": (4402, 5610, 5704, 5865, 6464, 7824),
    "dream5:ecoli": (102, 103, 104),
    "dream5:in-silico": (102, 103, 104),
}


def score(data: str, seed: int) -> dict[str, Any]:
    """Test scores of the members alone and together, and what the model says of every test pair."""
    split = load_split(data, seed, None)
    estimator = SpacetimeEmbedding(dim=DIM, members=MEMBERS, refit=False, progress=False)
    before = estimator.fit(split.train, valid=split.valid).embedding_
    after = refit(before, split.train.with_edges(split.valid_edges), split.valid, progress=False)
    alone = [
        before.member(i).calibrated(split.valid).calibration for i in range(before.members)
    ]  # of the runs that validated
    members = [_scores(_with(after.member(i), found), split.test) for i, found in enumerate(alone)]
    ends = np.asarray(split.test.sources), np.asarray(split.test.targets)
    return {
        "geometry": estimator.geometry_,
        "members": members,
        "together": _scores(after, split.test),
        "labels": np.asarray(split.test.labels).astype(int).tolist(),
        "probability": np.exp(after.log_prob_by_number(*ends)).round(5).tolist(),
        "spread": after.spread_by_number(*ends).round(5).tolist(),
    }


def _with(embedding: Embedding, calibration: Any) -> Embedding:
    import dataclasses

    return dataclasses.replace(embedding, calibration=calibration)


def _scores(embedding: Embedding, pairs: LabelledPairs) -> dict[str, float]:
    scores = embedding.log_prob_by_number(np.asarray(pairs.sources), np.asarray(pairs.targets))
    labels = np.asarray(pairs.labels)
    mean, share, count = metrics.calibration_curve(scores, labels)
    return {
        "ap": 100 * metrics.average_precision(scores, labels),
        "nll": metrics.nll(scores, labels),
        "ece": 100 * float(np.sum(np.abs(mean - share) * count) / count.sum()),
    }


def main() -> None:
    """Score what is left to score, or report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=["score", "report"])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for data, seeds in DATA.items():
        for seed in seeds:
            file = given.out / f"{data.replace(':', '-')}-{seed}.json"
            if given.only not in file.name or file.exists():
                continue
            try:  # another process may be at it
                os.close(os.open(f"{file}.begun", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            file.write_text(json.dumps(score(data, seed)))


if __name__ == "__main__":
    main()
