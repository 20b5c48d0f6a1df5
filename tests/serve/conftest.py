"""Two small models, with and without evidence, and running services, all on the loopback address."""

import shutil
from pathlib import Path

import pytest
from services import serving

import timelike as tl
from timelike.cli.main import main

QUICK = ("--geometry", "minkowski", "--dim", "3", "--epochs", "3", "--batch-size", "64", "--refit", "no")


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """`joint` with evidence; `geometry` and, of another seed, `other`, without."""
    folder = tmp_path_factory.mktemp("served")
    graph = tl.datasets.random_dag(40, 240, seed=1)
    edges = folder / "edges.tsv"
    edges.write_text("".join(f"g{s}\tg{t}\n" for s, t in graph.pairs))
    plain = ("--evidence", "none")
    for name, more in {"joint": (), "geometry": plain, "other": (*plain, "--seed", "5")}.items():
        main(["fit", str(edges), "--out", str(folder / name), *QUICK, *more])
    return folder


@pytest.fixture(scope="session")
def client(folder):
    """A service of two models."""
    with serving(folder / "joint", folder / "geometry", "--timeout", 5) as client:
        yield client


@pytest.fixture
def replaceable(folder, tmp_path) -> Path:
    """A copy of `geometry` that a test may replace."""
    shutil.copytree(folder / "geometry", tmp_path / "model")
    return tmp_path / "model"
