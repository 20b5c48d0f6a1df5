"""The server behind the page: a few routes, each one question to `Answers`."""

from __future__ import annotations

import contextlib
import json
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from timelike.explore.answers import MOST_FOUND, MOST_NAMES, MOST_ROWS, Answers, UnknownNode
from timelike.explore.guard import Guard, ShortHeads, is_loopback
from timelike.explore.page import KINDS, assets, cannot_stand_alone, policy, server_page, whole_page
from timelike.explore.shown_model import Shown

#: Of models with more nodes an answer takes long enough for others to be served meanwhile.
AT_ONCE = 20_000
#: Connections at a time; others are told to come again.
MOST_CLIENTS = 500


class Explorer:
    """The application: what each route answers."""

    def __init__(self, models: Sequence[Shown]):
        self.shown = list(models)
        self.models = [Answers(model) for model in models]
        self._lock = threading.Lock()

    @cached_property
    def about(self) -> bytes:
        """What the page asks for first; none of it changes."""
        found = [{**model.picture.about(), "alone": cannot_stand_alone(model.shown)} for model in self.models]
        return _dump({"models": found})

    @cached_property
    def likeliest(self) -> list[list[dict[str, Any]]]:
        """The likeliest missing edges of every model, found when they are first asked for."""
        return [model.likeliest() for model in self.models]

    def routes(self) -> list[Route]:
        """All that is answered."""
        binary: dict[str, Callable[[Answers, Request], bytes]] = {
            "positions": lambda model, _: model.picture.positions.tobytes(),
            "edges": lambda model, _: model.picture.edges.tobytes(),
            "frames": lambda model, _: model.picture.frames.tobytes(),
            "colour": lambda model, asked: _pick(model.picture.colours, asked, "colour").values.tobytes(),
        }
        plain: dict[str, Callable[[Answers, Request], Any]] = {
            "search": lambda model, asked: model.search(
                _text(asked, "text"), _whole(asked, "most", 12, MOST_FOUND)
            ),
            "names": lambda model, asked: model.names_of(_ids(asked, model.picture.count)),
            "node": lambda model, asked: model.node(_node(model, asked, "node"), _most(asked)),
            "pair": lambda model, asked: model.pair(
                _node(model, asked, "source"), _node(model, asked, "target")
            ),
        }
        return [  # those that are asked most come first
            *(Route(f"/api/{{model:int}}/{name}", self._asked(ask, None)) for name, ask in plain.items()),
            *(Route(f"/api/{{model:int}}/{name}", self._asked(ask, bytes)) for name, ask in binary.items()),
            Route("/api/{model:int}/likeliest", self._likeliest),
            Route("/api/{model:int}/predictions.tsv", self._table),
            Route("/api/about", self._about),
            Route("/api/page.html", self._whole_page),
            Route("/static/{name}", self.asset),
            Route("/", self.page),
        ]

    async def page(self, asked: Request) -> Response:
        """The page itself."""
        return Response(server_page(), media_type="text/html")

    async def asset(self, asked: Request) -> Response:
        """One of its files; there are no others."""
        name = asked.path_params["name"]
        if name not in assets() or name == "index.html":
            return PlainTextResponse("there is no such file", 404)
        return Response(assets()[name], media_type=KINDS[name[name.rindex(".") :]])

    async def _about(self, asked: Request) -> Response:
        return _json(await run_in_threadpool(lambda: self.about))

    def _asked(self, ask: Callable[[Answers, Request], Any], kind: type | None) -> Any:
        """A route that asks one model; a mistake in the question is an answer too."""

        async def answer(asked: Request) -> Response:
            model = self._model(asked)
            if model is None:
                return _no_model()
            try:
                few = model.picture.count <= AT_ONCE
                found = ask(model, asked) if few else await run_in_threadpool(ask, model, asked)
                data = found if kind else _dump(found)
            except ValueError as error:
                return _wrong(error)
            return Response(data, media_type="application/octet-stream") if kind else _json(data)

        return answer

    async def _likeliest(self, asked: Request) -> Response:
        if self._model(asked) is None:
            return _no_model()

        def find() -> bytes:
            with self._lock:
                return _dump(self.likeliest[asked.path_params["model"]])

        return _json(await run_in_threadpool(find))

    async def _table(self, asked: Request) -> Response:
        model = self._model(asked)
        if model is None:
            return _no_model()
        try:
            text = await run_in_threadpool(model.table, _node(model, asked, "node"), _most(asked))
        except ValueError as error:
            return _wrong(error)
        return _file(text, "text/tab-separated-values", "predictions.tsv")

    async def _whole_page(self, asked: Request) -> Response:
        def make() -> str:
            with self._lock:
                return whole_page(self.shown)

        try:
            text = await run_in_threadpool(make)
        except ValueError as error:
            return _wrong(error)
        return _file(text, "text/html", "timelike.html")

    def _model(self, asked: Request) -> Answers | None:
        number = asked.path_params["model"]
        return self.models[number] if number < len(self.models) else None


def application(models: Sequence[Shown], host: str = "127.0.0.1", token: str | None = None) -> Guard:
    """The page over these models as an ASGI application for a server at `host`."""
    explorer = Explorer(models)
    for model in explorer.models:
        model.warm_up()
    app = Starlette(routes=explorer.routes())
    app.router.redirect_slashes = False  # an address is right or wrong
    return Guard(app, host, token, policy())


def configuration(app: Guard) -> uvicorn.Config:
    """How the application is served."""
    return uvicorn.Config(
        app, http=ShortHeads, ws="none", lifespan="off", log_level="error", access_log=False,
        server_header=False, limit_concurrency=MOST_CLIENTS, timeout_graceful_shutdown=1,
    )  # fmt: skip


def listen(host: str, port: int) -> socket.socket:
    """A socket at this address, or an error of one line."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen(128)  # who comes before the server runs waits
    except (OSError, OverflowError) as error:
        sock.close()
        raise OSError(
            f"--host {host} --port {port}: {getattr(error, 'strerror', None) or error}; "
            "give another, --port 0 finds a free one"
        ) from None
    return sock


def serve(models: Sequence[Shown], host: str, port: int, say: Callable[[str], None], browser: bool) -> None:
    """Answer until interrupted; `say` gets the address when the page is ready."""
    sock = listen(host, port)
    token = None if is_loopback(host) else secrets.token_urlsafe(24)
    app = application(models, host, token)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{sock.getsockname()[1]}/" + (f"?token={token}" if token else "")
    server = uvicorn.Server(configuration(app))
    say(address)
    if browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    with sock, contextlib.suppress(KeyboardInterrupt):  # which is how one ends it
        server.run(sockets=[sock])


def _node(model: Answers, asked: Request, name: str) -> int:
    """A node given by number (`node=3`) or by name (`node-name=lexA`)."""
    if f"{name}-name" in asked.query_params:
        return model.number(asked.query_params[f"{name}-name"])
    return _whole(asked, name, None, model.picture.count - 1)


def _most(asked: Request) -> int:
    return max(1, _whole(asked, "most", 20, MOST_ROWS))


def _whole(asked: Request, name: str, default: int | None, most: int) -> int:
    text = asked.query_params.get(name, "" if default is None else str(default))
    if not (text.isascii() and text.isdigit()) or len(text) > 12 or int(text) > most:
        raise ValueError(f"{name} must be a whole number from 0 to {most}")
    return int(text)


def _text(asked: Request, name: str) -> str:
    return asked.query_params.get(name, "")


def _ids(asked: Request, count: int) -> list[int]:
    parts = [x for x in asked.query_params.get("ids", "").split(",") if x]
    if len(parts) > MOST_NAMES or not all(x.isascii() and x.isdigit() and len(x) < 12 for x in parts):
        raise ValueError(f"ids must be at most {MOST_NAMES} whole numbers")
    if any(int(x) >= count for x in parts):
        raise ValueError(f"ids must be below {count}")
    return [int(x) for x in parts]


def _pick(items: Sequence[Any], asked: Request, name: str) -> Any:
    return items[_whole(asked, name, None, len(items) - 1)]


def _dump(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except ValueError:
        raise ValueError("the points of the model are so large that numbers overflow here") from None


def _json(data: bytes) -> Response:
    return Response(data, media_type="application/json")


def _wrong(error: ValueError) -> Response:
    near = error.near if isinstance(error, UnknownNode) else None
    found = {"error": str(error)} if near is None else {"error": str(error), "near": near}
    return Response(_dump(found), 400 if near is None else 404, media_type="application/json")


def _no_model() -> Response:
    return Response(_dump({"error": "there is no such model"}), 404, media_type="application/json")


def _file(text: str, kind: str, name: str) -> Response:
    return Response(text, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})
