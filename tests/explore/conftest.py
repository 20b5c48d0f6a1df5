"""Two small models, their answers, and a client of the server."""

import pytest
from small_models import make
from starlette.testclient import TestClient

from timelike.explore.answers import Answers
from timelike.explore.server import application
from timelike.explore.shown import Shown

LOCAL = "http://127.0.0.1:8000"


@pytest.fixture(scope="session")
def shown() -> list[Shown]:
    return [make(frames=3, title="A"), make("anti-de-sitter", title="B", edges=90)]


@pytest.fixture(scope="session")
def answers(shown) -> Answers:
    return Answers(shown[0])


@pytest.fixture(scope="session")
def client(shown) -> TestClient:
    return TestClient(application(shown), base_url=LOCAL)
