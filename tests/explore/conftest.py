"""Two small models, their answers, and a client of the server."""

import asyncio

import httpx
import pytest
from browser import browsing
from small_models import make

from timelike.explore.answers import Answers
from timelike.explore.server import application
from timelike.explore.shown import Shown

LOCAL = "http://127.0.0.1:8000"


class Client:
    """Questions to an application, without a network; keeps cookies."""

    def __init__(self, app, base_url: str = LOCAL):
        self.app, self.base_url, self.cookies = app, base_url, httpx.Cookies()

    def request(self, method: str, path: str, **more) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(
                transport=transport, base_url=self.base_url, cookies=self.cookies
            ) as client:
                answer = await client.request(method, path, **more)
                self.cookies.update(client.cookies)
                return answer

        return asyncio.run(ask())

    def get(self, path: str, **more) -> httpx.Response:
        return self.request("GET", path, **more)


@pytest.fixture(scope="session")
def shown() -> list[Shown]:
    return [make(frames=3, title="A"), make("anti-de-sitter", title="B", edges=90)]


@pytest.fixture(scope="session")
def answers(shown) -> Answers:
    return Answers(shown[0])


@pytest.fixture(scope="session")
def client(shown) -> Client:
    return Client(application(shown))


@pytest.fixture(scope="session")
def context():
    with browsing() as found:
        yield found
