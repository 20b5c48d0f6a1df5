"""The server behind the page: a few routes, each answered by `Answers`."""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
import webbrowser
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from timelike.explore.answers import MOST_FOUND, MOST_NAMES, MOST_ROWS, Answers, UnknownNode
from timelike.explore.guard import Guard, TimelyRequests, is_loopback
from timelike.explore.page import KINDS, assets, cannot_stand_alone, policy, server_page, whole_page
from timelike.explore.shown_model import Shown

#: Larger models reply in a thread, so that others are served meanwhile.
AT_ONCE = 20_000
#: Most simultaneous connections; further ones get status 503.
MOST_CLIENTS = 500

Reply = Callable[[Answers, Request], Response]


class Explorer:
    """The routes of the application."""

    def __init__(self, models: Sequence[Shown]):
        self.shown = list(models)
        self.models = [Answers(model) for model in models]
        self._lock = threading.Lock()

    @cached_property
    def about(self) -> Response:
        """The first reply to the page: a description of the models, which never changes."""
        models = [
            {**model.picture.about(), "alone": cannot_stand_alone(model.shown)} for model in self.models
        ]
        return _json({"models": models})

    @cached_property
    def likeliest(self) -> list[list[dict[str, Any]]]:
        """The likeliest missing edges of every model, computed on the first request."""
        return [model.likeliest() for model in self.models]

    def routes(self) -> list[Route]:
        """All routes, the most frequent first."""
        replies: dict[str, Reply] = {
            "search": lambda model, request: _json(
                model.search(request.query_params.get("text", ""), _whole(request, "most", 12, MOST_FOUND))
            ),
            "names": lambda model, request: _json(
                [model.name(i) for i in _ids(request, model.picture.count)]
            ),
            "node": lambda model, request: _json(model.node(_node(model, request, "node"), _most(request))),
            "pair": lambda model, request: _json(
                model.pair(_node(model, request, "source"), _node(model, request, "target"))
            ),
            "positions": lambda model, _: _array(model.picture.positions),
            "edges": lambda model, _: _array(model.picture.edges),
            "frames": lambda model, _: _array(model.picture.frames),
            "colour": _colour,
            "predictions.tsv": _table,
        }
        return [
            *(
                Route(f"/api/{{model:int}}/{name}", self._about_model(reply))
                for name, reply in replies.items()
            ),
            Route("/api/{model:int}/likeliest", self._about_model(self._likeliest, slow=True)),
            Route("/api/about", self._about),
            Route("/api/page.html", self._whole_page),
            Route("/static/{name}", self.asset),
            Route("/", self.page),
        ]

    async def page(self, request: Request) -> Response:
        """The page itself."""
        return Response(server_page(), media_type="text/html")

    async def asset(self, request: Request) -> Response:
        """One of the files of the page; no others are served."""
        name = request.path_params["name"]
        if name not in assets() or name == "index.html":
            return PlainTextResponse("no such file", 404)
        return Response(assets()[name], media_type=KINDS[name[name.rindex(".") :]])

    def _about(self, request: Request) -> Response:
        return self.about

    def _about_model(self, reply: Reply, slow: bool = False) -> Callable[[Request], Awaitable[Response]]:
        """A route that replies about one model."""

        async def respond(request: Request) -> Response:
            number = request.path_params["model"]
            if number >= len(self.models):
                return _json({"error": "there is no such model"}, 404)
            model = self.models[number]
            if slow or model.picture.count > AT_ONCE:
                return await run_in_threadpool(reply, model, request)
            return reply(model, request)

        return respond

    def _likeliest(self, model: Answers, request: Request) -> Response:
        with self._lock:
            return _json(self.likeliest[request.path_params["model"]])

    def _whole_page(self, request: Request) -> Response:
        with self._lock:
            return _file(whole_page(self.shown), "text/html", "timelike.html")


def application(models: Sequence[Shown], host: str = "127.0.0.1", token: str | None = None) -> Guard:
    """The explorer of these models as an ASGI application for a server at `host`."""
    explorer = Explorer(models)
    for model in explorer.models:
        model.warm_up()
    app = Starlette(routes=explorer.routes(), exception_handlers={ValueError: _bad_request})
    app.router.redirect_slashes = False  # reply 404 instead
    return Guard(app, host, token, policy())


def configuration(app: Guard) -> uvicorn.Config:
    """The uvicorn configuration of the application."""
    return uvicorn.Config(
        app, http=TimelyRequests, ws="none", lifespan="off", log_level="error", access_log=False,
        server_header=False, limit_concurrency=MOST_CLIENTS, timeout_graceful_shutdown=1,
    )  # fmt: skip


def listen(host: str, port: int) -> socket.socket:
    """A listening socket at this address; raises a one-line `OSError` if it is not available."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen(128)  # queues requests until the server runs
    except (OSError, OverflowError) as error:
        sock.close()
        raise OSError(
            f"--host {host} --port {port}: {getattr(error, 'strerror', None) or error}; "
            "choose another address, or --port 0 for a free port"
        ) from None
    return sock


def serve(models: Sequence[Shown], host: str, port: int, say: Callable[[str], None], browser: bool) -> None:
    """Serve until interrupted; calls `say` with the address when the page is ready."""
    sock = listen(host, port)
    token = None if is_loopback(host) else secrets.token_urlsafe(24)
    app = application(models, host, token)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{sock.getsockname()[1]}/" + (f"?token={token}" if token else "")
    server = uvicorn.Server(configuration(app))
    say(address)
    if browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    with sock, contextlib.suppress(KeyboardInterrupt):  # Ctrl-C ends it
        server.run(sockets=[sock])


def _node(model: Answers, request: Request, name: str) -> int:
    """A node given by number (`node=3`) or by name (`node-name=lexA`)."""
    if f"{name}-name" in request.query_params:
        return model.number(request.query_params[f"{name}-name"])
    return _whole(request, name, None, model.picture.count - 1)


def _most(request: Request) -> int:
    return max(1, _whole(request, "most", 20, MOST_ROWS))


def _whole(request: Request, name: str, default: int | None, most: int) -> int:
    text = request.query_params.get(name, "" if default is None else str(default))
    if not (text.isascii() and text.isdigit()) or len(text) > 12 or int(text) > most:
        raise ValueError(f"{name} is {text[:20]!r}; it must be a whole number from 0 to {most}")
    return int(text)


def _ids(request: Request, count: int) -> list[int]:
    parts = [x for x in request.query_params.get("ids", "").split(",") if x]
    if len(parts) > MOST_NAMES or not all(x.isascii() and x.isdigit() and len(x) < 12 for x in parts):
        raise ValueError(f"ids must be at most {MOST_NAMES} whole numbers")
    if any(int(x) >= count for x in parts):
        raise ValueError(f"ids must be below {count}")
    return [int(x) for x in parts]


def _colour(model: Answers, request: Request) -> Response:
    colours = model.picture.colours
    return _array(colours[_whole(request, "colour", None, len(colours) - 1)].values)


def _table(model: Answers, request: Request) -> Response:
    text = model.table(_node(model, request, "node"), _most(request))
    return _file(text, "text/tab-separated-values", "predictions.tsv")


def _json(value: Any, status: int = 200) -> Response:
    try:
        return JSONResponse(value, status)
    except ValueError:
        raise ValueError("the model's coordinates are so large that these numbers overflow") from None


def _array(values: np.ndarray) -> Response:
    return Response(values.tobytes(), media_type="application/octet-stream")


def _bad_request(request: Request, error: Exception) -> Response:
    """An error message as JSON."""
    if isinstance(error, UnknownNode):
        return _json({"error": str(error), "near": error.near}, 404)
    return _json({"error": str(error)}, 400)


def _file(text: str, kind: str, name: str) -> Response:
    return Response(text, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})
