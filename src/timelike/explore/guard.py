"""Who may ask: the page itself, on this machine, or with a token; nothing but small questions."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from starlette.responses import PlainTextResponse, RedirectResponse, Response
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]

#: The longest question, and the most bytes that are listened to before a question is complete.
MOST_QUERY, MOST_HEAD = 4096, 2**16
COOKIE = "timelike-token"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def host_names(host: str) -> frozenset[str]:
    """What a browser that was sent to `host` may write into the header Host, without the port.

    A page of somebody else's whose name was pointed at this machine writes its own name there.
    """
    if is_loopback(host):
        return frozenset({host, "127.0.0.1", "localhost", "[::1]"})
    own = {socket.gethostname(), socket.getfqdn()}
    return frozenset({host, f"[{host}]", *own} - {"0.0.0.0", "[::]", "::"})


class ShortHeads(HttpToolsProtocol):
    """A connection that is closed when a question does not come to an end."""

    heard = 0

    def data_received(self, data: bytes) -> None:
        """Pass on what was sent, up to a bound."""
        self.heard += len(data)
        if self.heard > MOST_HEAD:
            self.transport.close()
        else:
            super().data_received(data)

    def on_headers_complete(self) -> None:
        """A question is complete."""
        self.heard = 0
        super().on_headers_complete()


class Guard:
    """Refuse what does not come from the page: other hosts and origins, no token, long or other requests."""

    def __init__(self, app: App, host: str, token: str | None, policy: str):
        self.app, self.token, self.policy = app, token, policy
        self.names, self.any_address = host_names(host), not is_loopback(host)

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Answer, or pass on."""
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        await (refusal or self.app)(scope, receive, self._with_headers(send))

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> Response | None:
        if not self._is_host(headers.get("host", "")):
            return PlainTextResponse("this host is not served here", 421)
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{headers['host']}":
            return PlainTextResponse("other pages may not ask here", 403)
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and scope["path"] != "/":
            return PlainTextResponse("other pages may not ask here", 403)
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("only GET is answered", 405)
        if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
            return PlainTextResponse("questions have no body", 413)
        if len(scope["query_string"]) > MOST_QUERY or len(scope["path"]) > MOST_QUERY:
            return PlainTextResponse(f"the question is longer than {MOST_QUERY} bytes", 414)
        return None if self.token is None else self._without_token(scope, headers)

    def _without_token(self, scope: Scope, headers: dict[str, str]) -> Response | None:
        """A token in the address becomes a cookie, so that it does not stay in the address."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if self._is_token(given) and scope["path"] == "/":
            answer = RedirectResponse("/", 303)
            answer.set_cookie(COOKIE, given, httponly=True, samesite="strict")
            return answer
        cookies = SimpleCookie(headers.get("cookie", ""))
        kept = cookies[COOKIE].value if COOKIE in cookies else ""
        if self._is_token(given) or self._is_token(kept):
            return None
        return PlainTextResponse("the token is missing or wrong: use the address that was printed", 401)

    def _is_token(self, given: str) -> bool:
        assert self.token is not None
        return secrets.compare_digest(given.encode(), self.token.encode())

    def _is_host(self, header: str) -> bool:
        name = header.rpartition(":")[0] if header.rpartition(":")[2].isdigit() else header
        if name.lower() in self.names:
            return True
        if not self.any_address:
            return False
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True

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
