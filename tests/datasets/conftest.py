"""The folder with the data files, if any; no test reaches the network or the user's cache."""

import os
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from timelike.datasets import load

FOLDERS = [os.environ.get("TIMELIKE_DATA"), Path(__file__).parents[3] / "shared" / "data"]


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch) -> Path:
    """An empty cache, no data folder, and a proxy that refuses everything but this machine."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("TIMELIKE_DATA", raising=False)
    for scheme in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(scheme, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    return tmp_path / "cache" / "timelike"


@pytest.fixture(scope="session")
def data_dir() -> Path:
    return folder_with("dream5/net3_gene_ids.tsv", "wordnet/noun_closure.tsv.vocab")


@pytest.fixture(scope="session")
def wordnet_dir() -> Path:
    installed = Path("/usr/share/wordnet")
    if (installed / "data.noun").is_file() and (installed / "index.noun").is_file():
        return installed
    return folder_with("wordnet/data.noun", "wordnet/index.noun")


def folder_with(*files: str) -> Path:
    for folder in filter(None, FOLDERS):
        if all((Path(folder) / file).is_file() for file in files):
            return Path(folder)
    pytest.skip(f"needs {', '.join(files)} in the folder TIMELIKE_DATA")


@pytest.fixture(scope="session")
def nouns(wordnet_dir):
    return load("wordnet:nouns", wordnet_dir)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_) -> None:
        pass


@pytest.fixture
def server(tmp_path) -> Iterator[tuple[Path, str]]:
    """A folder, and the address that serves it."""
    folder = tmp_path / "served"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as http:
        Thread(target=http.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{http.server_address[1]}"
        http.shutdown()
