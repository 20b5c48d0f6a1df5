"""schemathesis asks what the description allows and what it does not; it is a program of its own."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = shutil.which("schemathesis", path=Path(sys.executable).parent) or shutil.which("schemathesis")


@pytest.mark.long
@pytest.mark.skipif(PROGRAM is None, reason="schemathesis is not installed")
def test_schemathesis_finds_no_failure(client, tmp_path):
    address = str(client.base_url).rstrip("/")
    command = [PROGRAM, "run", f"{address}/openapi.json", "--seed=1", "--max-examples=200", "--checks=all"]
    done = subprocess.run([*command, "--no-color"], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-3000:]
