"""Redraw the pictures in `_static`; run by `make figures`."""

import contextlib
import re
from pathlib import Path

from timelike import plot

HERE = Path(__file__).parent
FIGURES = {
    "tfd-heatmaps": plot.tfd_heatmaps,
    "wrapped-heatmaps": plot.wrapped_heatmaps,
    "disk-cone": plot.disk_cone,
}


def run_gallery() -> None:
    """The gallery's pictures are made by the code that is shown there."""
    text = (HERE / "gallery.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    with contextlib.chdir(HERE / "_static"):
        exec(compile(code, "gallery.md", "exec"), {})
        Path("embedding.html").unlink()  # five megabytes, for readers to make themselves


if __name__ == "__main__":
    for name, draw in FIGURES.items():
        # Without the version of matplotlib in it, an unchanged picture is an unchanged file.
        draw().savefig(HERE / "_static" / f"{name}.png", dpi=150, metadata={"Software": None})
    run_gallery()
