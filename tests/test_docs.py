"""Pages run, quoted errors are real, pictures match the code, and the reference lists what is public."""

import ast
import dataclasses
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import time
import traceback
import typing
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import chdir
from multiprocessing import get_context
from pathlib import Path
from unittest.mock import patch

import pytest

import timelike as tl
from timelike.engine.negatives import Negatives
from timelike.evaluation.negative_kinds import KIND_ENDS, NEGATIVE_KINDS
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import MANIFOLDS

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))

import api_table  # noqa: E402
import architecture  # noqa: E402
import faq_errors  # noqa: E402

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DATA = [os.environ.get("TIMELIKE_DATA"), ROOT.parent / "shared" / "data"]


def program(page: Path) -> str:
    """The code blocks of a page as one program, on the line numbers of the page."""
    text = page.read_text(encoding="utf-8")
    lines = [""] * (text.count("\n") + 1)
    for block in BLOCK.finditer(text):
        start = text.count("\n", 0, block.start(1))
        code = block[1].splitlines()
        lines[start : start + len(code)] = code
    return "\n".join(lines)


def run(page: Path, folder: Path, environment: dict[str, str]) -> str | None:
    """Run a page in a folder and return the traceback, if any. Warnings are errors."""
    code = compile(program(page), str(page), "exec")
    with chdir(folder), patch.dict(os.environ, environment), patch.dict(MANIFOLDS), patch.dict(LIKELIHOODS):
        start = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                exec(code, {"__name__": f"docs_{page.stem}"})
        except Exception:
            return traceback.format_exc()
    print(f"{page.stem}: {time.process_time() - start:.1f} s of CPU time")
    return None


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[ProcessPoolExecutor]:
    """Another process: pages change what is registered."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        pool.submit(int).result()
        yield pool


@pytest.fixture
def alone(tmp_path) -> dict[str, str]:
    """An environment without data files and without a network."""
    refused = "http://127.0.0.1:9"
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), refused)
    return {"XDG_CACHE_HOME": str(tmp_path / "cache"), "TIMELIKE_DATA": "", **proxies}


@pytest.mark.long
@pytest.mark.parametrize("page", [p for p in PAGES if program(p).strip()], ids=lambda page: page.stem)
def test_examples_run(page, tmp_path, elsewhere, alone):
    problem = elsewhere.submit(run, page, tmp_path, alone).result()
    assert problem is None, problem


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "file"),
    [("tutorial", "dream5/net3_gene_ids.tsv"), ("evidence", "expression/precise-ecoli.tsv.gz")],
)
def test_tutorials_run_with_the_published_data(page, file, tmp_path, elsewhere, alone):
    folders = [x for x in filter(None, DATA) if (Path(x) / file).is_file()]
    if not folders:
        pytest.skip(f"needs {file} in the folder TIMELIKE_DATA")
    environment = alone | {"TIMELIKE_DATA": str(folders[0])}
    problem = elsewhere.submit(run, ROOT / "docs" / f"{page}.md", tmp_path, environment).result()
    assert problem is None, problem


def test_pictures_are_small_and_all_used():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for picture in (ROOT / "docs" / "_static").glob("*.png"):
        assert picture.stat().st_size < 200_000
        assert picture.name in text


# The reference documents exactly what is public

MODULES = [name for name in tl.__all__ if inspect.ismodule(getattr(tl, name))]
API = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


def options(text: str) -> dict[str, list[str]]:
    return {key: re.findall(r"\w+", value) for key, value in re.findall(r":([\w-]+):(.*)", text)}


def documented() -> dict[str, object]:
    """What the reference documents: full name → object."""
    names = set(re.findall(r"^\.\. (?:auto(?!module)\w+|py:data):: (timelike\.[\w.]+)$", API, re.MULTILINE))
    for home, text in re.findall(r"^\.\. automodule:: ([\w.]+)\n((?: +:.*\n)*)", API, re.MULTILINE):
        members = {*own_names(importlib.import_module(home))} - {*options(text).get("exclude-members", ())}
        names |= {f"{home}.{name}" for name in members}
    return {name: named(name) for name in names}


def hidden(name: str) -> list[str]:
    """The members of a class that the reference leaves out."""
    entry = re.search(rf"^\.\. autoclass:: {re.escape(name)}\n((?: +:.*\n)*)", API, re.MULTILINE)
    return options(entry[1]).get("exclude-members", []) if entry else []


def own_names(module) -> list[str]:
    if hasattr(module, "__all__"):
        return [name for name in module.__all__ if name != "__version__"]
    own = [n for n, x in vars(module).items() if getattr(x, "__module__", None) == module.__name__]
    return [name for name in own if not name.startswith("_")]


def named(name: str) -> object:
    home, _, last = name.rpartition(".")
    return getattr(importlib.import_module(home), last)


def public() -> dict[str, object]:
    """The names of `timelike`, of its public modules, and of modules that these list."""
    found = {}
    for home in ("timelike", *(f"timelike.{name}" for name in MODULES), "timelike.evaluation.metrics"):
        module = importlib.import_module(home)
        found |= {f"{home}.{name}": getattr(module, name) for name in own_names(module)}
    return {name: x for name, x in found.items() if not inspect.ismodule(x)}


def mentioned(annotation: object, module: str) -> Iterator[object]:
    """The classes of this package in an annotation, also of names imported for type checkers only."""
    home = importlib.import_module(module)
    for word in re.findall(r"\w+", str(annotation)):
        x = getattr(home, word, None)
        if x is None:
            for node in ast.walk(ast.parse(inspect.getsource(home))):
                if isinstance(node, ast.ImportFrom) and word in {alias.name for alias in node.names}:
                    x = getattr(importlib.import_module(str(node.module)), word, None)
        if inspect.isclass(x) and x.__module__.startswith("timelike."):
            yield x
        elif typing.get_args(x):  # an alias such as `Predictions`
            parts = [
                y
                for one in typing.get_args(x)
                for y in (typing.get_origin(one) or one, *typing.get_args(one))
            ]
            yield from (y for y in parts if str(getattr(y, "__module__", "")).startswith("timelike."))


def held(x: object) -> Iterator[object]:
    """The classes that the fields of a dataclass hold."""
    for field in dataclasses.fields(x) if dataclasses.is_dataclass(x) else ():
        yield from mentioned(field.type, x.__module__)


def returned(name: str, x: object) -> Iterator[object]:
    """The classes that a documented function, or a method or property of a documented class, returns."""
    if inspect.isclass(x):
        own = [kind for kind in x.__mro__ if kind.__module__.startswith("timelike.")]
        for member, value in ((name, value) for kind in own for name, value in vars(kind).items()):
            function = getattr(value, "fget", None) or getattr(value, "__func__", value)
            function = getattr(function, "func", function)  # a cached property
            if not member.startswith("_") and member not in hidden(name) and inspect.isfunction(function):
                yield from mentioned(function.__annotations__.get("return"), function.__module__)
    elif inspect.isfunction(x):
        yield from mentioned(x.__annotations__.get("return"), x.__module__)


def test_the_table_of_names_is_that_of_the_code():
    assert api_table.with_table(API) == API, "run `python docs/api_table.py`"


def test_everything_public_is_documented():
    objects = {id(x) for x in documented().values()}
    shown = documented()
    missing = {name for name, x in public().items() if name not in shown and id(x) not in objects}
    assert missing == set()


def test_nothing_else_is_documented():
    allowed = [*public().values()]
    allowed += [y for name, x in documented().items() for y in (*returned(name, x), *held(x))]
    objects = {id(x) for x in allowed}
    assert {
        name for name, x in documented().items() if id(x) not in objects and name not in public()
    } == set()


def test_what_public_functions_return_is_documented():
    shown = documented()
    objects = {id(x) for x in shown.values()}
    types = {y for name, x in shown.items() for y in returned(name, x)}
    missing = {y.__qualname__ for y in types if id(y) not in objects and not y.__qualname__.startswith("_")}
    assert missing <= {"NameColumn", "NameTuple"}  # `DiGraph.names`: documented as a sequence of names


def test_members_that_are_left_out_exist():
    for name, x in documented().items():
        assert [member for member in hidden(name) if not hasattr(x, member)] == [], name


def test_everything_documented_has_a_docstring():
    made = {name: x for name, x in documented().items() if inspect.isfunction(x) or inspect.isclass(x)}
    assert {name for name, x in made.items() if not inspect.getdoc(x)} == set()


# Links, architecture, negatives, errors


def test_every_page_is_in_one_part_of_the_contents():
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    parts = re.findall(r":caption: (.*)\n\n((?:[\w-]+\n)+)", text)
    assert [part for part, _ in parts] == [
        "Tutorial",
        "How-to guides",
        "Reference",
        "Explanation",
        "Evidence",
    ]
    listed = [page for _, pages in parts for page in pages.split()]
    assert sorted(["index", *listed]) == [page.stem for page in PAGES[1:]]


def test_the_map_of_rooms_is_that_of_the_code():
    assert architecture.stored()["imports"] == architecture.imports(), "run python docs/architecture.py"
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", text, re.MULTILINE)
    assert dict(rows) == {room: ", ".join(x) or "nothing" for room, x in architecture.imports().items()}


@pytest.mark.parametrize("path", architecture.PATHS)
def test_landmarks_of_a_path_are_functions(path):
    stored = [landmark for landmark, _ in architecture.stored()[path]]
    assert {*stored} == architecture.PATHS[path].keys(), "run python docs/architecture.py"
    for landmark in stored:
        module, _, function = landmark.partition(":")
        x = importlib.import_module(f"timelike.{module}")
        for part in function.split("."):
            x = getattr(x, part)
        assert callable(x) or isinstance(x, property) or hasattr(x, "func")


@pytest.mark.long
def test_a_fit_passes_its_landmarks_in_order():
    code = "import architecture, json; print(json.dumps(architecture.trace()))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT / "docs",
        capture_output=True,
        text=True,
        check=True,
    )
    stored = architecture.stored()
    assert json.loads(done.stdout) == {path: stored[path] for path in architecture.PATHS}


def test_every_kind_of_negatives_is_drawn_and_described():
    text = (ROOT / "docs" / "negatives.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| !\[.+?\]\(_static/negatives-(\w+)\.png\)", text, re.MULTILINE)
    assert sorted(kind for kind, _ in rows) == sorted(KIND_ENDS)
    assert all(kind == picture for kind, picture in rows)
    assert {field.name for field in dataclasses.fields(Negatives)} == {*KIND_ENDS, "weights"}
    training_only = re.findall(r"^\| `(\w+)` \|.*\| training \|$", text, re.MULTILINE)
    assert sorted(training_only) == sorted({*KIND_ENDS} - {*NEGATIVE_KINDS})


@pytest.mark.long
def test_the_errors_of_the_faq_are_those_that_users_see(tmp_path, elsewhere):
    messages = elsewhere.submit(faq_errors.messages, tmp_path).result()
    assert messages == faq_errors.quoted(), "run python docs/faq_errors.py"
