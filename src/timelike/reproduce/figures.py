"""The figures that need no training: heat maps of the likelihood, and the cone against disks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from timelike.reproduce.task import Options, Report, Result, Task
from timelike.reproduce.work import write_picture

ABOUT = (
    "heat maps of the triple Fermi–Dirac function (figure 1), its wrapped forms, and the disk cone (appendix)"
)

#: Picture → what it shows; each is a function of `timelike.plot`.
PICTURES = {
    "tfd_heatmaps": "Figure 1: the triple Fermi–Dirac function around an event, and in Euclidean space.",
    "wrapped_heatmaps": "The wrapped function on cylindrical Minkowski and anti-de Sitter spacetime.",
    "disk_cone": "Appendix A: F ≥ ½ with α = 0 against the cone D ≤ T of Euclidean disk embeddings.",
}


def tasks(options: Options) -> Iterator[Task]:
    """One for each picture: what is computed is only that it can be drawn."""
    for name, text in PICTURES.items():
        yield Task(name, {"picture": name, "text": text}, dict)


def report(results: list[Result], folder: Path) -> Report:
    """Draw them."""
    from timelike import plot

    lines, rows = ["# Figures"], []
    for about, _, _ in results:
        name = about["picture"].replace("_", "-")
        figure: Any = getattr(plot, about["picture"])()
        write_picture(folder / f"{name}.png", figure)
        lines.append(f"{about['text']}\n\n![{about['text']}]({name}.png)")
        rows.append({"picture": f"{name}.png", "text": about["text"]})
    return Report("\n\n".join(lines), rows)
