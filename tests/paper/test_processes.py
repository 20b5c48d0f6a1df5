"""Several processes share work, and whatever is killed, nobody hangs and nothing is left running."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from paper.runner.worker_processes import share

#: Two things that are done at once, two that are never done; what is done is printed.
ENDLESS = """
import signal, sys, time
from paper.runner.worker_processes import share, sigterm_interrupts

signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts with & ignores it
try:
    with sigterm_interrupts():
        for seconds, _ in share([[0.0], [0.1], [600.0], [600.0]], 3, time.sleep):
            print(seconds, flush=True)
except KeyboardInterrupt:
    sys.exit(130)
"""


def begun():
    """The process, in a group of its own, when both short things are done."""
    running = subprocess.Popen(
        [sys.executable, "-c", ENDLESS],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert {running.stdout.readline(), running.stdout.readline()} == {"0.0\n", "0.1\n"}
    return running


def is_left(group: int) -> bool:
    """Whether a process of the group is still there."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["to one", "to all"])
def test_a_signal_stops_all_processes_at_once(send, number):
    with begun() as running:
        send(running.pid, number)
        try:
            assert running.wait(timeout=60) == 130
        finally:
            if running.returncode is None:
                os.killpg(running.pid, signal.SIGKILL)
        assert running.stderr.read() == ""
    deadline = time.monotonic() + 10
    while is_left(running.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_left(running.pid)


def test_a_batch_stays_in_one_process_in_its_order():
    batches = [[None] * 3, [None] * 2, [None]]
    done = [pid for _, pid in share(batches, 2, _pid_of_process)]
    assert len(done) == 6
    assert len(set(done)) == 2


def _pid_of_process(_):
    return os.getpid()


def test_an_error_comes_back_as_it_was():
    with pytest.raises(ValueError, match="invalid literal") as caught:
        list(share([["1"], ["x"]], 2, int))
    assert "Traceback" in caught.value.__notes__[0]


def test_a_dead_process_is_named_not_waited_for():
    with pytest.raises(ChildProcessError, match=r"exit code 3 .*--resume"):
        list(share([[3], [3]], 2, os._exit))
