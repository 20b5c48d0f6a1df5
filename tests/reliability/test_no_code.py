"""Data never becomes code, and a model folder never leads outside itself."""

import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import timelike as tl
from timelike._util.checksums import SUMS
from timelike.datasets import downloads
from timelike.datasets.registry import DATASETS
from timelike.embedding import model_folder

SOURCE = Path(tl.__file__).parent
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "yaml", "torch"}
#: TensorBoard's writer only writes numbers.
HARMLESS = {"torch.utils.tensorboard"}
CALLS = {"eval", "exec", "compile", "__import__", "read_pickle", "to_pickle", "unsafe_load"}
SHELLS = {"system", "popen", "spawn", "Popen", "check_output", "getoutput"}


def faults(tree: ast.AST):
    """The calls in a module that could execute what it reads."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {(node.module or "").split(".")[0]} if node.module not in HARMLESS else set()
        else:
            names = set()
        yield from names & MODULES
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            plain = isinstance(node.func, ast.Name)
            if called in CALLS and (plain or called not in ("compile", "eval")):
                yield called
            yield from {called} & SHELLS
            for keyword in node.keywords:
                if keyword.arg in ("allow_pickle", "shell") and not (
                    isinstance(keyword.value, ast.Constant) and keyword.value.value is False
                ):
                    yield keyword.arg


def test_the_scan_sees():
    seen = "import pickle; from yaml import load; eval(x); np.load(f, allow_pickle=True); os.system(x)"
    assert set(faults(ast.parse(seen))) == {"pickle", "yaml", "eval", "allow_pickle", "system"}
    assert not set(faults(ast.parse("re.compile('x'); np.load(f, allow_pickle=False)")))


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE)))
def test_no_data_becomes_code(path):
    assert not list(faults(ast.parse(path.read_text(encoding="utf-8"))))


@pytest.fixture
def model(tmp_path):
    points = np.zeros((3, 3), np.float32)
    parts = tl.Model(tl.manifolds.Minkowski(3), tl.likelihoods.FermiDirac())
    tl.Embedding(parts, points, tuple("abc"), {}, {}).save(tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("name", [*model_folder.FILES, model_folder.EDGES, model_folder.REPLAY])
@pytest.mark.parametrize("target", ["absolute", "relative"])
def test_links_are_refused(model, name, target):
    outside = model.parent / f"secret-{name}"
    if (model / name).exists():
        shutil.move(model / name, outside)
    else:
        outside.write_text("secret")
    (model / name).symlink_to(outside if target == "absolute" else Path("..") / outside.name)
    with pytest.raises(ValueError, match=rf"{name} is a link to elsewhere") as caught:
        tl.Embedding.load(model)
    assert "\n" not in str(caught.value)


def test_a_folder_that_is_itself_named_by_a_link_is_the_users_own(model):
    (model.parent / "latest").symlink_to("model")
    assert len(tl.Embedding.load(model.parent / "latest").points) == 3


PROGRAM = """
import sys
import timelike as tl
from timelike.embedding import model_folder
tl.Embedding.load(sys.argv[2])  # load the lazy imports
opened = []
def see(event, arguments):
    if event == "open" and isinstance(arguments[0], str | bytes):
        opened.append(arguments[0])
sys.addaudithook(see)
embedding = tl.Embedding.load(sys.argv[1])
model_folder.load_trained_on(sys.argv[1], embedding)
print([path for path in opened if "secret" in str(path)])
"""


@pytest.mark.long
def test_paths_within_a_model_are_only_text(model):
    """A model whose every string is a path outside opens nothing there."""
    good = model.parent / "good"
    shutil.copytree(model, good)
    secret = model.parent / "secret"
    secret.write_text("secret")
    head = json.loads((model / "model.json").read_text())
    head["timelike"] = head["info"] = str(secret)
    head["info"] = {"geometry": "../secret", "config": str(secret), "graph": "/../secret"}
    (model / "model.json").write_text(json.dumps(head))
    (model / SUMS).unlink()
    command = [sys.executable, "-c", PROGRAM, str(model), str(good)]
    run = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert run.stdout == "[]\n", run.stderr


def test_downloads_are_known_by_their_checksum():
    """Every published file has a checksum of its own or of the archive that it comes in."""
    published = [file for data in DATASETS.values() for file in getattr(data, "files", ())]
    for file in published:
        assert file.url is None or file.sha256 or file.archive, file


def test_a_file_with_other_bytes_is_refused_before_it_is_used(tmp_path, monkeypatch):
    right = b"a\tb\n"
    file = downloads.Published("net", "edges.tsv", hashlib.sha256(right).hexdigest(), "https://example.org")
    (tmp_path / "edges.tsv").write_bytes(right)
    assert downloads.locate(file, tmp_path) == tmp_path / "edges.tsv"
    (tmp_path / "edges.tsv").write_bytes(b"a\tc\n")
    with pytest.raises(ValueError, match="is not the published file: its sha256 is"):
        downloads.locate(file, tmp_path)


def test_a_download_with_other_bytes_is_refused_and_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "cache", lambda: tmp_path / "cache")
    (tmp_path / "edges.tsv").write_bytes(b"evil")
    url = (tmp_path / "edges.tsv").as_uri()
    file = downloads.Published("net", "edges.tsv", "0" * 64, "https://example.org", url)
    with pytest.raises(FileNotFoundError, match=r"edges\.tsv .*sha256 0"):
        downloads.locate(file)
    assert not [p for p in (tmp_path / "cache").rglob("*") if p.is_file()]
