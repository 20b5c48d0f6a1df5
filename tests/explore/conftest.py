"""Two small models, their answers, and a client of the server."""

import pytest
from asking import Client
from browser import browsing
from small_models import make

from timelike.explore.answers import Answers
from timelike.explore.server import application
from timelike.explore.shown_model import Shown


@pytest.fixture(scope="session")
def shown() -> list[Shown]:
    """Two models of the same kind and size, so that they share compiled functions."""
    return [make(frames=3, title="A"), make(title="B", edges=90, seed=1)]


@pytest.fixture(scope="session")
def answers(shown) -> Answers:
    return Answers(shown[0])


@pytest.fixture(scope="session")
def client(shown) -> Client:
    return Client(application(shown))


@pytest.fixture(scope="module")
def context():
    """A browser; its event loop runs meanwhile, so this thread cannot run another."""
    with browsing() as found:
        yield found
