"""Ctrl-C at any moment of a command: one line and exit code 130."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

#: A background process of a shell ignores SIGINT; one in a terminal does not.
PROGRAM = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
COMMAND = f"{PROGRAM}from timelike.__main__ import main; main()"


def start(*arguments: object, program: str = COMMAND) -> subprocess.Popen:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def write_edges(file: Path) -> Path:
    rng = random.Random(0)
    pairs = rng.sample([(i, j) for i in range(60) for j in range(60, 120)], 400)
    file.write_text("".join(f"g{i}\tg{j}\n" for i, j in pairs))
    return file


@pytest.mark.parametrize("module", ["tyro", "numpy", "jaxlib._jax", "numpy.random._generator"])
def test_while_modules_are_imported(module, tmp_path):
    """Some compiled modules crash if their import is interrupted."""
    script = Path(__file__).with_name("interrupted_import.py")
    files = [write_edges(tmp_path / "edges.tsv"), "--out", tmp_path / "best.toml"]
    command = [sys.executable, script, module, "tune", *files, "--trials", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "timelike: interrupted\n")


MISSED = f"""{PROGRAM}
import time
from timelike._util.interrupts import minded_interrupts, note_signals

class Closing:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

with minded_interrupts():
    try:
        Closing()
        time.sleep(60)
    except KeyboardInterrupt:
        print("raised again")
    try:
        with note_signals():
            signal.raise_signal(signal.SIGINT)
        time.sleep(60)
    except KeyboardInterrupt:
        print("handed on")
signal.raise_signal(signal.SIGINT)
print("too late")
"""


def test_where_python_alone_would_miss_it():
    process = start(program=MISSED)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (0, "raised again\nhanded on\ntoo late\n", "")


COMPILED = f"""{PROGRAM}
import os, threading
import jax, jax.numpy as jnp
from timelike._util.interrupts import INTERRUPTED, minded_interrupts

def long(x):
    for i in range(300):
        x = jnp.sin(x @ x) + jnp.sort(x) + i
    return x

with minded_interrupts():
    program = jax.jit(long).lower(jnp.ones((8, 8)))
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        program.compile()
    except KeyboardInterrupt:
        print("interrupted")
        raise SystemExit(INTERRUPTED)
"""


def test_in_a_compilation_which_jax_does_not_survive():
    process = start(program=COMPILED)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out, err) == (130, "interrupted\n", "")


@pytest.mark.long
def test_a_search_says_how_to_go_on(tmp_path):
    edges, out = write_edges(tmp_path / "edges.tsv"), tmp_path / "best.toml"
    process = start("tune", edges, "--out", out, "--budget", 100)
    journal = tmp_path / "best.toml.journal"
    while process.poll() is None and not journal.exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    said = err.splitlines()[-1]  # after lines of progress
    assert said.startswith("timelike: search stopped; ")
    assert said.endswith(f" are in {journal}, run the same again to go on (with --resume)")


@pytest.mark.long
def test_a_fit_that_is_told_to_end_says_so_and_where_it_continues(tmp_path):
    edges, out = write_edges(tmp_path / "edges.tsv"), tmp_path / "model"
    fit = ["fit", edges, "--out", out, "--geometry", "minkowski", "--evidence", "none", "--dim", 3]
    fit += ["--epochs", 10**6, "--checkpoint-seconds", 0.1, "--resume"]
    stored = tmp_path / "model.checkpoint" / "run.safetensors"
    process = start(*fit)
    while process.poll() is None and not stored.exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    said, err = process.communicate(timeout=300)
    assert (process.returncode, said) == (143, ""), err
    assert err.splitlines()[-1].startswith("timelike: SIGTERM: stopped after epoch")
    process = start(*fit)
    assert any("the run continues in epoch" in line for line in process.stderr)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=300)
