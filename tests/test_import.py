"""Importing the package is quick, loads no JAX and leaves JAX's configuration alone."""

import ast
import importlib
import subprocess
import sys
import time
from pathlib import Path

import pytest

import timelike


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_does_not_load_jax():
    loaded = run("import sys, timelike; print(*sys.modules)").split()
    assert {"jax", "numpy", "matplotlib"}.isdisjoint(loaded)


def test_every_public_name_resolves_and_the_configuration_stays():
    run(
        "import jax; before = dict(jax.config.values)\n"
        "import timelike\n"
        "assert dir(timelike) == timelike.__all__\n"
        "for name in timelike.__all__: assert getattr(timelike, name) is not None, name\n"
        "assert dict(jax.config.values) == before\n"
        "assert not jax.config.jax_enable_x64"
    )


def test_the_library_does_not_need_its_commands():
    root = Path(timelike.__file__).parent
    for file in root.rglob("*.py"):
        if file.relative_to(root).parts[0] not in ("cli", "__main__.py"):
            assert "timelike.cli" not in file.read_text(encoding="utf-8"), file


def test_what_scripts_import_is_there():
    root = Path(__file__).parents[1]
    folders = ("benchmarks", "docs", "examples")
    for file in (file for folder in folders for file in (root / folder).glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "timelike":
                home = importlib.import_module(str(node.module))
                for name in (alias.name for alias in node.names):
                    if not hasattr(home, name):
                        importlib.import_module(f"{node.module}.{name}")


def test_unknown_names_are_refused_with_those_that_exist():
    with pytest.raises(AttributeError, match=r"no attribute 'Minkowsky'.*manifolds"):
        timelike.Minkowsky  # noqa: B018


def test_import_is_quick():
    def seconds(code: str) -> float:
        start = time.perf_counter()
        run(code)
        return time.perf_counter() - start

    assert min(seconds("import timelike") for _ in range(5)) - min(seconds("pass") for _ in range(5)) < 0.3
