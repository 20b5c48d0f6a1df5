"""Run the notebooks and keep what they show: `python docs/run_notebooks.py` (needs the extra `notebooks`)."""

import base64
import io
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from PIL import Image

FOLDER = Path(__file__).parent / "notebooks"


def executed(path: Path, folder: Path) -> nbformat.NotebookNode:
    """A notebook run from the top in a fresh kernel; an error in a cell is raised."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of day
        if "outputs" in cell:  # bars and captions are for people who wait
            cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr"]
            for one in cell.outputs:
                if "image/png" in (data := one.get("data", {})):
                    data["image/png"] = smaller(data["image/png"])
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    return notebook


def smaller(picture: str) -> str:
    """A picture in at most 1,000 pixels and 64 colours."""
    image, out = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB"), io.BytesIO()
    image.thumbnail((1000, 1000))
    image.quantize(64).save(out, "PNG", optimize=True)
    return base64.b64encode(out.getvalue()).decode()


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.ipynb")):
        nbformat.write(executed(path, FOLDER), path)
        print(path)
