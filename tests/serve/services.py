"""Start `timelike serve` as a process of its own."""

import subprocess
import sys
from contextlib import contextmanager

import httpx


@contextmanager
def serving(*arguments: object):
    """A client of `timelike serve`, as a process of its own."""
    command = [sys.executable, "-m", "timelike", "serve", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip()
        assert address, process.stderr.read()
        with httpx.Client(base_url=address, timeout=30) as client:
            yield client
    finally:
        process.terminate()
        _, client_errors = process.communicate(timeout=30)
        assert process.returncode in (0, -15), client_errors
