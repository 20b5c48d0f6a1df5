"""Heat maps: the probabilities of all pairs ordered by time, and the results of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
import polars as pl

from timelike._util.checks import instance, one_of
from timelike.embedding.embedding import Embedding
from timelike.graphs.digraph import DiGraph
from timelike.plot.drawn_nodes import select
from timelike.plot.style import COLUMN, finish, panels, probability_bar, say_below, short, styled, write_notes
from timelike.plot.views import view_of
from timelike.training.sweeps import Sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Scores that a sweep may record.
SCORES = ("valid_ap", "test_ap", "best_test_ap", "loss")

#: Labels of settings and scores; other names are shown with spaces for underscores.
WORDS = {
    "tau": r"$\tau$", "tau1": r"$\tau_1$", "tau2": r"$\tau_2$", "alpha": r"$\alpha$", "r": "$r$", "k": "$k$",
    "valid_ap": "validation AP", "test_ap": "test AP", "best_test_ap": "best test AP",
}  # fmt: skip

#: Most rows of a matrix, and most rows that are labelled with node names.
ROWS, NAMED = 300, 25


def adjacency(
    embedding: Embedding,
    graph: DiGraph | None = None,
    *,
    width: float = COLUMN,
    theme: str = "light",
    ax: Any = None,
) -> Figure:
    """The probability of every edge i → j (row i, column j), nodes ordered by time; dots: edges of `graph`.

    Edges above the diagonal lead to the future.
    """
    chosen = select(embedding, graph, most_nodes=ROWS, most_edges=ROWS**2)
    points = embedding.points[chosen.nodes]
    order = np.argsort(view_of(embedding.model.manifold, points).time, kind="stable")
    log_prob = _all_pairs(embedding.score_model, jnp.asarray(points[order]))
    prob = np.exp(embedding.calibrate(np.asarray(log_prob)))
    np.fill_diagonal(prob, np.nan)
    place = np.argsort(order)
    with styled(theme):
        from timelike.plot.pictures import axes_for

        figure, axes, new = axes_for(ax, width, width)
        count = len(order)
        image = axes.imshow(prob, cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
        if graph is not None:
            size = float(np.clip((50 * width / count) ** 2, 0.6, 12))
            ends = place[chosen.targets], place[chosen.sources]
            axes.scatter(*ends, s=size, color="#D55E00", linewidths=0, label="edge")
        axes.set(xlabel="target, by time", ylabel="source, by time")
        if count <= NAMED:
            names = [short(embedding.name(i), 10) for i in chosen.nodes[order]]
            axes.set_xticks(range(count), names, rotation=90, fontsize=6, parse_math=False)
            axes.set_yticks(range(count), names, fontsize=6, parse_math=False)
        notes = [note for note in chosen.notes if "nodes shown" in note]
        notes += ["dots: edges of the graph"] if graph is not None else []
        probability_bar(figure, embedding, image, axes)
        finish(figure, notes) if new else say_below(axes, notes)
    return figure


@jax.jit
def _all_pairs(model: Any, points: Any) -> Any:
    """log_prob(p_i, p_j)."""
    return jax.vmap(jax.vmap(model.log_prob, (None, 0)), (0, None))(points, points)


def sweep_table(
    sweep: Sweep,
    rows: str | None = None,
    columns: str | None = None,
    *,
    value: str = "valid_ap",
    width: float = COLUMN,
) -> Figure:
    """A heat map of a sweep: the median of `value` over seeds, by two of the varied settings.

    `rows` and `columns` name settings (default: the first two varied ones). Over the remaining settings
    the best value is shown: the highest, or for `loss` the lowest. A cross marks a cell without a value.
    """
    instance("sweep", sweep, Sweep, "the result of timelike.sweep")
    table = pl.DataFrame(sweep.rows, infer_schema_length=None)
    settings = table.columns[: table.columns.index("status")]
    varied = [name for name in settings if table[name].n_unique() > 1 and name != "seed"] or ["seed"]
    columns = varied[0] if columns is None else columns
    rows = next((name for name in varied if name != columns), None) if rows is None else rows
    one_of("columns", columns, settings)
    if rows is not None:
        one_of("rows", rows, settings)
    one_of("value", value, [name for name in SCORES if name in table.columns])
    axes = [name for name in settings if name in (rows, columns)]
    runs = [name for name in settings if name != "seed" or "seed" in axes]
    medians = table.filter(pl.col(value).is_finite()).group_by(runs).agg(pl.median(value))
    best = medians.group_by(axes).agg(pl.min(value) if value == "loss" else pl.max(value))
    across, down = sorted(set(table[columns])), [None] if rows is None else sorted(set(table[rows]))
    cells = np.full((len(down), len(across)), np.nan)
    for cell in best.iter_rows(named=True):
        cells[down.index(cell.get(rows or "")), across.index(cell[columns])] = cell[value]
    if np.isnan(cells).all():
        raise ValueError(f"value is {value!r}, which no run of this sweep has; pass valid or test to sweep")
    with styled():
        figure, grid = panels(1, 1, width=width, height=max(1.1, width * (0.25 + 0.12 * len(down))))
        figure.set_layout_engine("constrained")
        image = _draw_cells(grid[0, 0], cells, value == "loss")
        _ticks(grid[0, 0], rows, columns, down, across)
        bar = figure.colorbar(image, ax=grid[0, 0], pad=0.02, aspect=16, label=_word(value))
        bar.outline.set_linewidth(0.6)
        seeds = table["seed"].n_unique()
        rest = [name for name in varied if name not in axes]
        notes = [f"median of {seeds} seeds"] if seeds > 1 and "seed" not in axes else []
        write_notes(figure, [*notes, *([f"best over {', '.join(map(_word, rest))}"] if rest else [])])
    return figure


def _draw_cells(axes: Axes, cells: np.ndarray, low_is_good: bool) -> Any:
    """Draw the numbers on colours that are brighter for better values."""
    image = axes.imshow(cells, cmap="cividis_r" if low_is_good else "cividis", aspect="auto")
    middle = (np.nanmin(cells) + np.nanmax(cells)) / 2
    for (i, j), number in np.ndenumerate(cells):
        text = "×" if np.isnan(number) else f"{number:.0f}" if abs(number) >= 100 else f"{number:.3g}"
        colour = "white" if (number > middle if low_is_good else number < middle) else "black"
        axes.text(j, i, text, ha="center", va="center", fontsize=8, color=colour)
    return image


def _ticks(axes: Axes, rows: str | None, columns: str, down: list, across: list) -> None:
    axes.set_xticks(range(len(across)), [f"{x:g}" for x in across])
    labels = [] if rows is None else [f"{x:g}" for x in down]
    axes.set_yticks(range(len(labels)), labels)
    axes.set(xlabel=_word(columns), ylabel=_word(rows) if rows else "")
    axes.tick_params(length=0)


def _word(name: str) -> str:
    return WORDS.get(name, name.replace("_", " "))
