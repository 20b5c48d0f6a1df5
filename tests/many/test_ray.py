"""A run as actors of a Ray cluster on this machine."""

import json
import subprocess
import sys

import pytest
from small_runs import environment

import timelike as tl

pytest.importorskip("ray", reason="the extra `scale` is not installed")
pytest.importorskip("orbax.checkpoint", reason="the extra `scale` is not installed")


@pytest.mark.long
@pytest.mark.scale
def test_actors_fit_a_model(tmp_path):
    rows = [f"a{s}\ta{t}" for s, t in tl.datasets.duplication_divergence(17).pairs]
    (tmp_path / "edges.tsv").write_text("\n".join(rows))
    command = [sys.executable, "-m", "timelike", "fit", "edges.tsv", "--out", "model", "--ray", "2"]
    command += ["--geometry", "minkowski", "--epochs", "3", "--batch-size", "100", "--json"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment(tmp_path / "compiled"),
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["epochs"] == 3
    assert tl.Embedding.load(tmp_path / "model").info["processes"] == 2
