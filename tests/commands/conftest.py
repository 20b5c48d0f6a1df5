"""A small graph on disk and a model fitted to it, shared by all tests of commands."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from small_files import QUICK, write_files

import timelike as tl
from timelike.cli.main import main

DATA = os.environ.get("TIMELIKE_DATA")


class Output(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory) -> Iterator[None]:
    """Commands keep compiled programs in a folder of the tests, not in the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path_factory.mktemp("compiled")))
        patch.delenv("TIMELIKE_DATA", raising=False)
        yield


@pytest.fixture(scope="session")
def split() -> tl.Split:
    return tl.split_edges(tl.datasets.random_dag(40, 240, seed=1), valid=0, test=0.15)


@pytest.fixture(scope="session")
def files(tmp_path_factory, split) -> Path:
    """The files of `write_files`, and `model`, fitted to edges.tsv."""
    folder = tmp_path_factory.mktemp("files")
    write_files(folder, split)
    main(["fit", str(folder / "edges.tsv"), "--out", str(folder / "model"), *QUICK])
    return folder


@pytest.fixture
def run(capsys, files, monkeypatch) -> Callable[..., Output]:
    """Run a command in the folder of the files; its exit code, and what it printed."""
    monkeypatch.chdir(files)

    def call(*arguments: object) -> Output:
        capsys.readouterr()
        code = 0
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code or 0
        return Output(code, *capsys.readouterr())

    return call


@pytest.fixture
def mistake(run) -> Callable[..., str]:
    """Run a command that must fail with one line and exit code 2; the line."""

    def call(*arguments: object) -> str:
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        line = [line for line in err.splitlines() if not line.startswith("note: ")]
        assert len(line) == 1
        assert line[0].startswith("timelike: ")
        return line[0]

    return call


@pytest.fixture(scope="session")
def data_dir() -> Path:
    for folder in filter(
        None, [os.environ.get("TIMELIKE_DATA"), Path(__file__).parents[3] / "shared" / "data"]
    ):
        if folder and (Path(folder) / "dream5" / "net3_gene_ids.tsv").is_file():
            return Path(folder)
    pytest.skip("needs dream5/net3_gene_ids.tsv in the folder TIMELIKE_DATA")
