"""What cannot work or would take the whole machine is refused before it starts; a signal ends an epoch."""

import dataclasses
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

import timelike as tl
from timelike.embedding import model_folder

#: At most this much memory: the attacks below must not reach it.
LIMIT = 6_000_000
#: Bytes that refusing a line may add to a process that has read a small file before.
REFUSING = 200 * 2**20
MODEL = tl.Model(tl.manifolds.MANIFOLDS["minkowski"](3), tl.likelihoods.FermiDirac())


@pytest.fixture
def edges(tmp_path):
    rng = np.random.default_rng(0)
    pairs = {(int(s), int(t)) for s, t in rng.integers(0, 40, (150, 2)) if s != t}
    file = tmp_path / "edges.tsv"
    file.write_text("".join(f"n{s}\tn{t}\n" for s, t in sorted(pairs)))
    return file


def refused(*arguments) -> str:
    """The line with which the command refuses, in a process with bounded memory and time."""
    command = [sys.executable, "-m", "timelike", *map(str, arguments)]
    bounded = ["bash", "-c", f'ulimit -v {LIMIT}; exec timeout 60 "$@"', "-", *command]
    done = subprocess.run(bounded, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    return done.stderr.strip().splitlines()[-1]


def test_endless_settings(edges, tmp_path):
    line = refused("fit", edges, "--out", tmp_path / "model", "--settings", "/dev/zero")
    assert "/dev/zero" in line


def test_what_needs_more_memory_than_there_is(edges):
    graph = tl.read(edges)
    wanted = {"members": 10**9, "seeds": 10**9, "negatives": 10**8, "dim": 10**9}
    for name, value in wanted.items():
        with pytest.raises(ValueError, match=rf"{name} is {value:,}: .*GiB"):
            tl.SpacetimeEmbedding("minkowski", evidence="none", **{name: value}).fit(graph)


def test_more_dimensions_than_nodes_span(edges):
    with pytest.raises(ValueError, match="dim is 1,000,000; 40 nodes span at most 39"):
        tl.SpacetimeEmbedding("minkowski", evidence="none", dim=10**6).fit(tl.read(edges))


def test_wide_tables(tmp_path):
    file = tmp_path / "wide.parquet"
    pl.DataFrame({f"c{i}": [1, 2] for i in range(10_001)}).write_parquet(file)
    with pytest.raises(ValueError, match=r"wide\.parquet.*over 10,000 columns"):
        tl.read(file)


@pytest.mark.parametrize("rate", [1e30, 1e-300])
def test_learning_rates_that_cannot_work(edges, rate):
    with pytest.raises(ValueError, match=re.escape(f"learning_rate is {rate}")):
        tl.SpacetimeEmbedding("minkowski", learning_rate=rate).fit(tl.read(edges))


@pytest.mark.parametrize("option", ["seed", "dim", "epochs", "members"])
def test_numbers_of_400_digits(edges, option):
    with pytest.raises(ValueError, match=f"^{option} is 9999"):
        tl.SpacetimeEmbedding("minkowski", **{option: int("9" * 400)}).fit(tl.read(edges))


def test_the_option_that_was_typed_is_named(edges, tmp_path, capsys):
    from timelike.cli.main import main

    with pytest.raises(SystemExit):
        main(["fit", str(edges), "--out", str(tmp_path / "model"), "--checkpoint-seconds", "-1"])
    assert "--checkpoint-seconds is -1" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["first line", "25 million fields", "later line"])
def test_wide_lines(tmp_path, name):
    texts = {
        "first line": ("1\t" * 1_000_000 + "\n", "line 1: "),
        "25 million fields": ("1\t" * 25_000_000 + "\n", "line 1: "),
        "later line": ("a\tb\n" * 2_000 + "1\t" * 1_000_000 + "\n" + "c\td\n" * 9, "line 2001: "),
    }
    text, where = texts[name]
    file = tmp_path / "wide.tsv"
    file.write_text(text)
    (tmp_path / "narrow.tsv").write_text("a\tb\n")
    program = (
        "import resource, sys, timelike as tl\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024\n"
        "tl.read(sys.argv[2]); before = peak()\n"
        "try: tl.read(sys.argv[1])\n"
        "except ValueError as error: print(peak() - before, str(error)[:200])"
    )
    command = [sys.executable, "-c", program, str(file), str(tmp_path / "narrow.tsv")]
    grown, _, message = subprocess.run(command, capture_output=True, text=True).stdout.partition(" ")
    assert where in message
    assert int(grown) < REFUSING


def test_points_that_are_finite_but_huge(edges, tmp_path):
    embedding = tl.train(tl.read(edges), MODEL, tl.Config(epochs=1, burn_in=0))
    points = embedding.points.copy()
    points[2] = 1e25
    embedding = dataclasses.replace(embedding, points=points)
    with pytest.raises(ValueError, match=r"points\[2\] .*single precision"):
        embedding.save(tmp_path / "model")


def test_a_score_that_is_no_name(edges, tmp_path):
    embedding = tl.train(tl.read(edges), MODEL, tl.Config(epochs=1, burn_in=0))
    embedding.save(tmp_path / "model")
    head = tmp_path / "model" / model_folder.MODEL
    head.write_text(head.read_text().replace('"score": "likelihood"', '"score": []'))
    (tmp_path / "model" / "SHA256SUMS").unlink()
    with pytest.raises(ValueError, match=r'model\.json: "score" is \[\]'):
        tl.Embedding.load(tmp_path / "model")


def test_names_that_look_alike_are_noted():
    pairs = [("lexA", "recA"), ("lexA\u200b", "umuD"), ("caf\u00e9", "cafe\u0301"), ("a", "b")]
    (line,) = [text for text in tl.read(pairs).notes.lines() if "look like" in text]
    assert line.startswith("4 names")
    assert "\\u0301" in line
    assert not tl.read([("a", "b"), ("a b", "é")]).notes.lines()


LONG = """
import hashlib, sys
from timelike._util.interrupts import note_signals

with note_signals(lambda: "stopped in the middle"):
    print("begun", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)  # compiled code, as an epoch is
"""


def test_a_request_to_end_does_not_wait_for_a_long_epoch():
    program = subprocess.Popen([sys.executable, "-c", LONG], stdout=-1, stderr=-1, text=True)
    assert program.stdout.readline() == "begun\n"
    start = time.monotonic()
    program.send_signal(signal.SIGTERM)
    out, err = program.communicate(timeout=60)
    assert (program.returncode, out, err.strip()) == (143, "", "timelike: SIGTERM: stopped in the middle")
    assert time.monotonic() - start < 30  # 3 seconds on a machine that has nothing else to do


SHORT = """
import os, signal, time
from timelike._util import interrupts

interrupts.PATIENCE = 0.1
saving = [True]
with interrupts.note_signals(lambda: "" if saving[0] else "cut off") as caught:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(0.5)  # a checkpoint is being written
    print(caught)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
"""


def test_a_checkpoint_that_is_being_written_is_not_cut_off():
    done = subprocess.run([sys.executable, "-c", SHORT], capture_output=True, text=True)
    assert done.stdout == "['SIGTERM']\n"
    assert "cut off" not in done.stderr
    assert os.WTERMSIG(-done.returncode if done.returncode < 0 else 0) in (0, signal.SIGTERM)
