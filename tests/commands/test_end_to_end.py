"""The real command in a process of its own: from a file to a picture, with a signal and a broken pipe."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios

import numpy as np
import pytest
from small_files import QUICK

from timelike import Embedding

COMMAND = [sys.executable, "-m", "timelike"]
EPOCHS = 200
FIT = ["fit", "edges.tsv", *QUICK, "--epochs", str(EPOCHS)]


def process(*command: str) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture(scope="module")
def interrupted(files, tmp_path_factory):
    """A folder with a run that was stopped while its bar was shown, and what it said on the terminal."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "edges.tsv").write_bytes((files / "edges.tsv").read_bytes())
    terminal, side = pty.openpty()
    termios.tcsetwinsize(side, (24, 120))
    with subprocess.Popen([*COMMAND, *FIT, "--out", "model"], cwd=folder, stderr=side) as fit:
        os.close(side)
        said = _until(rb"\| [1-9]\d*/", terminal)
        fit.send_signal(signal.SIGINT)
        said += _until(rb"--resume", terminal)
        assert fit.wait(timeout=60) == 130
    os.close(terminal)
    return folder, said.decode()


def _until(pattern: bytes, terminal: int) -> bytes:
    seen = b""
    while not re.search(pattern, seen):
        seen += os.read(terminal, 4096)  # an error if the process ends before
    return seen


@pytest.mark.long
def test_from_a_file_to_a_picture(interrupted, run, tmp_path, monkeypatch):
    folder, said = interrupted
    monkeypatch.chdir(folder)  # after `run`, which goes elsewhere
    assert "SIGINT: stopped after epoch" in said
    assert [path.name for path in folder.iterdir() if path.is_dir()] == ["model.checkpoint"]
    code, out, err = run(*FIT, "--out", "model", "--resume", "--json")
    assert code == 0
    assert re.fullmatch(rf"note: the run continues in epoch \d+ of {EPOCHS}\n", err)
    assert json.loads(out)["epochs"] == EPOCHS
    assert sorted(path.name for path in folder.iterdir()) == ["edges.tsv", "model"]
    (folder / "pairs.tsv").write_text("lexA\trecA\n" * 20_000)
    shown = process("bash", "-c", f"{' '.join(COMMAND)} predict model --pairs pairs.tsv | head -n 1")
    assert shown.stdout == "source\ttarget\tprobability\n"
    assert shown.stderr.startswith("note: calibrated on")
    assert shown.stderr.count("\n") == 1
    done = process(*COMMAND, "plot", "model", "--out", "picture.png")
    assert (done.returncode, done.stdout, done.stderr) == (0, "picture.png\n", "")
    assert (folder / "picture.png").stat().st_size > 10_000
    assert run(*FIT, "--out", tmp_path / "uninterrupted").code == 0
    found, expected = (Embedding.load(path) for path in (folder / "model", tmp_path / "uninterrupted"))
    np.testing.assert_array_equal(found.points, expected.points)
