"""`--coordinator auto`: processes find their rank in the variables of Slurm or Open MPI."""

import importlib.util
import json
import socket
import subprocess
import sys

import pytest
from small_runs import environment

#: JAX derives a port from the job number, starting here.
FIRST_PORT = 2**16 - 2**12

JOIN = """
from timelike.distributed.processes import Place, join
join(Place("auto"))
import jax
from jax.experimental import multihost_utils
everyone = multihost_utils.process_allgather(jax.process_index())
print(jax.process_index(), jax.process_count(), *everyone.reshape(-1))
"""


def job():
    """The number of a job whose port is free."""
    for number in range(2**12):
        with socket.socket() as here:
            if here.connect_ex(("localhost", FIRST_PORT + number)):
                return number
    raise OSError("no port is free")


def slurm(number, i):
    return {
        "SLURM_JOB_ID": str(2**12 + number),
        "SLURM_STEP_NODELIST": "localhost",
        "SLURM_NTASKS": "2",
        "SLURM_PROCID": str(i),
        "SLURM_LOCALID": str(i),
    }


def open_mpi(number, i):
    return {
        "OMPI_MCA_orte_hnp_uri": f"{2**12 * number}.0;tcp://127.0.0.1,10.0.0.1:34911",
        "OMPI_COMM_WORLD_SIZE": "2",
        "OMPI_COMM_WORLD_RANK": str(i),
        "OMPI_COMM_WORLD_LOCAL_RANK": str(i),
    }


@pytest.mark.long
@pytest.mark.parametrize("variables", [slurm, open_mpi])
def test_two_processes_find_each_other(variables, tmp_path):
    number = job()
    both = [
        subprocess.Popen(
            [sys.executable, "-c", JOIN],
            env={**environment(tmp_path), **variables(number, i)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for i in range(2)
    ]
    said = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert [out.splitlines()[-1] for out, _ in said] == ["0 2 0 1", "1 2 0 1"]


#: Environment variables, and what the error reports as missing.
MISSING = [
    ({}, "the environment is not that of Slurm, Open MPI or Kubernetes; pass --coordinator HOST:PORT"),
    ({"OMPI_COMM_WORLD_RANK": "0"}, "JAX supports Open MPI up to version 4; pass --coordinator HOST:PORT"),
    ({"OMPI_MCA_orte_hnp_uri": "4096.0;tcp://127.0.0.1:1"}, "the environment has no OMPI_COMM_WORLD_SIZE"),
    ({"OMPI_MCA_orte_hnp_uri": "4096.0;smoke"}, "Could not parse coordinator IP address from Open MPI"),
    (
        {"KUBERNETES_SERVICE_HOST": "::1", "KUBERNETES_SERVICE_PORT": "443"},
        "Service token file does not exist; pass --coordinator HOST:PORT"
        if importlib.util.find_spec("kubernetes")
        else 'JAX needs the Kubernetes client: pip install "jax[k8s]"',
    ),
]

TRY = """
import json, os, sys, warnings
from timelike.distributed.processes import Place, join
warnings.simplefilter("ignore")
for variables in json.loads(sys.argv[1]):
    os.environ.update(variables)
    try:
        join(Place("auto"))
    except ValueError as error:
        print(error)
    for name in variables:
        del os.environ[name]
"""


def test_what_is_missing_is_said(tmp_path):
    """In a process that has not used JAX yet."""
    command = [sys.executable, "-c", TRY, json.dumps([variables for variables, _ in MISSING])]
    done = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    for line, (_, said) in zip(done.stdout.splitlines(), MISSING, strict=True):
        assert line.startswith(f"coordinator is auto, but {said}")
