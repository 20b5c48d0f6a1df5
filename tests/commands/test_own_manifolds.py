"""`--manifold MODULE:CLASS`: a model with a class of the user's own, which only the user can name."""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from timelike import Embedding
from timelike.cli.main import main
from timelike.manifolds import MANIFOLDS

MODULE = """
from timelike.core.manifold import Manifold
from timelike.core.struct import static, struct
from timelike.manifolds import Minkowski


def of_minkowski(name):
    return lambda self, *arguments: getattr(Minkowski(self.size), name)(*arguments)


@struct
class Plane(Manifold):
    size: int = static(minimum=1)
    dim = ambient_dim = property(lambda self: self.size)
    signature = property(lambda self: (1, self.size - 1))
    origin, inner, separation, gradient = map(of_minkowski, ("origin", "inner", "separation", "gradient"))
    exp, log, project, to_tangent = map(of_minkowski, ("exp", "log", "project", "to_tangent"))
    transport, residual = map(of_minkowski, ("transport", "residual"))
    from_tangent_coordinates = of_minkowski("from_tangent_coordinates")


def plane(dim):
    return Plane(dim)


def number(dim):
    return dim
"""
OWN = ("--manifold", "planes:Plane")
TRAINING = ("--dim", "3", "--epochs", "3", "--batch-size", "64", "--refit", "no")


def forget() -> None:
    """As in a new process: the class is neither imported nor registered."""
    sys.modules.pop("planes", None)
    for name in [name for name in MANIFOLDS if ":" in name]:
        del MANIFOLDS[name]


@pytest.fixture(scope="module")
def folder(files, tmp_path_factory) -> Path:
    """A folder with the module, and a model that was fitted there."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "planes.py").write_text(MODULE)
    for file in ("edges.tsv", "test.tsv"):
        shutil.copy(files / file, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        main(["fit", "edges.tsv", "--out", "own", *OWN, *TRAINING])
    return folder


@pytest.fixture
def own(folder, run, monkeypatch) -> Iterator[Path]:
    """That folder, as the current one, in a process that does not know the class."""
    monkeypatch.chdir(folder)  # after `run`, which goes elsewhere
    forget()
    yield folder
    forget()


COMMANDS = {
    "predict": ("predict", "own", "--all"),
    "evaluate": ("evaluate", "own", "--edges", "test.tsv", "--json"),
    "export": ("export", "own", "--format", "tsv"),
    "plot": ("plot", "own", "--out", "picture.png"),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_model_is_read_with_its_class(own, run, mistake, command):
    """Without the option the folder does not load, and nothing is imported."""
    line = mistake(*command)
    assert "'Plane'" in line
    assert "--manifold MODULE:CLASS" in line
    assert "planes" not in sys.modules
    code, out, err = run(*command, *OWN)
    assert code == 0, err
    assert out


def test_the_explorer_takes_the_class_too(own, run, mistake):
    """It can serve the model; a page of its own has formulas for the library's manifolds only."""
    assert "--manifold MODULE:CLASS" in mistake("explore", "own", "--out", "page.html")
    assert "page" in mistake("explore", "own", "--out", "page.html", *OWN)


def test_the_folder_names_the_class_as_data(own):
    with pytest.raises(ValueError, match="Plane"):
        Embedding.load("own")
    head = json.loads(Path("own", "model.json").read_text())
    assert (head["manifold"], head["info"]["geometry"]) == ({"class": "Plane", "size": 3}, "Plane")
    assert head["info"]["plan"]["candidates"][0]["manifold"] == head["manifold"]


def test_a_function_of_the_dimension_will_do(own, run):
    code, _, err = run("predict", "own", "--all", "--manifold", "planes:plane")
    assert code == 0, err


@pytest.mark.parametrize(
    "name",
    ["planes", ":Plane", "planes:", "nowhere:Plane", "planes:Sphere", "planes:number", "planes:MODULE", "."],
)
def test_names_that_name_no_manifold(own, mistake, name):
    for command in (("fit", "edges.tsv", "--out", "new"), ("predict", "own", "--all")):
        assert f"--manifold is {name!r}" in mistake(*command, "--manifold", name)
    assert not (own / "new").exists()


def test_one_geometry_is_enough(mistake):
    line = mistake("fit", "edges.tsv", "--out", "new", "--geometry", "minkowski", *OWN)
    assert "--manifold cannot be combined with --geometry" in line
