"""`--coordinator auto` in the pods of a job: the real client, and a server that answers as Kubernetes does.

Each pod is a process that has files of its own where those of a pod lie, and the names and addresses of
pods, all of this machine.
"""

import json
import shutil
import ssl
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
from small_runs import environment
from test_environments import JOIN

ADDRESSES = ["127.0.0.2", "127.0.0.3"]
TOKEN = "a-service-account"
APART = ["unshare", "--user", "--map-root-user", "--mount", "--uts"]
POD = """
set -e
mount -t tmpfs none /run
mkdir -p /run/secrets/kubernetes.io/serviceaccount
cp "$1/token" "$1/ca.crt" "$1/namespace" /run/secrets/kubernetes.io/serviceaccount
mount --bind "$1/hosts" /etc/hosts
echo "$HOSTNAME" > /proc/sys/kernel/hostname
shift
exec "$@"
"""


def pod(i):
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "fit", "uid": "1", "controller": True}
    about = {"name": f"fit-{i}-abcde", "labels": {"job-name": "fit"}, "ownerReferences": [owner]}
    spec = {"containers": [{"name": "timelike"}], "subdomain": "pods"}
    return {"metadata": about, "spec": spec, "status": {"podIP": ADDRESSES[i]}}


def answer(path, query):
    """The answers of the two endpoints that JAX queries."""
    if path == "/api/v1/namespaces/graphs/pods":
        address = query["fieldSelector"][0].removeprefix("status.podIP=")
        return {"kind": "PodList", "apiVersion": "v1", "items": [pod(ADDRESSES.index(address))]}
    assert path == "/apis/batch/v1/namespaces/graphs/jobs/fit", path
    template = {"spec": {"containers": [{"name": "timelike"}]}}
    spec = {"parallelism": 2, "completions": 2, "completionMode": "Indexed", "template": template}
    return {
        "kind": "Job",
        "apiVersion": "batch/v1",
        "metadata": {"name": "fit", "labels": {"app": "graphs"}},
        "spec": spec,
    }


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        where = urlsplit(self.path)
        allowed = self.headers["Authorization"].split() in (["bearer", TOKEN], ["Bearer", TOKEN])
        body = json.dumps(answer(where.path, parse_qs(where.query)) if allowed else {}).encode()
        self.send_response(200 if allowed else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def cluster(tmp_path):
    """The port of the server; the folder gets the files of a pod."""
    pytest.importorskip("kubernetes", reason='needs the client of Kubernetes: pip install "jax[k8s]"')
    if not (shutil.which("openssl") and can_be_pods()):
        pytest.skip("needs openssl, and namespaces for users")
    key, certificate = tmp_path / "key", tmp_path / "ca.crt"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=kubernetes "
    command += "-addext subjectAltName=IP:127.0.0.1 -addext keyUsage=digitalSignature,keyCertSign"
    subprocess.run([*command.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True)
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "namespace").write_text("graphs\n")
    names = [f"{address} fit-{i} fit-{i}.pods" for i, address in enumerate(ADDRESSES)]
    (tmp_path / "hosts").write_text("\n".join(["127.0.0.1 localhost", *names, ""]))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def can_be_pods():
    command = [*APART, "mount", "-t", "tmpfs", "none", "/run"]
    return shutil.which("unshare") and subprocess.run(command, capture_output=True).returncode == 0


def start(folder, port, i):
    variables = {
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(port),
        "HOSTNAME": f"fit-{i}",
        "JOB_COMPLETION_INDEX": str(i),
    }
    return subprocess.Popen(
        [*APART, "sh", "-c", POD, "pod", folder, sys.executable, "-c", JOIN],
        env={**environment(folder), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.long
def test_two_pods_find_each_other(cluster, tmp_path):
    pods = [start(tmp_path, cluster, i) for i in range(2)]
    said = [one.communicate(timeout=300) for one in pods]
    assert [one.returncode for one in pods] == [0, 0], said
    assert [out.splitlines()[-1] for out, _ in said] == ["0 2 0 1", "1 2 0 1"]


@pytest.mark.long
def test_a_pod_that_may_not_ask_is_told_so(cluster, tmp_path):
    (tmp_path / "token").write_text("another")
    one = start(tmp_path, cluster, 0)
    _, said = one.communicate(timeout=300)
    assert one.returncode == 1
    assert said.splitlines()[-1].startswith(
        "ValueError: coordinator is auto, but Kubernetes API Error: 401 - Unauthorized; pass --coordinator"
    )
