"""The shared look of all pictures: fonts, colours, sizes and footnotes."""

from __future__ import annotations

import importlib
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from timelike._util.checks import one_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from timelike.embedding.embedding import Embedding

#: Widths in inches: one column of a two-column paper (85 mm), and the full page (170 mm).
COLUMN, PAGE = 85 / 25.4, 170 / 25.4

#: Colour map of probabilities: blue to red for 0 to 1, pale at ½; lightness varies too.
COLOURS = "coolwarm"

#: The colour-blind-safe palette of Okabe and Ito, in order of use.
LINES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

#: Maximum number of times `finish` shrinks a figure.
CUTS = 6

#: The id of footnotes in SVG files.
NOTES = "notes"

#: Sizes of type in points: text, small print and footnotes. Journals ask for 5 to 7 at final size.
TEXT, SMALL, FOOT = 7.0, 6.0, 5.5

STYLE: dict[str, Any] = {
    "font.family": ["sans-serif", "DejaVu Sans"],
    "font.sans-serif": ["Helvetica", "Arial", "Liberation Sans", "Nimbus Sans", "DejaVu Sans"],
    "mathtext.fontset": "stixsans",
    "font.size": TEXT,
    "axes.titlesize": TEXT,
    "axes.labelsize": TEXT,
    "axes.labelpad": 2.5,
    "axes.linewidth": 0.5,
    "axes.titlepad": 4,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.pad": 2,
    "ytick.major.pad": 2,
    "xtick.direction": "out",
    "ytick.direction": "out",
    "legend.frameon": False,
    "legend.fontsize": SMALL,
    "figure.dpi": 200,
    "savefig.dpi": 300,
    # Keep text as text in vector files, and make files reproducible byte for byte.
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "timelike",
}


class Theme(NamedTuple):
    """Colours: of paper and ink, of nodes by role, of a chosen node, of edges from unlikely to likely."""

    paper: str
    ink: str
    faint: str
    roles: tuple[str, str, str]
    chosen: str
    edges: tuple[str, str]
    future: str
    past: str
    numbers: str = "viridis"


#: Themes by name; "grey" is for print without colours.
THEMES = {
    "light": Theme(
        "#FFFFFF", "#1A1A1A", "#808080", ("#D55E00", "#009E73", "#0072B2"), "#B00020",
        ("#C3CAD6", "#2B3A55"), "#E69F00", "#56B4E9",
    ),
    "dark": Theme(
        "#101418", "#E8EAED", "#8A929C", ("#FF9D5C", "#4FD1A5", "#6CB8F0"), "#FF6B81",
        ("#39424E", "#B9C7DB"), "#E69F00", "#56B4E9",
    ),
    "grey": Theme(
        "#FFFFFF", "#000000", "#808080", ("#000000", "#707070", "#B8B8B8"), "#000000",
        ("#D8D8D8", "#404040"), "#A0A0A0", "#D0D0D0", "Greys",
    ),
}  # fmt: skip

#: Colours of the future and the past light cone.
FUTURE, PAST = THEMES["light"].future, THEMES["light"].past


def theme_of(name: str) -> Theme:
    """The theme of this name."""
    one_of("theme", name, THEMES)
    return THEMES[name]


@contextmanager
def styled(theme: str = "light") -> Iterator[None]:
    """Apply `STYLE`, and the colours of a theme, within this block only."""
    colours = theme_of(theme)
    inks = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    papers = ("figure.facecolor", "axes.facecolor")
    themed = {**dict.fromkeys(inks, colours.ink), **dict.fromkeys(papers, colours.paper)}
    with load("matplotlib").rc_context({**STYLE, **(themed if theme != "light" else {})}):
        yield


def load(module: str) -> Any:
    """Import a module of matplotlib or plotly; the error names the extra to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f'plotting needs {module}: pip install "timelike[plot]"') from error


def panels(rows: int, columns: int, *, width: float, height: float) -> tuple[Figure, np.ndarray]:
    """A figure of `width` × `height` inches, outside pyplot's global state, and its axes as a 2-D array."""
    from timelike.plot.pictures import Picture

    figure = Picture((width, height), layout="compressed")
    return figure, figure.subplots(rows, columns, squeeze=False)


def which_probability(embedding: Embedding) -> str:
    """The colour bar label: states whether the probabilities are calibrated, and for which ratio."""
    if embedding.calibration is None:
        return "probability, not calibrated"
    return f"probability, calibrated for\n{embedding.calibration.ratio:.3g} non-edges per edge"


def wrapped(notes: Sequence[str], width: float) -> str:
    """Footnotes in lines of at most `width` inches."""
    letters = max(20, int(width * 72 / (0.56 * FOOT)))
    text = "; ".join(note.replace("\n", " ") for note in notes)
    return "\n".join(textwrap.wrap(text, letters, break_on_hyphens=False))


def write_notes(figure: Figure, notes: Sequence[str], colour: str = "0.35") -> None:
    """Write footnotes in small type below a picture."""
    if notes:
        text = wrapped(notes, figure.get_figwidth())
        figure.supxlabel(text, fontsize=FOOT, color=colour, linespacing=1.3)


def say_below(axes: Any, notes: Sequence[str], colour: str = "0.35") -> None:
    """Write footnotes below axes that belong to a figure of someone else."""
    if notes:
        below = axes.xaxis.label if axes.axison and axes.get_xlabel() else axes
        width = axes.get_position().width * axes.get_figure(root=True).get_figwidth()
        style: dict[str, Any] = {"ha": "center", "va": "top", "fontsize": FOOT, "color": colour}
        place = {"xycoords": below, "textcoords": "offset points", "gid": NOTES}
        axes.annotate(wrapped(notes, width), (0.5, 0), (0, -3), **place, **style)


def probability_bar(figure: Figure, embedding: Embedding, image: Any, axes: Any) -> None:
    """Add the 0-to-1 scale of an image beside its axes."""
    bar = figure.colorbar(image, ax=axes, shrink=0.6, aspect=22, pad=0.02, ticks=[0, 0.5, 1])
    bar.set_label(which_probability(embedding), fontsize=SMALL)
    bar.outline.set_linewidth(0.5)


def finish(figure: Figure, notes: Sequence[str], colour: str = "0.35") -> None:
    """Add the footnotes to a new figure, then cut off empty space.

    An equal aspect ratio leaves space above and below the axes. They sit in the middle of the figure and the
    notes at the bottom, so each cut halves the rest.
    """
    write_notes(figure, notes, colour)
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
