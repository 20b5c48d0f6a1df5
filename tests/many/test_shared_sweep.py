"""Several workers share a sweep: no trial runs twice, except those of a dead worker."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("optuna", reason="the extra `scale` is not installed")

from timelike.training.shared_sweep import SharedSweep

HERE = Path(__file__).parent
ALL = str([float(i) for i in range(8)])


@pytest.fixture(params=["journal", "postgresql"])
def storage(request, tmp_path):
    if request.param == "journal":
        yield str(tmp_path / "sweep.journal")
        return
    pytest.importorskip("psycopg", reason="the extra `scale` is not installed")
    yield from postgresql(tmp_path / "base")


def postgresql(folder):
    """A database server for the test, on a socket; as user `nobody`, because root must not run one."""
    if shutil.which("initdb") is None or shutil.which("pg_ctl") is None:
        pytest.skip("PostgreSQL is not installed")
    folder.mkdir()
    as_user = []
    if os.geteuid() == 0:
        for parent in (folder, folder.parent, folder.parent.parent, folder.parent.parent.parent):
            parent.chmod(0o755)
        shutil.chown(folder, "nobody")
        as_user = ["setpriv", "--reuid=nobody", "--clear-groups"]
    call = {"check": True, "capture_output": True, "cwd": folder}
    try:
        subprocess.run([*as_user, "initdb", "-D", folder / "data", "-U", "me", "-A", "trust"], **call)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"initdb does not run here: {error.stderr.decode()[-200:]}")
    options = f"-c listen_addresses= -c unix_socket_directories={folder}"
    started = [*as_user, "pg_ctl", "-D", str(folder / "data"), "-l", str(folder / "log"), "-w", "-o", options]
    subprocess.run([*started, "start"], check=True, cwd=folder, stdout=subprocess.DEVNULL)
    try:
        yield f"postgresql+psycopg://me@/postgres?host={folder}"
    finally:
        stop = [*as_user, "pg_ctl", "-D", folder / "data", "-m", "immediate", "stop"]
        for _ in range(5):  # a busy machine may refuse the first
            if subprocess.run(stop, capture_output=True, cwd=folder).returncode == 0:
                break
            time.sleep(1)


def worker(storage, log, seconds, silence):
    paths = os.pathsep.join(sys.path)
    command = [sys.executable, HERE / "sweeper.py", storage, log, str(seconds), str(silence)]
    environment = {**os.environ, "PYTHONPATH": paths}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def begun(log):
    return Counter(log.read_text().split()) if log.exists() else Counter()


@pytest.mark.long
@pytest.mark.scale
def test_no_trial_is_run_twice(storage, tmp_path):
    log = tmp_path / "log"
    workers = [worker(storage, log, 0.2, 60) for _ in range(3)]
    said = [process.communicate(timeout=120) for process in workers]
    assert [out.strip() for out, _ in said] == [ALL] * 3, said
    assert begun(log) == Counter(dict.fromkeys(map(str, map(float, range(8))), 1))


@pytest.mark.long
def test_the_trial_of_a_killed_worker_is_run_again(storage, tmp_path):
    log = tmp_path / "log"
    dead = worker(storage, log, 1000, 60)
    while not begun(log):
        assert dead.poll() is None, dead.communicate()
        time.sleep(0.05)
    os.kill(dead.pid, signal.SIGKILL)
    dead.communicate()
    alive = [worker(storage, log, 0.1, 3) for _ in range(2)]
    said = [process.communicate(timeout=120) for process in alive]
    assert [out.strip() for out, _ in said] == [ALL] * 2, said
    assert sorted(begun(log).values()) == [1] * 7 + [2]


@pytest.mark.long
def test_the_command_shares_a_sweep_and_prints_what_one_would(tmp_path, capsys):
    import timelike as tl
    from timelike.cli.main import main

    edges = tmp_path / "edges.tsv"
    edges.write_text("\n".join(f"{s}\t{t}" for s, t in tl.datasets.duplication_divergence(17).pairs))
    words = "--grid tau1=0.1,0.4 --epochs 2 --geometry minkowski --dim 3 --seeds 2"
    options = words.split()
    main(["sweep", str(edges), *options])
    alone = capsys.readouterr().out.splitlines()
    shared = ["--storage", str(tmp_path / "sweep.journal"), "--out", str(tmp_path / "best")]
    main(["sweep", str(edges), *options, *shared])
    together = capsys.readouterr().out.splitlines()
    assert together == alone
    assert tl.Embedding.load(tmp_path / "best").points.shape == (100, 3)
    main(["sweep", str(edges), *options, *shared[:2]])  # nothing is left to do
    assert capsys.readouterr().out.splitlines() == together


GRID = [{"tau1": float(i)} for i in range(3)]


def trained(file, log, disturb):
    """Train the grid by one worker, which calls `disturb` in its first trial; every trial is logged."""

    def train(point):
        log.append(point["tau1"])
        if len(log) == 1:
            disturb()
        return [{**point, "valid_ap": point["tau1"]}]

    return [row["tau1"] for row in SharedSweep(file, GRID, {}).work(train)]


def test_a_trial_that_raises_is_queued_again_at_once(tmp_path):
    def disturb():
        raise KeyboardInterrupt

    log = []
    with pytest.raises(KeyboardInterrupt):
        trained(str(tmp_path / "journal"), log, disturb)
    assert trained(str(tmp_path / "journal"), log, disturb) == [0, 1, 2]
    assert Counter(log) == {0: 2, 1: 1, 2: 1}


def test_the_late_result_of_a_silent_worker_is_dropped(tmp_path):
    file, log = str(tmp_path / "journal"), []
    assert trained(file, log, lambda: SharedSweep(file, GRID, {})._requeue(0, 0)) == [0, 1, 2]
    assert Counter(log) == {0: 2, 1: 1, 2: 1}


def test_workers_with_other_settings_share_nothing(tmp_path):
    file, log = str(tmp_path / "journal"), []
    trained(file, log, lambda: None)
    SharedSweep(file, GRID, {"epochs": 2}).work(lambda point: log.append(0) or [{**point, "valid_ap": 0.5}])
    assert len(log) == 6
