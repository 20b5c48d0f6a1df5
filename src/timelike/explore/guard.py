"""Access control: only the page itself may ask, from this machine or with a token, in short GET requests."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]

#: Longest path or query, and most bytes read before the headers of a request are complete.
MOST_QUERY, MOST_HEAD = 4096, 2**16
COOKIE = "timelike-token"
#: Seconds until a request must be complete.
PATIENCE = 10.0


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def host_names(host: str) -> frozenset[str]:
    """The Host headers, without port, that a browser may send to a server at `host`.

    This stops DNS rebinding: a foreign page whose name resolves to this machine sends its own name.
    """
    if is_loopback(host):
        return frozenset({host, "127.0.0.1", "localhost", "[::1]"})
    own = {socket.gethostname(), socket.getfqdn()}
    return frozenset({host, f"[{host}]", *own} - {"0.0.0.0", "[::]", "::"})


class TimelyRequests(HttpToolsProtocol):
    """A connection that is closed if a request is not complete in time, or if its headers are very long."""

    _head_bytes, _in_head, _clock = 0, True, None

    def connection_made(self, transport: Any) -> None:
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Headers follow, perhaps those of a second request behind a whole one."""
        self._in_head = True
        if self._clock is None:
            self._wait()
        super().on_message_begin()

    def data_received(self, data: bytes) -> None:
        """Pass data on and wait for the rest of the request; count the bytes of unfinished headers."""
        if self._clock is None:
            self._wait()
        self._head_bytes += len(data) if self._in_head else 0
        if self._head_bytes > MOST_HEAD:
            self.transport.close()
        else:
            super().data_received(data)

    def on_headers_complete(self) -> None:
        """A body may follow."""
        self._head_bytes, self._in_head = 0, False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """A whole request has come; from here on, the server's own time-outs apply."""
        self._stop()
        super().on_message_complete()

    def _wait(self) -> None:
        self._clock = self.loop.call_later(PATIENCE, self.transport.close)

    def _stop(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None


class Guard:
    """Refuses requests from other hosts or origins or without the token, and all but short GETs."""

    def __init__(self, app: App, host: str, token: str | None, policy: str):
        self.app, self.token, self.policy = app, token, policy
        self.names, self.any_address = host_names(host), not is_loopback(host)

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Refuse the request or pass it on."""
        if scope["type"] != "http":
            return
        refusal = self._refusal(Request(scope))
        await (refusal or self.app)(scope, receive, self._with_headers(send))

    def _refusal(self, request: Request) -> Response | None:
        headers, path = request.headers, request.scope["path"]
        if len(headers.getlist("host")) > 1:
            return PlainTextResponse("a request must have one Host header", 400)
        if not self._is_host(headers.get("host", "")):
            return PlainTextResponse("this server does not serve this host", 421)
        same_origin = headers.get("origin") in (None, f"http://{headers['host']}")
        site = headers.get("sec-fetch-site", "none")
        if not same_origin or (site not in ("none", "same-origin") and path != "/"):
            return PlainTextResponse("other pages may not send requests", 403)
        if request.method not in ("GET", "HEAD"):
            return PlainTextResponse("only GET is allowed", 405)
        if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
            return PlainTextResponse("requests must not have a body", 413)
        if len(request.scope["query_string"]) > MOST_QUERY or len(path) > MOST_QUERY:
            return PlainTextResponse(f"the request is longer than {MOST_QUERY} bytes", 414)
        return None if self.token is None else self._check_token(request, path)

    def _check_token(self, request: Request, path: str) -> Response | None:
        """Move a token from the address into a cookie, so that the address does not keep it."""
        in_query = request.query_params.get("token", "")
        if self._is_token(in_query) and path == "/":
            response = RedirectResponse("/", 303)
            response.set_cookie(COOKIE, in_query, httponly=True, samesite="strict")
            return response
        if self._is_token(in_query) or self._is_token(request.cookies.get(COOKIE, "")):
            return None
        return PlainTextResponse("the token is missing or wrong: open the printed address", 401)

    def _is_token(self, text: str) -> bool:
        assert self.token is not None
        return secrets.compare_digest(text.encode(), self.token.encode())

    def _is_host(self, header: str) -> bool:
        name = header.rpartition(":")[0] if header.rpartition(":")[2].isdigit() else header
        if name.lower() in self.names or not self.any_address:
            return name.lower() in self.names
        try:
            return bool(ipaddress.ip_address(name.strip("[]")))
        except ValueError:
            return False

    def _with_headers(self, send: Any) -> Any:
        fixed = [
            (b"content-security-policy", self.policy.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"cache-control", b"no-store"),
        ]

        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *fixed]
            await send(message)

        return sending
