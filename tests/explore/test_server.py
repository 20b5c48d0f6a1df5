"""The server answers its own page only, within fixed limits."""

import json
import socket

import numpy as np
import pytest
from asking import LOCAL, Client

from timelike.explore.guard import COOKIE, host_names, is_loopback
from timelike.explore.page import assets
from timelike.explore.server import application, listen

NODE = "/api/0/node?node=3"


def test_the_page_and_its_files(client):
    page = client.get("/")
    assert page.status_code == 200
    assert 'type="importmap"' in page.text
    for name in assets():
        answer = client.get(f"/static/{name}")
        assert answer.status_code == (404 if name == "index.html" else 200)
    assert "http://" not in page.text.replace("http://www.w3.org/2000/svg", "")  # no other servers
    assert "https://" not in page.text


@pytest.mark.parametrize(
    "path", ["../page.py", "%2e%2e%2fpage.py", "..%5cpage.py", "/etc/passwd", "a/../../x", "%00"]
)
def test_no_path_leads_outside(client, path):
    assert client.get(f"/static/{path}").status_code == 404


def test_arrays_are_float32(client, shown):
    positions = np.frombuffer(client.get("/api/0/positions").content, np.float32)
    assert positions.shape == (4 * 60,)
    edges = np.frombuffer(client.get("/api/0/edges").content, np.int32).reshape(-1, 2)
    assert edges.tolist() == shown[0].known.pairs.tolist()
    about = client.get("/api/about").json()["models"]
    assert [m["title"] for m in about] == ["A", "B"]
    for i in range(len(about[0]["colours"])):
        assert len(client.get(f"/api/0/colour?colour={i}").content) == 4 * 60
    assert len(client.get("/api/0/frames").content) == 3 * positions.nbytes


def test_answers_are_those_of_the_library(client, shown):
    found = client.get("/api/0/node?node-name=gene3&most=7").json()
    best = shown[0].embedding.top_targets("gene3", 7)
    assert [(r["name"], r["p"]) for r in found["targets"]["all"]] == [(p.target, p.probability) for p in best]
    pair = client.get("/api/1/pair?source-name=gene3&target=4").json()
    assert pair["forward"]["p"] == pytest.approx(shown[1].embedding.prob("gene3", "gene4"), rel=1e-6)
    assert client.get("/api/0/names?ids=3,5").json() == ["gene3", "gene5"]
    table = client.get("/api/0/predictions.tsv?node=3&most=4")
    lines = [line.split("\t") for line in table.text.splitlines()]
    assert lines[0] == ["source", "target", "probability"]
    expected = shown[0].embedding.top_targets("gene3", 4, exclude=shown[0].known)
    assert [(line[0], line[1]) for line in lines[1:5]] == [(p.source, p.target) for p in expected]
    np.testing.assert_allclose(
        [float(x[2]) for x in lines[1:5]], [p.probability for p in expected], rtol=1e-6
    )
    assert "attachment" in table.headers["content-disposition"]


def test_an_unknown_node_is_said_with_near_names(client):
    answer = client.get("/api/0/node?node-name=gene3x")
    assert answer.status_code == 404
    assert len(answer.json()["near"]) == 3


@pytest.mark.parametrize(
    "path",
    [
        "node",
        "node?node=60",
        "node?node=-1",
        "node?node=1e3",
        "node?node=٣",
        "node?node=1&most=101",
        "node?node=" + "1" * 40,
        "colour?colour=99",
        "names?ids=60",
        "names?ids=1,x",
        "names?ids=" + "1," * 501,
        "search?text=a&most=1000",
    ],
)
def test_questions_out_of_bounds_are_refused(client, path):
    answer = client.get(f"/api/0/{path}")
    assert answer.status_code == 400
    assert "must be" in answer.json()["error"]


def test_what_does_not_exist(client):
    for path in ("/api/2/node?node=1", "/api/9/likeliest", "/api/0/secrets", "/nothing"):
        assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example:8000"}, 421),
        ({"host": ""}, 421),
        ({"host": "localhost:8000"}, 200),
        ({"host": "[::1]:8000"}, 200),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:9999"}, 403),
        ({"origin": LOCAL}, 200),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"content-length": "3"}, 413),
        ({"transfer-encoding": "chunked"}, 413),
    ],
)
def test_hosts_origins_and_bodies_are_checked(client, headers, code):
    assert client.get(NODE, headers=headers).status_code == code


def test_only_short_gets_are_answered(client):
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        assert client.request(method, NODE).status_code == 405
    assert client.get("/api/0/search?text=" + "a" * 5000).status_code == 414
    assert client.get("/" + "a" * 5000).status_code == 414


def test_every_answer_says_what_the_page_may_do(client):
    for path in ("/", NODE, "/nothing", "/static/main.js"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_other_machines_need_the_token(shown):
    app = application(shown[:1], "0.0.0.0", "secret")
    client = Client(app, "http://192.0.2.7:8000")
    assert client.get(NODE).status_code == client.get("/").status_code == 401
    assert client.get("/?token=wrong").status_code == 401
    assert client.get(NODE, headers={"host": "evil.example:8000"}).status_code == 421
    answer = client.get("/?token=secret")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    assert "httponly" in answer.headers["set-cookie"].lower()
    assert client.cookies[COOKIE] == "secret"
    assert client.get(NODE).status_code == 200  # with the cookie


def test_addresses():
    assert all(map(is_loopback, ("127.0.0.1", "localhost", "::1", "127.9.9.9")))
    assert not any(map(is_loopback, ("0.0.0.0", "192.0.2.1", "example.org", "::")))
    assert "127.9.9.9" in host_names("127.9.9.9")  # the printed address
    assert "evil.example" not in host_names("127.0.0.1") | host_names("0.0.0.0")


def test_a_port_in_use_is_one_line():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(OSError, match=r"--port \d+: .*in use.*--port 0") as caught:
            listen("127.0.0.1", taken.getsockname()[1])
    assert "\n" not in str(caught.value)


def test_a_page_of_its_own_holds_everything(client, shown):
    page = client.get("/api/page.html")
    assert page.status_code == 200
    assert "/static/" not in page.text.split('id="data"')[0]
    start = page.text.index(">", page.text.index('id="data"')) + 1
    data = json.loads(page.text[start : page.text.index("</script>", start)])
    assert [one["about"]["title"] for one in data] == ["A", "B"]
    assert data[0]["names"] == list(shown[0].embedding.names)
