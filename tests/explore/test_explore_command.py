"""`timelike explore` on the command line: one-line errors, and a page with `--out`."""

import re
import signal
import socket
import subprocess
import sys

import httpx
import pytest
from small_models import make

from timelike.baselines import MODELS
from timelike.cli.main import main
from timelike.embedding.embedding import Embedding
from timelike.embedding.trained_on import TrainedOn


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    shown, folder = make(), tmp_path_factory.mktemp("explore") / "model"
    shown.embedding.save(folder, TrainedOn(shown.known))
    return folder


@pytest.fixture
def mistake(capsys):
    def call(*arguments) -> str:
        with pytest.raises(SystemExit) as stop:
            main(["explore", *map(str, arguments)])
        assert stop.value.code == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.count("\n") == 1
        return err.strip()

    return call


def test_a_port_in_use(model, mistake):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        message = mistake(model, "--no-browser", "--port", port)
    assert re.search(rf"--port {port}: .*in use.*--port 0", message)


def test_mistakes(model, mistake, tmp_path):
    assert re.search("--port.* 70000.* 65535", mistake(model, "--port", 70000))
    assert str(tmp_path / "nothing") in mistake(tmp_path / "nothing")
    assert re.search(r"--out.*page\.txt.*\.html", mistake(model, "--out", tmp_path / "page.txt"))
    (file := tmp_path / "nodes.tsv").write_text("a\tb\nnobody\t1\n")
    assert re.search(r"nodes\.tsv.*'a'", mistake(model, "--nodes", file, "--out", tmp_path / "p.html"))
    (edges := tmp_path / "edges.tsv").write_text("gene1\tgeneX\n")
    assert "'geneX'" in mistake(model, "--graph", edges, "--out", tmp_path / "p.html")


def test_the_page_as_a_file(model, tmp_path, capsys):
    (edges := tmp_path / "edges.tsv").write_text("gene1\tgene2\ngene2\tgene3\n")
    (nodes := tmp_path / "nodes.csv").write_text("gene,kind\ngene1,sensor\n")
    main(["explore", *map(str, (model, "--out", tmp_path / "p.html", "--graph", edges, "--nodes", nodes))])
    assert capsys.readouterr().out.strip() == str(tmp_path / "p.html")
    page = (tmp_path / "p.html").read_text()
    assert '"edges": 2' in page
    assert "sensor" in page


def test_baselines_cannot_stand_alone(mistake, tmp_path):
    shown = make(nodes=12, edges=30, manifold="euclidean", likelihood="fermi-dirac")
    other = Embedding(MODELS["order-embedding"](3), shown.embedding.points, shown.embedding.names, {}, {})
    other.save(tmp_path / "order", TrainedOn(shown.known))
    message = mistake(tmp_path / "order", "--out", tmp_path / "p.html")
    assert re.search(r"order has .*likelihood Order\b", message)


@pytest.mark.long
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_the_command_serves_until_interrupted(model, host):
    command = [sys.executable, "-m", "timelike", "explore", str(model), "--no-browser", "--host", host]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        address = process.stdout.readline().strip()
        with httpx.Client(follow_redirects=True, trust_env=False) as client:
            assert ("?token=" in address) == (host == "0.0.0.0")
            assert client.get(address.partition("?")[0]).status_code == (200 if "?" not in address else 401)
            assert "timelike" in client.get(address).text
            found = client.get(f"{address.partition('?')[0]}api/0/node?node-name=gene3").json()
        assert found["name"] == "gene3"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=300) == ("", "")
    assert process.returncode == 0
