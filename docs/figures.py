"""Redraw the pictures in `_static`; run by `make figures`."""

from pathlib import Path

from timelike import plot

FIGURES = {
    "tfd-heatmaps": plot.tfd_heatmaps,
    "wrapped-heatmaps": plot.wrapped_heatmaps,
    "disk-cone": plot.disk_cone,
}

if __name__ == "__main__":
    folder = Path(__file__).parent / "_static"
    for name, draw in FIGURES.items():
        # Without the version of matplotlib in it, an unchanged picture is an unchanged file.
        draw().savefig(folder / f"{name}.png", dpi=150, metadata={"Software": None})
