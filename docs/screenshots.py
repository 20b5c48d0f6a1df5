"""Take the pictures of the explorer in `_static` with Chromium; `make figures` runs this if it is installed.

They show the regulatory network of E. coli (DREAM5), which must be in the folder $TIMELIKE_DATA.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image

import timelike as tl

STATIC = Path(__file__).parent / "_static"
FLAGS = ["--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
IN_3D = "timelike.setView('space'); timelike.choose('fnr').then(() => timelike.check('fnr', 'narL'))"
MODELS = {"ecoli": 5, "ecoli-2d": 2}
#: File → theme, models, and the script to run before the picture is taken.
PICTURES = {
    "explore-node": ("light", ["ecoli"], "timelike.choose('lexA')"),
    "explore-pair": ("light", ["ecoli"], IN_3D),
    "explore-two": ("dark", ["ecoli", "ecoli-2d"], "timelike.choose('lexA')"),
}


def fit(folder: Path) -> None:
    graph = tl.datasets.load("dream5:ecoli")
    for name, dim in MODELS.items():
        model = tl.SpacetimeEmbedding("cylindrical-minkowski", settings="regulatory", dim=dim, progress=False)
        model.fit(graph).save(folder / name)


@contextmanager
def serving(models: list[Path]) -> Iterator[str]:
    command = [sys.executable, "-m", "timelike", "explore", *map(str, models), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def take(folder: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name, (theme, models, act) in PICTURES.items():
            with serving([folder / model for model in models]) as address:
                page = browser.new_page(viewport={"width": 1280, "height": 720}, color_scheme=theme)
                page.goto(address)
                page.wait_for_selector("html[data-ready=yes]")
                page.evaluate(act)
                page.wait_for_timeout(1500)
                page.screenshot(path=STATIC / f"{name}.png")
                page.close()
            shrink(STATIC / f"{name}.png")
        browser.close()


def shrink(file: Path) -> None:
    """Store the picture with 256 colours, chosen so that small areas keep theirs."""
    with Image.open(file) as picture:
        small = picture.convert("RGB").quantize(
            256, Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE
        )
    small.save(file, optimize=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        fit(Path(folder))
        take(Path(folder))


if __name__ == "__main__":
    main()
