"""The shared look of all pictures: fonts, colours, sizes and footnotes."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from timelike.embedding.embedding import Embedding

#: Widths in inches: one column of a two-column paper, and the full page.
COLUMN, PAGE = 3.35, 6.9

#: Colour map of probabilities: blue to red for 0 to 1, pale at ½; lightness varies too.
COLOURS = "coolwarm"

#: Colour map of edges: pale to dark for 0 to 1, so unlikely edges stay in the background.
EDGES = "viridis_r"

#: The colour-blind-safe palette of Okabe and Ito, in order of use.
LINES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

#: Colours of the future and the past light cone.
FUTURE, PAST = "#E69F00", "#56B4E9"

#: Maximum number of times `finish` shrinks a figure.
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
    # Keep text as text in vector files, and make files reproducible byte for byte.
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "timelike",
}


@contextmanager
def styled() -> Iterator[None]:
    """Apply `STYLE` within this block only."""
    with load("matplotlib").rc_context(STYLE):
        yield


def load(module: str) -> Any:
    """Import a module of matplotlib or plotly; the error names the extra to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f'plotting needs {module}: pip install "timelike[plot]"') from error


def panels(rows: int, columns: int, *, width: float, height: float) -> tuple[Figure, np.ndarray]:
    """A figure of `width` × `height` inches, outside pyplot's global state, and its axes as a 2-D array."""
    from matplotlib.figure import Figure

    figure = Figure((width, height), layout="compressed")
    return figure, figure.subplots(rows, columns, squeeze=False)


def which_probability(embedding: Embedding) -> str:
    """The colour bar label: states whether the probabilities are calibrated, and for which ratio."""
    if embedding.calibration is None:
        return "probability, not calibrated"
    return f"probability, calibrated for\n{embedding.calibration.ratio:.3g} non-edges per edge"


def write_notes(figure: Figure, notes: Sequence[str]) -> None:
    """Write footnotes in small type below a picture."""
    if notes:
        figure.supxlabel("\n".join(notes), fontsize=6.5, color="0.35")


def finish(figure: Figure, embedding: Embedding, image: Any, axes: Any, notes: Sequence[str]) -> None:
    """Add the 0-to-1 scale of `image` (None: omit it) and the footnotes, then cut off empty space.

    An equal aspect ratio leaves space above and below the axes. They sit in the middle of the figure and the
    notes at the bottom, so each cut halves the rest.
    """
    if image is not None:
        bar = figure.colorbar(image, ax=axes, shrink=0.6, aspect=22, pad=0.02, ticks=[0, 0.5, 1])
        bar.set_label(which_probability(embedding), fontsize=8)
        bar.outline.set_linewidth(0.6)
    write_notes(figure, notes)
    for _ in range(CUTS):
        figure.draw_without_rendering()
        high = figure.get_tightbbox().height + 0.06
        if high > 0.99 * figure.get_figheight():
            break
        figure.set_figheight(high)


def short(name: Any, length: int = 24) -> str:
    """A node's name on one line, truncated to `length` characters."""
    text = " ".join(str(name).split())
    return text if len(text) <= length else f"{text[: length - 1]}…"
