"""The code of the README and of every page runs, quoted errors are real, and all that is public is listed."""

import importlib
import inspect
import json
import os
import re
import time
import traceback
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import chdir
from multiprocessing import get_context
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

import timelike as tl
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import MANIFOLDS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DATA = [os.environ.get("TIMELIKE_DATA"), ROOT.parent / "shared" / "data"]


def program(page: Path) -> str:
    """The blocks of a page as one program, each on its own lines of the page so that errors point there."""
    text = page.read_text(encoding="utf-8")
    lines = [""] * (text.count("\n") + 1)
    for block in BLOCK.finditer(text):
        start = text.count("\n", 0, block.start(1))
        code = block[1].splitlines()
        lines[start : start + len(code)] = code
    return "\n".join(lines)


def run(page: Path, folder: Path, environment: dict[str, str]) -> str | None:
    """Run a page in a folder; what went wrong, if anything. A warning is an error."""
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
    """A process in which XLA optimises nothing: the pages are compiled for longer than they run."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XLA_FLAGS", "--xla_backend_optimization_level=0")
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            pool.submit(int).result()
            yield pool


@pytest.fixture
def alone(tmp_path) -> dict[str, str]:
    """No data, and no network to get them from."""
    refused = "http://127.0.0.1:9"
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), refused)
    return {"XDG_CACHE_HOME": str(tmp_path / "cache"), "TIMELIKE_DATA": "", **proxies}


@pytest.mark.long
@pytest.mark.parametrize("page", [p for p in PAGES if program(p).strip()], ids=lambda page: page.stem)
def test_examples_run(page, tmp_path, elsewhere, alone):
    problem = elsewhere.submit(run, page, tmp_path, alone).result()
    assert problem is None, problem


@pytest.mark.slow
def test_the_tutorial_runs_with_the_published_data(tmp_path, elsewhere, alone):
    found = [x for x in filter(None, DATA) if (Path(x) / "dream5" / "net3_gene_ids.tsv").is_file()]
    if not found:
        pytest.skip("needs dream5/ in the folder TIMELIKE_DATA")
    page, environment = ROOT / "docs" / "tutorial.md", alone | {"TIMELIKE_DATA": str(found[0])}
    problem = elsewhere.submit(run, page, tmp_path, environment).result()
    assert problem is None, problem


def test_pictures_are_small_and_all_used():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for picture in (ROOT / "docs" / "_static").glob("*.png"):
        assert picture.stat().st_size < 200_000
        assert picture.name in text


# Every public name


def public(module) -> set[str]:
    """What a module says is public, else what it defines under a name without an underscore."""
    if hasattr(module, "__all__"):
        return set(module.__all__)
    own = {n for n, x in vars(module).items() if getattr(x, "__module__", None) == module.__name__}
    return {name for name in own if not name.startswith("_")}


def documented() -> dict[str, object]:
    """What the reference documents: full name → object."""
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    names = set(re.findall(r"^\.\. (?:auto\w+|py:data):: (timelike\.[\w.]+)$", text, re.MULTILINE))
    for home, options, inside in re.findall(
        r"^\.\. automodule:: ([\w.]+)\n((?: +:.*\n)*)((?:\n| {3}.*\n)*)", text, re.MULTILINE
    ):
        names.discard(home)
        given = {key: re.findall(r"\w+", value) for key, value in re.findall(r":([\w-]+):(.*)", options)}
        members = (
            public(importlib.import_module(home)) if given.get("members") == [] else given.get("members", ())
        )
        names |= {f"{home}.{name}" for name in {*members} - {*given.get("exclude-members", ())}}
        names |= {f"{home}.{name}" for name in re.findall(r"autodata:: (\w+)", inside)}
    return {name: resolve(name) for name in names}


def resolve(name: str) -> object:
    home, _, last = name.rpartition(".")
    return getattr(importlib.import_module(home), last)


MODULES = [name for name in tl.__all__ if inspect.ismodule(getattr(tl, name))]


@pytest.mark.parametrize("home", ["timelike", "timelike.io", *(f"timelike.{name}" for name in MODULES)])
def test_every_public_name_is_documented(home):
    found = documented()
    objects = {id(x) for x in found.values()}
    names = public(importlib.import_module(home)) - {"__version__", *(MODULES if home == "timelike" else ())}
    missing = {n for n in names if f"{home}.{n}" not in found and id(resolve(f"{home}.{n}")) not in objects}
    assert missing == set()
    made = {n: x for n in names if inspect.isfunction(x := resolve(f"{home}.{n}")) or inspect.isclass(x)}
    assert {n for n, x in made.items() if not inspect.getdoc(x)} == set()


# The errors of the FAQ


def edited(folder: Path, **changes) -> None:
    """Edit the head of a model by hand."""
    head = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    for part, values in changes.items():
        head[part] |= values
    (folder / "model.json").write_text(json.dumps(head), encoding="utf-8")


def mistakes() -> list:
    """What users get wrong, one call per error of the FAQ."""
    Path("net.tsv").write_text("lexA\trecA\nlexA\tumuD\nrecA\n")
    Path("w.csv").write_text("source,target,weight\na,b,high\n")
    Path("u.csv").write_bytes("a,b\nä,c\n".encode("latin-1"))
    graph = tl.DiGraph.from_edges([("lexA", "recA"), ("lexA", "umuD"), ("recA", "lexA")])
    model = tl.Model(tl.manifolds.Minkowski(2), tl.likelihoods.TripleFermiDirac())

    def embed(names, nodes):
        return tl.Embedding(model, np.zeros((nodes, 2), np.float32), names, {}, {})

    named, numbered, odd = embed(graph.names, 3), embed(None, 30), embed((("a", 1), ("b", 2)), 2)
    named.save("model")
    edited(Path("model"), likelihood={"tau1": -1})
    return [
        lambda: tl.read("net.tsv"),
        lambda: tl.read("w.csv"),
        lambda: tl.read("u.csv"),
        lambda: tl.read("nett.tsv"),
        lambda: tl.read([("a", "a")]),
        lambda: tl.read(np.eye(3)),
        lambda: named.top_targets("LexA"),
        lambda: numbered.prob([30], [0]),
        lambda: named.top_edges(3, exclude=tl.datasets.cycle(30)),
        lambda: tl.split_edges(graph, test=15),
        lambda: tl.split_edges(graph, valid=0.5, test=0.5),
        lambda: tl.split_edges(graph, protocol="listed"),
        lambda: tl.train("net.tsv", model),
        lambda: tl.Model("minkowski", tl.likelihoods.TripleFermiDirac()),
        lambda: tl.train(graph, model, tl.Config(patience=5)),
        lambda: tl.evaluate(named, graph),
        lambda: tl.plot.save(named, "map.jpg"),
        lambda: named.add_nodes([("lexA", "umuD")]),
        lambda: odd.save("odd"),
        lambda: tl.Embedding.load("model"),
    ]


def messages(folder: Path) -> list[str]:
    """The errors that the mistakes lead to."""
    found = []
    with chdir(folder):
        for mistake in mistakes():
            try:
                mistake()
            except (ValueError, TypeError, OSError) as error:
                found.append(str(error))
    return found


@pytest.mark.long
def test_the_errors_of_the_faq_are_those_that_users_see(tmp_path, elsewhere):
    page = (ROOT / "docs" / "faq.md").read_text(encoding="utf-8")
    quoted = re.findall(r"^```text\n(.*?)\n```$", page, re.MULTILINE | re.DOTALL)
    assert sorted(elsewhere.submit(messages, tmp_path).result()) == sorted(quoted)
