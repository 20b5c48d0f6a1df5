"""Edges, models and checkpoints in an object store: a local server that speaks S3."""

import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import timelike as tl
from timelike._util import remote_files
from timelike._util.checks import output_path
from timelike.cli.main import main

moto_server = pytest.importorskip("moto.server")
s3fs = pytest.importorskip("s3fs")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

QUICK = [
    "--geometry",
    "minkowski",
    "--evidence",
    "none",
    "--epochs",
    "3",
    "--dim",
    "3",
    "--baselines",
    "none",
]


@pytest.fixture(scope="module")
def server():
    found = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    found.start()
    host, port = found.get_host_and_port()
    settings = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        yield settings["AWS_ENDPOINT_URL"]
    found.stop()


@pytest.fixture(scope="module")
def store(server):
    """A bucket with edges in three Parquet files."""
    s3fs.S3FileSystem.clear_instance_cache()
    fs = s3fs.S3FileSystem()
    fs.mkdir("bucket")
    pairs = np.random.default_rng(0).integers(0, 40, (200, 2))
    for i in range(3):
        with fs.open(f"bucket/edges/part-{i}.parquet", "wb") as file:
            pl.DataFrame({"s": pairs[i::3, 0], "t": pairs[i::3, 1]}).write_parquet(file)
    fs.touch("bucket/edges/_SUCCESS")
    return fs, tl.read(pairs)


def ask_for_credentials(server: str, ask: bool) -> None:
    asked = urllib.request.Request(
        f"{server}/moto-api/reset-auth", b"0" if ask else b"1000000", {"Content-Type": "text/plain"}
    )
    urllib.request.urlopen(asked).close()


def test_edges(store):
    for source in ("s3://bucket/edges", "s3://bucket/edges/*.parquet", Path("s3://bucket/edges/")):
        found = tl.read(source)
        assert found.names == store[1].names
        np.testing.assert_array_equal(found.pairs, store[1].pairs)


def test_one_line_for_what_goes_wrong(store, server):
    fs, _ = store
    with pytest.raises(FileNotFoundError, match=r"^s3://nowhere/edges: there is no such file"):
        tl.read("s3://nowhere/edges")
    fs.pipe("bucket/half/a.parquet", fs.cat("bucket/edges/part-0.parquet")[:-9])
    with pytest.raises(ValueError, match=r"^s3://bucket/half/a\.parquet: .*its end is missing"):
        tl.read("s3://bucket/half")
    with pytest.raises(ValueError, match=r"--out is s3://bucket/x\.tsv"):
        output_path("--out", Path("s3://bucket/x.tsv"))
    ask_for_credentials(server, True)
    try:
        with pytest.raises(PermissionError, match=r"^s3://bucket/edges: access denied; check the cred"):
            tl.read("s3://bucket/edges")
    finally:
        ask_for_credentials(server, False)


def test_a_model(store, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    url = "s3://bucket/models/first"
    main(["fit", "s3://bucket/edges", "--out", url, *QUICK])
    assert url in capsys.readouterr().out
    assert not (tmp_path / "s3:").exists()
    assert not store[0].exists(f"{url}.checkpoint")
    model = tl.SpacetimeEmbedding.load(url)
    assert model.known_.num_edges == store[1].num_edges
    points = tl.Embedding.load(url).points
    model.save(tmp_path / "local")
    np.testing.assert_array_equal(tl.Embedding.load(tmp_path / "local").points, points)
    model.update([(900, 1), (2, 900)]).save(url)
    assert len(tl.Embedding.load(url).points) == len(points) + 1
    main(["predict", url, "--all", "--top", "2"])


def test_nothing_half_written_is_a_model(store, monkeypatch):
    graph = tl.datasets.cycle(12)
    model = tl.SpacetimeEmbedding("minkowski", dim=2, epochs=2, evidence="none", progress=False).fit(graph)
    url = "s3://bucket/models/second"
    sent, put = [], store[0].put_file

    def breaks(here, there, **more):
        sent.append(there)
        if len(sent) == 4:
            raise OSError("the connection is lost")
        return put(here, there, **more)

    monkeypatch.setattr(store[0], "put_file", breaks)
    with pytest.raises(OSError, match="the connection is lost"):
        model.save(url)
    with pytest.raises((FileNotFoundError, ValueError)):
        tl.Embedding.load(url)
    model.save(url)
    assert len(tl.Embedding.load(url).points) == 12
    sent.clear()
    with pytest.raises(OSError, match="the connection is lost"):  # while another model is there
        model.save(url)
    with pytest.raises((FileNotFoundError, ValueError)):
        tl.Embedding.load(url)


@pytest.mark.long
def test_an_interrupted_run_continues_elsewhere(store, tmp_path):
    """The checkpoint is in the store: a machine without this one's cache continues the run."""
    url = "s3://bucket/models/third"
    command = [sys.executable, "-m", "timelike", "fit", "s3://bucket/edges", "--out", url, *QUICK]
    command += ["--epochs", "100000", "--valid-fraction", "0"]
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "first"), "JAX_PLATFORMS": "cpu"}
    run = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env)
    with pytest.raises(subprocess.TimeoutExpired):
        run.wait(timeout=25)
    run.send_signal(2)
    _, said = run.communicate(timeout=120)
    assert run.returncode == 130, said
    assert "--resume" in said
    assert store[0].find(f"{url}.checkpoint")
    env["XDG_CACHE_HOME"] = str(tmp_path / "second")
    again = subprocess.Popen([*command, "--resume"], stderr=subprocess.PIPE, text=True, env=env)
    with pytest.raises(subprocess.TimeoutExpired):
        again.wait(timeout=20)
    again.send_signal(2)
    _, more = again.communicate(timeout=120)
    assert "holds no run" not in more
    first, second = (int(text.split("after epoch ")[1].split()[0]) for text in (said, more))
    assert second >= first


def test_urls_are_told_from_paths():
    assert remote_files.url_of(Path("s3://bucket/a/")) == "s3://bucket/a"
    assert remote_files.url_of("gs://b/c") == "gs://b/c"
    for local in ("model", "/a/b", "C:/models", "dream5:ecoli", "a:/b", 3, [("a", "b")]):
        assert remote_files.url_of(local) is None
