"""What do the members of an ensemble add: five against one, and does their spread predict errors?

python -m paper.studies.members score --out OUT [--only TEXT]    # one file for each split
python -m paper.studies.members report --out OUT                 # results/members.json, table and picture

`SpacetimeEmbedding(dim=10, members=5)` fits every split, trains again with the validation edges, and scores
the test pairs once. A member alone is calibrated on the validation pairs by itself.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np

import timelike as tl
from paper.reports.simple_rows import BEST, simple_scores
from paper.reports.tables import markdown
from paper.runner.reproduction import present_name
from paper.runner.task_results import device, now, versions
from paper.studies.claims import unclaimed
from paper.training.link_prediction import load_split

DIM, MEMBERS, BINS = 10, 5, 10
#: Data set → seeds of splits or graphs. Validation on other splits chose the mean of log-odds.
DATA = {
    "duplication-divergence": (4402, 5610, 5704, 5865, 6464, 7824),
    "dream5:ecoli": (102, 103, 104),
    "dream5:in-silico": (102, 103, 104),
}
ROOT = Path(__file__).parents[2]
RESULTS, PICTURE = ROOT / "paper/results/members.json", ROOT / "docs/_static/members.png"
#: Score → number format.
SCORES = {"ap": "{:.1f}", "nll": "{:.3f}", "ece": "{:.1f}"}
COLOURS = ("#0072B2", "#D55E00", "#009E73")


def score(data: str, seed: int) -> dict[str, Any]:
    """Test scores of the members alone and together, and probability and spread of every test pair."""
    split = load_split(data, seed, None)
    estimator = tl.SpacetimeEmbedding(dim=DIM, members=MEMBERS, refit=False, evidence="none", progress=False)
    before = estimator.fit(split.train, valid=split.valid).embedding_
    after = trained_again(before, split.train.with_edges(split.valid_edges))
    alone = [
        dataclasses.replace(after.member(i), calibration=before.member(i).calibrated(split.valid).calibration)
        for i in range(before.members)
    ]
    ends = np.asarray(split.test.sources), np.asarray(split.test.targets)
    return {
        "geometry": estimator.geometry_,
        "members": [_scores(one, split.test) for one in alone],
        "together": _scores(after, split.test),
        "labels": np.asarray(split.test.labels).astype(int).tolist(),
        "probability": np.exp(after.log_prob_by_number(*ends)).round(5).tolist(),
        "spread": after.spread_by_number(*ends).round(5).tolist(),
    }


def trained_again(ensemble: tl.Embedding, graph: tl.DiGraph) -> tl.Embedding:
    """The ensemble after training on `graph` until the median best epoch; its calibration stays."""
    members = ensemble.info["members"]
    last = int(np.median([member["best_epoch"] for member in members]))
    config = tl.Config.from_dict({**ensemble.info["config"], "learn": ()}).ended_at(last)
    seeds = [member["seed"] for member in members]
    again = tl.ensemble(
        tl.sweep(graph, ensemble.model, config, seeds=seeds, keep_all=True, progress=False).runs
    )
    return dataclasses.replace(ensemble, model=again.model, points=again.points, others=again.others)


def _scores(embedding: tl.Embedding, pairs: tl.evaluation.LabelledPairs) -> dict[str, float]:
    """AP and expected calibration error in percent, and the negative log-likelihood."""
    metrics = tl.evaluation.metrics
    scores = embedding.log_prob_by_number(np.asarray(pairs.sources), np.asarray(pairs.targets))
    labels = np.asarray(pairs.labels)
    mean, share, count = metrics.calibration_curve(scores, labels, BINS)
    return {
        "ap": 100 * metrics.average_precision(scores, labels),
        "nll": metrics.nll(scores, labels),
        "ece": 100 * float(np.sum(np.abs(mean - share) * count) / count.sum()),
    }


def summary(data: str, splits: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over the splits of a data set, and the share of errors among all test pairs by spread."""
    alone = {x: [float(np.mean([one[x] for one in s["members"]])) for s in splits] for x in SCORES}
    together = {x: [s["together"][x] for s in splits] for x in SCORES}
    probability, spread, labels = pooled(splits)
    wrong = (probability >= 0.5) != labels
    third = np.searchsorted(np.quantile(spread, [1 / 3, 2 / 3]), spread)
    low = _lower_half(probability, spread)
    return {
        "about": {"dataset": data, "dim": DIM, "members": MEMBERS, "splits": list(DATA[data])},
        "geometries": [s["geometry"] for s in splits],
        "alone": alone,
        "together": together,
        "pairs": len(labels),
        "wrong_by_third_of_spread": [float(wrong[third == i].mean()) for i in range(3)],
        "wrong_at_equal_probability": [float(wrong[low].mean()), float(wrong[~low].mean())],
        "brier_at_equal_probability": [
            float(np.mean((probability[half] - labels[half]) ** 2)) for half in (low, ~low)
        ],
    }


def pooled(splits: list[dict[str, Any]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probability, spread and label of the test pairs of all splits."""
    p, s, y = (np.concatenate([one[name] for one in splits]) for name in ("probability", "spread", "labels"))
    return p, s, y.astype(bool)


def _lower_half(probability: np.ndarray, spread: np.ndarray, groups: int = 20) -> np.ndarray:
    """Whether the spread of a pair is in the lower half among pairs of similar probability."""
    low = np.zeros(len(spread), bool)
    for group in np.array_split(np.argsort(probability, kind="stable"), groups):
        low[group] = spread[group] <= np.median(spread[group])
    return low


def table() -> str:
    """The stored results, as Markdown."""
    found = json.loads(RESULTS.read_text(encoding="utf-8"))
    head = ["data", "splits", "AP", "NLL", "ECE", "errors, by third of the spread"]
    head += ["errors at equal probability, lower / higher spread", "AP of the best simple method"]
    body = []
    for row in found:
        sides = [
            [form.format(np.mean(row[side][x])) for side in ("alone", "together")]
            for x, form in SCORES.items()
        ]
        wrong = [
            " / ".join(f"{100 * share:.1f}" for share in row[name]) + " %"
            for name in ("wrong_by_third_of_spread", "wrong_at_equal_probability")
        ]
        data, seeds = row["about"]["dataset"], row["about"]["splits"]
        simple = simple_scores(data, seeds, "listed" if data.startswith("dream5") else "uniform")
        best = f"{np.mean(simple[BEST]):.1f}" if simple else "–"
        body.append([data, str(len(seeds)), *(" → ".join(pair) for pair in sides), *wrong, best])
    better = {
        x: sum(
            a > b if x == "ap" else a < b
            for row in found
            for a, b in zip(row["together"][x], row["alone"][x], strict=True)
        )
        for x in SCORES
    }
    splits = sum(len(row["about"]["splits"]) for row in found)
    wins = ", ".join(f"{x.upper()} on {count}" for x, count in better.items())
    made = found[0]["made"]
    how = f"Made {made['date'][:10]} by `{present_name(made['command'])}` on {made['device']}."
    size = f"{MEMBERS} × {DIM} = {MEMBERS * DIM}"
    words = f"One member with {DIM} coordinates per node (mean of {MEMBERS}) → the ensemble with {size}. "
    words += f"Of {splits} splits, it improves {wins}."
    return f"{markdown(head, body)}\n\n{words} {how}\n"


def draw(splits: dict[str, list[dict[str, Any]]], file: Path) -> None:
    """Left: share of edges by predicted probability. Right: share of errors by spread of the members."""
    from timelike.plot import PAGE, panels, styled

    with styled():
        figure, grid = panels(1, 2, width=PAGE, height=0.47 * PAGE)
        left, right = grid[0]
        left.plot([0, 1], [0, 1], color="0.7", linewidth=0.7, zorder=0)
        for (data, some), colour in zip(splits.items(), COLOURS, strict=True):
            probability, spread, labels = pooled(some)
            style: dict[str, Any] = {"elinewidth": 0.7, "linewidth": 1, "markersize": 3, "color": colour}
            with np.errstate(divide="ignore"):  # a probability may round to 0
                x, y, low, high = reliability(np.log(probability), labels)
            left.errorbar(x, y, [y - low, high - y], fmt="o-", label=data, **style)
            wrong = (probability >= 0.5) != labels
            tenths = np.array_split(np.argsort(spread, kind="stable"), 10)
            right.plot(
                [spread[part].mean() for part in tenths],
                [wrong[part].mean() for part in tenths],
                "o-",
                color=colour,
                linewidth=1,
                markersize=3,
            )
        left.set(xlim=(0, 1), ylim=(0, 1), xlabel="predicted probability", ylabel="share of edges")
        left.legend(loc="best", handlelength=1, frameon=True, framealpha=0.85, edgecolor="none")
        right.set(xlim=(0, None), ylim=(0, None))
        right.set(
            xlabel="spread (mean of each tenth of the pairs)", ylabel="share of pairs predicted wrongly"
        )
        note = "test pairs of all splits, 4 non-edges to an edge; bars: Wilson's 95 % intervals"
        figure.supxlabel(note, fontsize=6.5, color="0.35")
        figure.savefig(file)


def reliability(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, ...]:
    """Mean probability, share of edges, and its 95 % Wilson interval, of every bin that is not empty."""
    from scipy.stats import binomtest

    mean, share, count = tl.evaluation.metrics.calibration_curve(scores, labels, BINS)
    edges = np.round(share * count).astype(int)
    ends = [binomtest(k, int(n)).proportion_ci(method="wilson") for k, n in zip(edges, count, strict=True)]
    return mean, share, *np.array(ends).T


def report(out: Path) -> None:
    """Write the stored results and the picture, and print the table."""
    splits = {
        data: [json.loads(_file(out, data, seed).read_text()) for seed in seeds]
        for data, seeds in DATA.items()
    }
    found = [summary(data, some) for data, some in splits.items()]
    made = {
        "date": now(),
        "command": "python -m paper.studies.members score --out OUT",
        "device": device(),
        "versions": versions(),
    }
    RESULTS.write_text("[\n" + ",\n".join(json.dumps({**row, "made": made}) for row in found) + "\n]\n")
    draw(splits, PICTURE)
    print(table())


def _file(out: Path, data: str, seed: int) -> Path:
    return out / f"{data.replace(':', '-')}-{seed}.json"


def main() -> None:
    """Score the missing splits, or report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=["score", "report"])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    if arguments.what == "report":
        report(arguments.out)
        return
    tasks = [(data, seed) for data, seeds in DATA.items() for seed in seeds]
    for file, task in unclaimed({_file(arguments.out, *task): task for task in tasks}, arguments.only):
        file.write_text(json.dumps(score(*task)))


if __name__ == "__main__":
    main()
