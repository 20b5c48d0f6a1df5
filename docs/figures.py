"""Redraw the pictures in `_static`; `make figures` runs this. The tutorial's picture needs $TIMELIKE_DATA."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import negative_pictures
import numpy as np
import screenshots
from PIL import Image

import timelike as tl
from timelike.plot.drawn_nodes import select
from timelike.plot.scenes import rolled

HERE = Path(__file__).parent
#: Larger pictures, in bytes, are stored with 256 colours.
MOST = 200_000


def run(page: str) -> None:
    """Make the pictures of a page by running its code."""
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


def cycle_closing(file: Path, frames: int = 48, width: float = 4.2, dpi: int = 100) -> None:
    """Animate one training run: five nodes of a cycle spread around a cylinder."""
    from matplotlib import colormaps
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    graph = tl.datasets.cycle(5)
    cylinder = tl.manifolds.CylindricalMinkowski(2, circumference=5)
    model = tl.Model(cylinder, tl.likelihoods.TripleFermiDirac())
    seen = []
    tl.train(
        graph,
        model,
        tl.Config(epochs=150, batch_size=2),
        on_epoch=lambda _, points: seen.append(points.copy()),
    )
    epochs = np.unique(np.linspace(0, 1, frames) ** 1.3 * (len(seen) - 1)).round().astype(int)
    pictures = []
    for epoch in np.unique(epochs):
        embedding = tl.Embedding(model, seen[epoch], None, {}, {})
        chosen = select(embedding, graph)
        scene = rolled(embedding, chosen)
        figure = Figure((width, 0.8 * width), facecolor="white")
        axes = figure.add_axes((-0.12, -0.16, 1.24, 1.3), projection="3d")
        axes.view_init(elev=24, azim=-52)
        axes.set(xlim=scene.limits[0], ylim=scene.limits[1], zlim=(-0.5, 0.5))
        axes.set_box_aspect((1, 1, 0.42))
        axes.set_axis_off()
        for line in rolled(tl.Embedding(model, 0 * seen[0], None, {}, {}), chosen).guides:
            axes.plot(*line.T, color="0.85", linewidth=0.8)
        for path, prob in zip(scene.paths, chosen.prob[scene.edge_of], strict=True):
            axes.plot(*path.T, color=colormaps["viridis_r"](prob), linewidth=2.4, zorder=3)
        axes.scatter(*scene.at.T, s=42, color="black", depthshade=False, zorder=5)
        for node, place in enumerate(1.14 * scene.at):
            axes.text(*place, str(node), ha="center", va="center", fontsize=10, zorder=6)
        figure.text(0.03, 0.05, f"epoch {epoch}", fontsize=10, family="monospace", color="0.25")
        figure.text(0.97, 0.05, "time runs around", fontsize=9, ha="right", color="0.45")
        figure.set_dpi(dpi)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        rgba = np.asarray(canvas.buffer_rgba())
        pictures.append(Image.fromarray(rgba[..., :3].copy()).quantize(48, dither=Image.Dither.NONE))
    shown = [70] * (len(pictures) - 1) + [1800]
    pictures[0].save(file, save_all=True, append_images=pictures[1:], duration=shown, loop=0, optimize=True)


def paper_figures() -> None:
    """The figures of the paper that need no training."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "timelike", "reproduce", "figures", "--out", folder]
        subprocess.run(command, check=True, cwd=HERE.parent)
        for picture in Path(folder).glob("*.png"):
            shutil.copy(picture, HERE / "_static")


if __name__ == "__main__":
    cycle_closing(HERE / "_static" / "cycle-closing.gif")
    paper_figures()
    negative_pictures.main()
    subprocess.run([sys.executable, HERE / "architecture.py"], check=True)  # it needs a fresh process
    run("gallery.md")
    if os.environ.get("TIMELIKE_DATA"):  # the excerpt is too small for a picture
        run("tutorial.md")
        if shutil.which("chromium"):
            screenshots.main()
