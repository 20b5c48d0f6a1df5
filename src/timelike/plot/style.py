"""The one look of all pictures: fonts, colours, sizes, and what is written under a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from timelike.embedding.embedding import Embedding

#: Widths in inches: one column of a two-column paper, and both.
COLUMN, PAGE = 3.35, 6.9

#: Blue to red for 0 to 1, pale at ½; told apart by lightness too.
COLOURS = "coolwarm"

#: Colours of edges, pale to dark for 0 to 1: what is unlikely stays in the background.
EDGES = "viridis_r"

#: Okabe and Ito's colours, which also colour-blind readers tell apart, in the order they are used.
LINES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

#: The two halves of a light cone.
FUTURE, PAST = "#E69F00", "#56B4E9"

#: How often the empty space of a picture is cut at most.
CUTS = 6

STYLE: dict[str, Any] = {
    "font.family": ["STIXGeneral", "DejaVu Serif"],
    "mathtext.fontset": "stix",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "axes.linewidth": 0.6,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.direction": "out",
    "ytick.direction": "out",
    "legend.frameon": False,
    "legend.fontsize": 8,
    "figure.dpi": 200,
    # Text stays text in vector files, and the same picture is the same file.
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "timelike",
}


@contextmanager
def styled() -> Iterator[None]:
    """The package's look, for this block alone."""
    matplotlib = load_matplotlib()
    with matplotlib.rc_context(STYLE):
        yield


def load_matplotlib() -> Any:
    """Matplotlib, or an error that names the extra."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError(
            "pictures need matplotlib: pip install matplotlib (it is in the extra timelike[plot])"
        ) from error
    return matplotlib


def panels(rows: int, columns: int, *, width: float, height: float) -> tuple[Figure, np.ndarray]:
    """A figure of inches `width` × `height`, free of pyplot's global state, and its axes as an array."""
    from matplotlib.figure import Figure

    figure = Figure((width, height), layout="compressed")
    return figure, figure.subplots(rows, columns, squeeze=False)


def colour_bar(figure: Figure, image: Any, grid: Any, label: str = "probability") -> None:
    """The scale from 0 to 1 of the probabilities in `image`, beside the axes `grid`."""
    bar = figure.colorbar(image, ax=grid, shrink=0.6, aspect=22, pad=0.02, ticks=[0, 0.5, 1])
    bar.set_label(label, fontsize=8)
    bar.outline.set_linewidth(0.6)


def which_probability(embedding: Embedding) -> str:
    """What the colours of an embedding's picture mean: the same numbers as its predictions."""
    found = embedding.calibration
    if found is None:
        return "probability, not calibrated"
    return f"probability, calibrated for\n{found.ratio:.3g} non-edges to an edge"


def write_notes(figure: Figure, notes: Sequence[str]) -> None:
    """What a reader must know about a picture, small, below it."""
    if notes:
        figure.supxlabel("\n".join(notes), fontsize=6.5, color="0.35")


def trim(figure: Figure) -> None:
    """Cut off the empty space above and below: axes of equal scales seldom fill the height that they may.

    They stand in the middle of it, with the notes at its foot: each cut halves what is left between them.
    """
    for _ in range(CUTS):
        figure.draw_without_rendering()
        high = figure.get_tightbbox().height + 0.06
        if high > 0.99 * figure.get_figheight():
            break
        figure.set_figheight(high)


def short(name: Any, length: int = 24) -> str:
    """A node's name on one line of bounded length."""
    text = " ".join(str(name).split())
    return text if len(text) <= length else f"{text[: length - 1]}…"
