"""Curves: how training went, how well probabilities are calibrated, precision against recall."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike._util.checks import instance, whole_number
from timelike.embedding.embedding import EMBEDDING, Embedding
from timelike.evaluation import metrics
from timelike.evaluation.labelled_pairs import LabelledPairs
from timelike.evaluation.pair_evaluation import score_pairs
from timelike.graphs.digraph import checked_nodes
from timelike.plot.style import COLUMN, LINES, PAGE, panels, styled, write_notes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Panels of the training curves: title, and the columns of the history in it.
PANELS = {
    "loss": {"loss": "training"},
    "average precision": {"valid_ap": "validation", "test_ap": "test"},
    "gradient norm": {"gradient_norm": "gradient norm"},
    "share of saturated pairs": {"saturated": "saturated"},
}

#: A legend over lines stays readable.
LEGEND: dict[str, Any] = {"frameon": True, "framealpha": 0.85, "edgecolor": "none"}


def training_curves(embedding: Embedding, *, width: float = PAGE) -> Figure:
    """Loss, average precision, gradient norm and saturation of every epoch; a line marks the epoch kept."""
    instance("embedding", embedding, Embedding, EMBEDDING)
    history = {k: np.asarray(v, float) for k, v in embedding.history.items() if np.isfinite(v).any()}
    shown = {title: [c for c in columns if c in history] for title, columns in PANELS.items()}
    shown = {title: columns for title, columns in shown.items() if columns}
    if not shown:
        raise ValueError("the embedding has no training history; only one made by timelike.train has")
    best = embedding.info.get("best_epoch")
    with styled():
        figure, grid = panels(1, len(shown), width=width, height=0.3 * width)
        figure.set_layout_engine("constrained")
        for axes, (title, columns) in zip(grid.flat, shown.items(), strict=True):
            for column, colour in zip(columns, LINES, strict=False):
                values = history[column]
                epochs = np.arange(1, len(values) + 1)
                axes.plot(
                    epochs, values, color=colour, linewidth=1, clip_on=False, label=PANELS[title][column]
                )
            if best:
                axes.axvline(best, color="0.6", linewidth=0.7, dashes=(3, 2), zorder=0)
            if title == "average precision":
                axes.set_ylim(0, 1)
                axes.legend(loc="lower right")
            else:
                axes.set_ylim(0, max(1.05 * max(np.nanmax(history[c]) for c in columns), 0.01))
            axes.set_title(title, loc="left")
            axes.set_xlabel("epoch")
        if best:
            why = embedding.info.get("selected_by", "best epoch")
            again = "; then trained again so far, with the validation edges" * ("refit" in embedding.info)
            write_notes(figure, [f"dashed: the epoch kept, {best} ({why}){again}"])
    return figure


def calibration_curve(
    embeddings: Embedding | Mapping[str, Embedding],
    pairs: LabelledPairs,
    *,
    bins: int = 10,
    width: float = COLUMN,
) -> Figure:
    """Share of edges among pairs of about equal predicted probability; on the diagonal they agree.

    The pairs are sorted into `bins` equal parts of [0, 1]; a bar is Wilson's 95 % interval. Give one
    embedding, or several by name. Shares depend on how many non-edges there are per edge: it is stated.
    """
    whole_number("bins", bins, 1)
    with styled():
        figure, grid = panels(1, 1, width=width, height=0.95 * width)
        axes = grid[0, 0]
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=0.7, zorder=0)
        for (name, scores), colour in zip(_scores(embeddings, pairs).items(), LINES, strict=False):
            truth = np.asarray(pairs.labels)
            x, y, low, high = reliability(scores, truth, bins)
            brier = f"Brier score {metrics.brier(scores, truth):.3f}"
            label = f"{name}, {brier}" if name else brier
            bars = np.stack([y - low, high - y])
            style: dict[str, Any] = {"elinewidth": 0.7, "linewidth": 1, "markersize": 3, "color": colour}
            axes.errorbar(x, y, bars, fmt="o-", label=label, **style)
        axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        axes.set(xlabel="predicted probability", ylabel="share of edges")
        axes.legend(loc="best", handlelength=1, **LEGEND)
        write_notes(figure, [_ratio(pairs)])
    return figure


def precision_recall_curve(
    embeddings: Embedding | Mapping[str, Embedding], pairs: LabelledPairs, *, width: float = COLUMN
) -> Figure:
    """Precision against recall over all thresholds, with the average precision; dashed: guessing.

    Give one embedding, or several by name.
    """
    with styled():
        figure, grid = panels(1, 1, width=width, height=0.95 * width)
        axes = grid[0, 0]
        truth = np.asarray(pairs.labels)
        axes.axhline(truth.mean(), color="0.6", linewidth=0.7, dashes=(3, 2), zorder=0)
        for (name, scores), colour in zip(_scores(embeddings, pairs).items(), LINES, strict=False):
            precision, recall, _ = metrics.precision_recall_curve(scores, truth)
            ap = f"AP {metrics.average_precision(scores, truth):.3f}"
            label = f"{name}, {ap}" if name else ap
            axes.step(recall[::-1], precision[::-1], where="pre", color=colour, linewidth=1, label=label)
        axes.set(xlim=(0, 1), ylim=(0, 1.02), aspect="equal", xlabel="recall", ylabel="precision")
        axes.legend(loc="best", handlelength=1, **LEGEND)
        write_notes(figure, [f"{_ratio(pairs)}; dashed: guessing"])
    return figure


def _scores(embeddings: Embedding | Mapping[str, Embedding], pairs: LabelledPairs) -> dict[str, np.ndarray]:
    """The log-probability of every pair, by the name of the embedding."""
    named = {"": embeddings} if isinstance(embeddings, Embedding) else dict(embeddings)
    instance("pairs", pairs, LabelledPairs, "LabelledPairs.build(positives, negatives)")
    if len(named) > len(LINES):
        raise ValueError(f"there are {len(named)} embeddings; at most {len(LINES)} curves can be told apart")
    truth = np.asarray(pairs.labels)
    if not truth.any() or truth.all():
        raise ValueError("pairs must hold at least one positive and one negative pair")
    found = {}
    for name, embedding in named.items():
        instance("embeddings", embedding, Embedding, EMBEDDING)
        for ends in (pairs.sources, pairs.targets):
            checked_nodes(np.asarray(ends), len(embedding.points), "pairs")
        found[name] = score_pairs(embedding, pairs.sources, pairs.targets)
    return found


def _ratio(pairs: LabelledPairs) -> str:
    truth = np.asarray(pairs.labels)
    positives, negatives = int(truth.sum()), int((~truth).sum())
    return f"{positives:,} edges, {negatives:,} non-edges ({negatives / positives:.3g} per edge)"


def reliability(
    scores: np.ndarray, truth: np.ndarray, bins: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Mean probability, share of edges, and Wilson's interval of it, of every bin that is not empty.

    (f + z²/2n ± z√(f(1 − f)/n + z²/4n²)) / (1 + z²/n), z = 1.96, for the share f of n pairs.
    """
    x, f, n = metrics.calibration_curve(scores, truth, bins)
    z = 1.96
    middle, spread = f + z**2 / (2 * n), z * np.sqrt(f * (1 - f) / n + (z / (2 * n)) ** 2)
    return x, f, (middle - spread) / (1 + z**2 / n), (middle + spread) / (1 + z**2 / n)
