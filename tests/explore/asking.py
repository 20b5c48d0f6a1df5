"""A client of the server that needs no network."""

import asyncio

import httpx

LOCAL = "http://127.0.0.1:8000"


class Client:
    """Sends requests to an application without a network; keeps cookies."""

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
