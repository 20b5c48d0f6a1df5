"""The figures without training: heat maps of the likelihood, and the disk cone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paper.runner.task_results import write_picture
from paper.tasks import Options, Report, Result, Task

ABOUT = (
    "heat maps of the triple Fermi–Dirac function (figure 1), its wrapped forms, and the disk cone (appendix)"
)

#: Function of `likelihood_figures` → caption.
PICTURES = {
    "tfd_heatmaps": "Figure 1: the triple Fermi–Dirac function around an event, and in Euclidean space.",
    "wrapped_heatmaps": "The wrapped function on cylindrical Minkowski and anti-de Sitter spacetime.",
    "disk_cone": "Appendix A: F ≥ ½ with α = 0 against the cone D ≤ T of Euclidean disk embeddings.",
}


def tasks(options: Options) -> Iterator[Task]:
    """One task for each picture; `report` draws it."""
    for name, text in PICTURES.items():
        yield Task(name, {"picture": name, "text": text}, dict)


def report(results: list[Result], folder: Path) -> Report:
    """Draw the pictures."""
    from paper.reports import likelihood_figures

    lines, rows = ["# Figures"], []
    for about, _, _ in results:
        name = about["picture"].replace("_", "-")
        figure: Any = getattr(likelihood_figures, about["picture"])()
        write_picture(folder / f"{name}.png", figure)
        lines.append(f"{about['text']}\n\n![{about['text']}]({name}.png)")
        rows.append({"picture": f"{name}.png", "text": about["text"]})
    return Report("\n\n".join(lines), rows)
