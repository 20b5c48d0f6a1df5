"""The service, asked over HTTP: the answers of `predict`, errors, limits, tokens and replaced models."""

import contextlib
import json
import socket
import threading
import time

import httpx
import pytest
from services import serving

from timelike import Embedding
from timelike.embedding import model_folder
from timelike.evidence import joint_file

MODELS = "/v1/models"


def fitted(path):
    embedding = Embedding.load(path)
    known = model_folder.load_trained_on(path, embedding).known
    file = model_folder.evidence_file(path)
    return known, embedding if file is None else joint_file.load(file, embedding, known)


@pytest.mark.parametrize("name", ["joint", "geometry"])
def test_replies_are_the_predictions(client, folder, name):
    known, answers = fitted(folder / name)
    for side, end, rank in (("targets", 1, answers.top_targets), ("sources", 0, answers.top_sources)):
        for node in ("g5", "g17", "g39"):
            reply = client.get(f"{MODELS}/{name}/{side}", params={"node": node, "k": 7}).json()
            wanted = rank(node, 7, exclude=known)
            assert [row["node"] for row in reply["edges"]] == [row[end] for row in wanted]
            found = [row["probability"] for row in reply["edges"]]
            assert found == pytest.approx([row[2] for row in wanted], rel=1e-5)
            assert not any(row["known"] for row in reply["edges"])
            assert reply["version"] == client.get(f"{MODELS}/{name}").json()["version"]
    pairs = [["g1", "g2"], ["g3", "g2"], ["g3", "nobody"]]
    reply = client.post(f"{MODELS}/{name}/pairs", json={"pairs": pairs, "missing": "skip"}).json()
    assert reply["missing"] == 1
    assert [row["probability"] for row in reply["pairs"]] == pytest.approx(
        [answers.prob("g1", "g2"), answers.prob("g3", "g2")], rel=1e-5
    )
    why = client.get(f"{MODELS}/{name}/why", params={"source": "g1", "target": "g2"}).json()
    assert why["probability"] == reply["pairs"][0]["probability"]
    if name == "joint":
        odds = why["base"] + sum(reason["contribution"] for reason in why["reasons"])
        assert odds == pytest.approx(answers.log_odds("g1", "g2"), abs=1e-3)


@pytest.mark.parametrize("name", ["joint", "geometry"])
def test_known_edges_are_listed_on_request(client, folder, name):
    known, answers = fitted(folder / name)
    node = answers.name(int(known.sources[0]))
    ask = {"node": node, "k": 39, "known": "true"}
    rows = client.get(f"{MODELS}/{name}/targets", params=ask).json()["edges"]
    number = answers.embedding if name == "joint" else answers
    targets = {number.name(t) for s, t in known.pairs if number.name(s) == node}
    assert {row["node"] for row in rows if row["known"]} == targets
    found = [row["probability"] for row in rows]
    assert found == sorted(found, reverse=True)


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/v1/models/joint/targets?node=g999", 404, "g9"),
        ("/v1/models/nobody", 404, "no model 'nobody'"),
        ("/v1/models/joint/targets", 400, "node must be"),
        ("/v1/models/joint/targets?node=g1&k=101", 400, "k is '101'"),
        ("/v1/models/joint/targets?node=g1&k=0", 400, "k is '0'"),
        ("/v1/models/joint/targets?node=g1&known=1", 400, "known is '1'"),
        ("/v1/models/joint/targets?node=g1&node=g2", 400, "twice"),
        ("/v1/models/joint/targets?node=g1&top=2", 400, "top"),
        ("/v1/models/joint/targets?node=" + "x" * 5000, 400, "longer"),
        ("/v1/models/joint/nothing", 404, "Not Found"),
        ("/../../etc/passwd", 404, "Not Found"),
    ],
)
def test_errors_say_what_is_wrong(client, path, status, words):
    reply = client.get(path)
    assert reply.status_code == status
    assert words in reply.text
    assert "error" in reply.json()


def test_bodies_are_checked(client):
    path = f"{MODELS}/geometry/pairs"
    bad = [[], {"pairs": []}, {"pairs": [["g1"]]}, {"pairs": [["g1", 2]]}, {"pairs": [["g1", "g2"]], "x": 1}]
    bad += [{"pairs": [["g1", "g2"]] * 10_001}, {"pairs": [["g1", "g2"]], "missing": "no"}]
    for body in bad:
        assert client.post(path, json=body).status_code == 400
    text = {"content-type": "application/json"}
    for broken in ("{", "[" * 100_000, '{"pairs": NaN}', "\ud800".encode("utf-8", "surrogatepass")):
        assert client.post(path, content=broken, headers=text).status_code == 400
    assert client.post(path, content="{}", headers={"content-type": "text/plain"}).status_code == 415
    assert client.post(path, json={"pairs": [["g1", "g2"]], "missing": "x" * 2**20}).status_code == 413
    assert client.post(path, json={"pairs": [["nobody", "g2"]]}).status_code == 404
    for method in ("PUT", "DELETE", "PATCH", "POST"):
        reply = client.request(method, f"{MODELS}/geometry")
        assert reply.status_code == 405
        assert {*reply.headers["allow"].split(", ")} == {"GET", "HEAD"}
    assert client.get("/health", headers={"host": "evil.example"}).status_code == 421


def raw(client, data: bytes, seconds: float) -> bytes:
    """What the server says before it closes a connection."""
    with socket.create_connection((client.base_url.host, client.base_url.port), timeout=seconds) as sock:
        found = b""
        with contextlib.suppress(ConnectionError):  # a reset is an end too
            sock.sendall(data)
            while part := sock.recv(65536):
                found += part
        return found


def test_odd_connections_are_closed(client):
    assert raw(client, b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n" + b"x: y\r\n" * 30_000, 5) == b""
    twice = b"GET /health HTTP/1.1\r\nhost: evil.example\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"
    assert raw(client, twice, 5).startswith(b"HTTP/1.1 400")
    began = time.monotonic()
    assert raw(client, b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\nGET /", 30).startswith(
        b"HTTP/1.1 200"
    )
    assert raw(client, b"GET /health HTTP/1.1\r\nhost:", 30) == b""
    assert time.monotonic() - began < 28
    head = b"POST /v1/models/geometry/pairs HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    assert raw(client, head + b"content-length: 99\r\nconnection: close\r\n\r\n{", 30)[:12] in (
        b"HTTP/1.1 504",
        b"",
    )
    assert client.get("/health").json()["status"] == "ok"


def test_metrics_count_requests(client):
    client.get(f"{MODELS}/geometry/targets", params={"node": "g1"})
    text = client.get("/metrics").text
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    values = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}
    counted = values['timelike_requests_total{route="targets",status="200"}']
    assert counted >= 1
    whole = sum(v for k, v in values.items() if k.startswith("timelike_request_seconds_count"))
    assert values['timelike_request_seconds_bucket{route="targets",le="+Inf"}'] >= counted
    assert whole >= counted
    assert {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")} >= {
        "timelike_requests_total",
        "timelike_request_seconds",
        "timelike_reloads_total",
    }


def test_a_token_guards_everything_but_health(folder, tmp_path):
    file = tmp_path / "token"
    file.write_text("secret-1\n")
    with serving(folder / "geometry", "--token-file", file) as client:
        assert client.get("/health").status_code == 200
        for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "secret-1"}):
            reply = client.get(MODELS, headers=headers)
            assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
        right = {"authorization": "Bearer secret-1"}
        assert client.get(MODELS, headers=right).status_code == 200
        assert client.get("/openapi.json", headers=right).json()["security"] == [{"bearer": []}]


def test_a_replaced_model_is_loaded_without_a_lost_request(folder, replaceable):
    with serving(replaceable, "--reload", 0.1, "--cache", 0) as client:
        first = client.get(f"{MODELS}/model").json()["version"]
        stop, failures, seen = threading.Event(), [], set()

        def ask() -> None:
            with httpx.Client(base_url=client.base_url, timeout=30) as mine:
                while not stop.is_set():
                    try:
                        reply = mine.get(f"{MODELS}/model/targets", params={"node": "g3"})
                    except httpx.HTTPError as error:
                        failures.append(error)
                        continue
                    failures.extend([] if reply.status_code == 200 else [reply.text])
                    seen.add(reply.json()["version"])

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        other = Embedding.load(folder / "other")
        other.save(replaceable, model_folder.load_trained_on(folder / "other", other))
        deadline = time.monotonic() + 30
        while len(seen) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        (replaceable / "points.safetensors").write_bytes(b"broken")
        (replaceable / "SHA256SUMS").write_text("broken")
        while 'outcome="failed"} 1' not in client.get("/metrics").text and time.monotonic() < deadline:
            time.sleep(0.1)
        stop.set()
        for thread in threads:
            thread.join()
        assert not failures
        assert len(seen) == 2
        assert first in seen
        now = client.get(f"{MODELS}/model").json()["version"]
        assert now in seen - {first}
        assert client.get(f"{MODELS}/model/targets", params={"node": "g3"}).status_code == 200


def test_the_description_matches_the_routes(client):
    document = client.get("/openapi.json").json()
    assert set(document["paths"]) == {
        "/v1/models",
        "/v1/models/{model}",
        *(f"/v1/models/{{model}}/{x}" for x in ("targets", "sources", "pairs", "why")),
        "/health",
        "/metrics",
        "/openapi.json",
    }
    assert json.dumps(document).count("#/components/schemas/Error") > 20


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("geometry", "geometry"), "two model folders are called 'geometry'"),
        (("geometry", "--port", 99_999), "--port is 99999"),
        (("geometry", "--timeout", 0), "--timeout is 0"),
        (("nowhere",), "nowhere"),
        (("geometry", "--token-file", "missing"), "missing"),
    ],
)
def test_mistakes_are_one_line(folder, monkeypatch, capsys, arguments, words):
    from timelike.cli.main import main

    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as stop:
        main(["serve", *map(str, arguments)])
    assert stop.value.code == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("note: ")]
    assert len(lines) == 1
    assert words in lines[0]
