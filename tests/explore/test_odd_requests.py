"""Malformed requests get a prompt answer, and the server bounds how much it reads."""

import asyncio
import contextlib
import dataclasses
import random
import socket
import time
from urllib.parse import quote

import pytest
from browser import serving
from small_models import make

from timelike.explore import guard
from timelike.explore.guard import MOST_HEAD
from timelike.explore.server import application

ANSWERS = {200, 303, 400, 401, 403, 404, 405, 413, 414, 421}
PATHS = ("/", "/api/about", "/api/page.html", "/static/main.js", "/static/", "//", "/api", "")
ASKED = [
    *("search", "names", "node", "pair", "likeliest", "predictions.tsv"),
    *("positions", "edges", "frames", "colour"),
]
NAMES = [
    *("node", "node-name", "source", "source-name", "target", "target-name"),
    *("text", "most", "ids", "colour", "token"),
]
VALUES = [
    *("", "0", "3", "59", "60", "-1", "1e9", "9" * 12, "9" * 5000, "1,2,3", ",", "nan"),
    *("gene3", "GENE", "ü", "\0", "../../etc/passwd", "\u202e", "'" * 600),
]
HEADERS = {
    "host": ("127.0.0.1", "localhost:8000", "[::1]:1", "evil.example", "", ":", "[", "127.0.0.1:x"),
    "origin": ("http://127.0.0.1", "null", "x", ""),
    "cookie": ("timelike-token=secret", "timelike-token", ";;=;", '"', "a=\x01", "timelike-token=ü"),
    "sec-fetch-site": ("same-origin", "cross-site", "?"),
    "content-length": ("0", "1", "-1", "x"),
}


def odd_text(rng):
    if rng.random() < 0.7:
        return quote(rng.choice(VALUES))
    return "".join(map(chr, rng.choices(range(33, 127), k=rng.randint(0, 40))))


def odd_request(rng):
    """A path, a question and headers, mostly well-formed."""
    path = rng.choice(PATHS)
    if rng.random() < 0.8:
        path = f"/api/{rng.choice(('0', '0', '1', '7', '-1', '9' * 4000, 'x'))}/{rng.choice(ASKED)}"
    if rng.random() < 0.1:
        path += odd_text(rng)
    query = "&".join(f"{rng.choice(NAMES)}={odd_text(rng)}" for _ in range(rng.randint(0, 4)))
    headers = {"host": "127.0.0.1"} if rng.random() < 0.9 else {}
    while rng.random() < 0.3:
        name = rng.choice(list(HEADERS))
        headers[name] = rng.choice(HEADERS[name])
    method = "GET" if rng.random() < 0.95 else rng.choice(("HEAD", "POST", "", "\u00e4"))
    return method, path, query, headers


async def ask(app, method, path, query, headers):
    """The status of an answer, and its length."""
    heard = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        heard.append(message)

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "scheme": "http",
        "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
        "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 1),
    }
    await app(scope, receive, send)
    return heard[0]["status"], sum(len(message.get("body", b"")) for message in heard)


def ask_many(app, count, seed):
    """How often there was each answer."""
    rng, found = random.Random(seed), {}

    async def all_of_them():
        for _ in range(count):
            request = odd_request(rng)
            start = time.process_time()
            status, size = await ask(app, *request)
            assert status in ANSWERS, (status, request)
            assert time.process_time() - start < 5, request
            assert size < 10**6, request
            found[status] = found.get(status, 0) + 1

    asyncio.run(all_of_them())
    return found


@pytest.fixture(scope="module", params=[None, "secret"])
def app(request, shown):
    return application(shown[:1], "127.0.0.1" if request.param is None else "0.0.0.0", request.param)


def test_odd_requests(app):
    assert {200, 400, 404} <= set(ask_many(app, 300, 1)) | ({200, 400, 404} if app.token else set())


@pytest.mark.slow
def test_very_many_odd_requests(app):
    print(ask_many(app, 50_000, 2))


def test_numbers_that_overflow_are_an_answer():
    shown = make("minkowski", calibration=None)
    points = shown.embedding.points.copy()
    points[:3] = 1e30
    app = application([shown._replace(embedding=dataclasses.replace(shown.embedding, points=points))])
    for asked in ("pair?source=0&target=5", "node?node=0"):
        path, query = f"/api/0/{asked}".split("?")
        status, _ = asyncio.run(ask(app, "GET", path, query, {"host": "127.0.0.1"}))
        assert status in (200, 400)


@pytest.mark.parametrize("start", [b"GET /", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ", b"\0"])
def test_a_question_without_an_end_is_cut_off(shown, start):
    with serving(shown[:1]) as server, socket.create_connection(server.socket.getsockname()) as connection:
        connection.settimeout(30)
        connection.sendall(start)
        with pytest.raises(ConnectionError):
            connection.sendall(b"x" * 2**10 * MOST_HEAD)


def test_two_hosts_are_refused(shown):
    with serving(shown[:1]) as server, socket.create_connection(server.socket.getsockname()) as asking:
        asking.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n")
        assert asking.recv(15).startswith(b"HTTP/1.1 400")


def test_connections_without_a_question_are_dropped(shown, monkeypatch):
    monkeypatch.setattr(guard, "PATIENCE", 0.5)
    with serving(shown[:1]) as server, contextlib.ExitStack() as stack:
        place = server.socket.getsockname()
        idle = [stack.enter_context(socket.create_connection(place)) for _ in range(40)]
        for connection in idle[::2]:
            connection.sendall(b"GET / HTTP/1.1\r\nHost:")
        for connection in idle:
            connection.settimeout(30)
            assert connection.recv(1) == b""
        for late in (
            b"GET / HTTP/1.1\r\n",
            b"\r\n",
        ):  # two questions on one connection, no second one, or late
            with socket.create_connection(place) as asking:
                asking.sendall(b"GET /api/about HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                assert asking.recv(15).startswith(b"HTTP/1.1 200")
                asking.settimeout(4)  # uvicorn waits five seconds
                asking.sendall(late)
                while asking.recv(2**16):
                    pass
