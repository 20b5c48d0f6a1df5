"""Redraw the pictures in `_static`; run by `make figures`. That of the tutorial needs $TIMELIKE_DATA."""

import contextlib
import os
import re
import shutil
import tempfile
from pathlib import Path

from PIL import Image

from timelike import plot

HERE = Path(__file__).parent
#: Pictures of more bytes than this are stored with 256 colours.
MOST = 200_000
FIGURES = {
    "tfd-heatmaps": plot.tfd_heatmaps,
    "wrapped-heatmaps": plot.wrapped_heatmaps,
    "disk-cone": plot.disk_cone,
}


def run(page: str) -> None:
    """Pictures of a page are made by the code that is shown there."""
    text = (HERE / page).read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.chdir(folder):
            exec(compile(code, page, "exec"), {})
        for picture in Path(folder).glob("*.png"):
            if picture.stat().st_size > MOST:
                with Image.open(picture) as image:
                    image.convert("RGB").quantize(256, kmeans=3).save(picture, optimize=True)
            shutil.copy(picture, HERE / "_static")


if __name__ == "__main__":
    for name, draw in FIGURES.items():
        # Without the version of matplotlib in it, an unchanged picture is an unchanged file.
        draw().savefig(HERE / "_static" / f"{name}.png", dpi=150, metadata={"Software": None})
    run("gallery.md")
    if os.environ.get("TIMELIKE_DATA"):  # not of the excerpt
        run("tutorial.md")
