"""Who may ask, for how long, and how much: the outer layer of the service, which also counts requests."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from timelike.explore.guard import host_names, is_loopback
from timelike.serve.telemetry import Telemetry

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]

#: Longest path and query, and largest body.
MOST_PATH, MOST_BODY = 4096, 2**20
#: Most bytes of a refused body that are read and forgotten.
MOST_DRAINED = 2**24
#: Path that needs no token, for probes.
OPEN = "/health"
FIXED = [(b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store")]


class TooLarge(Exception):
    """The body of a request is too large."""


class Limits:
    """Refuses requests from other hosts, without the token, too long or too slow; counts all."""

    def __init__(self, app: App, telemetry: Telemetry, host: str, token: str | None, seconds: float):
        self.app, self.telemetry, self.token, self.seconds = app, telemetry, token, seconds
        self._hosts = None if token is not None or not is_loopback(host) else host_names(host)

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Refuse the request or pass it on."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send) if scope["type"] == "lifespan" else None
        began, status = time.perf_counter(), 500
        started = False

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal status, started
            if message["type"] == "http.response.start":
                status, started = message["status"], True
                message["headers"] = [*message.get("headers", []), *FIXED]
            await send(message)

        scope["kind"] = "none"
        self.telemetry.in_flight += 1
        try:
            refusal = self._refusal(scope)
            async with asyncio.timeout(self.seconds):
                if refusal is not None:
                    await _drained(receive)
                    return await _reply(sending, *refusal)
                await self.app(scope, _counted(receive), sending)
        except TimeoutError:
            if not started:
                await _reply(sending, 504, f"no reply within {self.seconds:g} seconds")
        except TooLarge:
            await _drained(receive)
            await _reply(sending, 413, f"the body is larger than {MOST_BODY:,} bytes")
        finally:
            self.telemetry.in_flight -= 1
            self.telemetry.saw(scope["kind"], status, time.perf_counter() - began)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """The status and reason to refuse a request with, if any."""
        headers = dict(scope["headers"])
        if len(scope["path"]) > MOST_PATH or len(scope["query_string"]) > MOST_PATH:
            return 400, f"the path or the query is longer than {MOST_PATH:,} bytes"
        if sum(name == b"host" for name, _ in scope["headers"]) > 1:
            return 400, "a request must have one Host header"
        if self._hosts is not None:
            host = headers.get(b"host", b"").decode("latin-1")
            name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
            if name.lower() not in self._hosts:
                return 421, "this server does not serve this host"
        if self.token is not None and scope["path"] != OPEN:
            kind, _, given = headers.get(b"authorization", b"").partition(b" ")
            if kind.lower() != b"bearer" or not secrets.compare_digest(given, self.token.encode()):
                return 401, "the token is missing or wrong: send the header Authorization: Bearer TOKEN"
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length[:20]) > MOST_BODY:
            return 413, f"the body is larger than {MOST_BODY:,} bytes"
        return None


def _counted(receive: Any) -> Any:
    """`receive`, up to `MOST_BODY` bytes."""
    left = MOST_BODY

    async def receiving() -> Any:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise TooLarge
        return message

    return receiving


async def _drained(receive: Any) -> None:
    """Read what a client still sends, up to a limit: it may look for the reply only then."""
    left = MOST_DRAINED
    while left > 0:
        message = await receive()
        left -= len(message.get("body", b""))
        if not message.get("more_body"):
            return


async def _reply(send: Any, status: int, error: str) -> None:
    body = json.dumps({"error": error}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
