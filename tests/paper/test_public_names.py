"""The public face is enough: `paper` uses nothing else of the library."""

import ast
import importlib
from pathlib import Path

import pytest

import timelike

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "paper").rglob("*.py"))


def private(path: str) -> bool:
    """Whether a dotted name such as timelike.evaluation.evaluate is not listed in `__all__`, part by part."""
    package, *parts = path.split(".")
    home = importlib.import_module(package)
    for depth, part in enumerate(parts):
        if part not in getattr(home, "__all__", ()):
            return depth == 0 or hasattr(home, "__all__") or part.startswith("_")
        home = getattr(home, part)
    return False


def used(tree: ast.AST) -> set[str]:
    """The dotted names of `timelike` in a module: imported ones, and attributes of imported modules."""
    found, modules = set(), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "timelike":
                    found.add(alias.name)
                    bound = alias.name if alias.asname else "timelike"
                    modules[alias.asname or "timelike"] = bound
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import hides its module"
            if str(node.module).split(".")[0] == "timelike":
                for alias in node.names:
                    found.add(f"{node.module}.{alias.name}")
                    modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        if parts and isinstance(node, ast.Name) and node.id in modules:
            found.add(".".join([modules[node.id], *parts]))
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_module_uses_public_names_only(file):
    names = used(ast.parse(file.read_text(encoding="utf-8")))
    assert sorted(name for name in names if private(name)) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("from timelike.training.sweeps import sweep", "timelike.training.sweeps.sweep"),
        ("from timelike import training", "timelike.training"),
        ("import timelike._util.hardware", "timelike._util.hardware"),
        ("import timelike as tl\ntl.evaluation.splits", "timelike.evaluation.splits"),
        ("import timelike as tl\ntl.evaluation.pair_evaluation.evaluate", None),
        ("from timelike.evaluation import metrics\nmetrics._hidden", "timelike.evaluation.metrics._hidden"),
        ("from timelike import plot\nplot.views", "timelike.plot.views"),
    ],
)
def test_other_names_are_found(text, name):
    names = {name for name in used(ast.parse(text)) if private(name)}
    assert names if name is None else name in names


@pytest.mark.parametrize(
    "text",
    [
        "import timelike as tl\ntl.evaluation.metrics.average_precision\ntl.Config.from_dict\ntl.__version__",
        "from timelike.evaluation import score_pairs\nfrom timelike import datasets\ndatasets.load",
    ],
)
def test_public_names_are_allowed(text):
    assert [name for name in used(ast.parse(text)) if private(name)] == []


def test_the_library_does_not_import_the_paper():
    for file in Path(timelike.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.split(".")[0] == "paper"], file
