"""The same numbers tomorrow: across runs, threads and versions."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fingerprints import STORED, fingerprint, train

from timelike.manifolds import MANIFOLDS

#: Tolerance for other processors, over a few dozen steps in double precision.
TOLERANCE = 1e-7


#: XLA may compile without end what is written out for every image: one such space is always tried.
SPACES = [pytest.param(x, marks=[pytest.mark.long] * (x != "cylindrical-euclidean")) for x in MANIFOLDS]


@pytest.mark.parametrize("name", SPACES)
def test_training_has_not_changed(name):
    """To change them on purpose: `python tests/reliability/fingerprints.py`, and a line in the changelog."""
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    np.testing.assert_allclose(fingerprint(name), stored[name]["double"], rtol=TOLERANCE)


def test_every_manifold_has_a_fingerprint():
    assert json.loads(STORED.read_text(encoding="utf-8")).keys() == MANIFOLDS.keys()


def digest(embedding) -> str:
    return hashlib.sha256(embedding.points.tobytes()).hexdigest()


def in_a_process(cores: set[int]) -> str:
    """The bits of a single-precision run in a new process on these cores, without a compilation cache."""
    program = f"import os, runpy; os.sched_setaffinity(0, {cores}); "
    program += f"runpy.run_path({__file__!r}, run_name='__main__')"
    paths = os.pathsep.join([*sys.path, str(Path(__file__).parent)])
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": paths, "JAX_ENABLE_COMPILATION_CACHE": "false"},
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.mark.long
def test_one_thread_or_two_and_another_process():
    cores = sorted(os.sched_getaffinity(0))
    here = digest(train("anti-de-sitter"))
    assert in_a_process(set(cores[:1])) == here
    assert in_a_process(set(cores[:2])) == here


if __name__ == "__main__":
    print(digest(train("anti-de-sitter")))
