"""Curves: training history, calibration, and precision against recall."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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

#: Panels of the training curves: title → history column → legend label.
PANELS = {
    "loss": {"loss": "training"},
    "average precision": {"valid_ap": "validation", "test_ap": "test"},
    "gradient norm": {"gradient_norm": "gradient norm"},
    "fraction of saturated pairs": {"saturated": "saturated"},
}

#: A background keeps a legend readable over lines.
LEGEND: dict[str, Any] = {"frameon": True, "framealpha": 0.85, "edgecolor": "none"}


def training_curves(embedding: Embedding, *, width: float = PAGE) -> Figure:
    """Loss, average precision, gradient norm and saturation by epoch; a dashed line marks the kept epoch."""
    instance("embedding", embedding, Embedding, EMBEDDING)
    history = {k: np.asarray(v, float) for k, v in embedding.history.items() if np.isfinite(v).any()}
    shown = {title: kept for title, names in PANELS.items() if (kept := [c for c in names if c in history])}
    if not shown:
        raise ValueError("embedding has no training history; only timelike.train records one")
    best = embedding.info.get("best_epoch")
    with styled():
        figure, grid = panels(1, len(shown), width=width, height=0.3 * width)
        figure.set_layout_engine("constrained")
        for axes, (title, columns) in zip(grid.flat, shown.items(), strict=True):
            for column, colour in zip(columns, LINES, strict=False):
                epochs = np.arange(1, len(history[column]) + 1)
                look = {"color": colour, "linewidth": 1, "clip_on": False, "label": PANELS[title][column]}
                axes.plot(epochs, history[column], **look)
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
            refit = "; refitted for as many epochs with the validation edges" * ("refit" in embedding.info)
            write_notes(figure, [f"dashed: kept epoch {best} ({why}){refit}"])
    return figure


def calibration_curve(
    embeddings: Embedding | Mapping[str, Embedding],
    pairs: LabelledPairs,
    *,
    bins: int = 10,
    width: float = COLUMN,
) -> Figure:
    """Fraction of edges among pairs by predicted probability; a calibrated model lies on the diagonal.

    The pairs are sorted into `bins` equal parts of [0, 1]; error bars are Wilson 95 % intervals. Pass one
    embedding, or several by name. The fractions depend on the number of non-edges per edge, which a
    footnote states.
    """
    whole_number("bins", bins, 1)
    with _square(pairs, width) as (axes, truth):
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=0.7, zorder=0)
        for label, scores, colour in _scores(embeddings, pairs):
            x, y, low, high = reliability(scores, truth, bins)
            label += f"Brier score {metrics.brier(scores, truth):.3f}"
            look: dict[str, Any] = {"elinewidth": 0.7, "linewidth": 1, "markersize": 3, "color": colour}
            axes.errorbar(x, y, np.stack([y - low, high - y]), fmt="o-", label=label, **look)
        axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        axes.set(xlabel="predicted probability", ylabel="fraction of edges")
    return axes.figure


def precision_recall_curve(
    embeddings: Embedding | Mapping[str, Embedding], pairs: LabelledPairs, *, width: float = COLUMN
) -> Figure:
    """Precision against recall over all thresholds, with the average precision; dashed: random ranking.

    Pass one embedding, or several by name.
    """
    with _square(pairs, width, "; dashed: random ranking") as (axes, truth):
        axes.axhline(truth.mean(), color="0.6", linewidth=0.7, dashes=(3, 2), zorder=0)
        for label, scores, colour in _scores(embeddings, pairs):
            precision, recall, _ = metrics.precision_recall_curve(scores, truth)
            label += f"AP {metrics.average_precision(scores, truth):.3f}"
            axes.step(recall[::-1], precision[::-1], where="pre", color=colour, linewidth=1, label=label)
        axes.set(xlim=(0, 1), ylim=(0, 1.02), aspect="equal", xlabel="recall", ylabel="precision")
    return axes.figure


@contextmanager
def _square(pairs: LabelledPairs, width: float, note: str = "") -> Iterator[tuple[Any, np.ndarray]]:
    """One panel to draw curves into, and the labels of the pairs; adds the legend and the footnote."""
    instance("pairs", pairs, LabelledPairs, "LabelledPairs.build(positives, negatives)")
    truth = np.asarray(pairs.labels)
    edges, others = int(truth.sum()), int((~truth).sum())
    if not edges or not others:
        raise ValueError(f"pairs has {edges} positive and {others} negative pairs; it needs one of each")
    with styled():
        figure, grid = panels(1, 1, width=width, height=0.95 * width)
        yield grid[0, 0], truth
        grid[0, 0].legend(loc="best", handlelength=1, **LEGEND)
        write_notes(figure, [f"{edges:,} edges, {others:,} non-edges ({others / edges:.3g} per edge){note}"])


def _scores(
    embeddings: Embedding | Mapping[str, Embedding], pairs: LabelledPairs
) -> Iterator[tuple[str, np.ndarray, str]]:
    """Of each embedding: the start of its legend entry, the log-probability of every pair, and a colour."""
    named = {"": embeddings} if isinstance(embeddings, Embedding) else embeddings
    if len(named) > len(LINES):
        raise ValueError(f"embeddings has {len(named)} entries; at most {len(LINES)} have distinct colours")
    for (name, embedding), colour in zip(named.items(), LINES, strict=False):
        instance("embeddings", embedding, Embedding, EMBEDDING)
        for ends in (pairs.sources, pairs.targets):
            checked_nodes(np.asarray(ends), len(embedding.points), "pairs")
        yield name and f"{name}, ", score_pairs(embedding, pairs.sources, pairs.targets), colour


def reliability(
    scores: np.ndarray, truth: np.ndarray, bins: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of each non-empty bin: mean probability, fraction of edges f, and the ends of its Wilson interval.

    (f + z²/2n ± z√(f(1 − f)/n + z²/4n²)) / (1 + z²/n) for n pairs, z = 1.96.
    """
    x, f, n = metrics.calibration_curve(scores, truth, bins)
    z = 1.96
    middle, spread = f + z**2 / (2 * n), z * np.sqrt(f * (1 - f) / n + (z / (2 * n)) ** 2)
    return x, f, (middle - spread) / (1 + z**2 / n), (middle + spread) / (1 + z**2 / n)
