"""The routes of the service, as an ASGI application."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from timelike.serve.batching import Batcher, Busy, ReplyCache
from timelike.serve.limits import Limits
from timelike.serve.openapi import MOST_EDGES, MOST_NAME, MOST_PAIRS, description
from timelike.serve.reloading import Source
from timelike.serve.served_model import Question, ServedModel, UnknownName
from timelike.serve.telemetry import Telemetry

Endpoint = Callable[[Request], Awaitable[Response]]


class Service:
    """The routes, and the models that they answer from."""

    def __init__(self, sources: Sequence[Source], cache: int, reload: float, token: str | None):
        self.sources = {source.name: source for source in sources}
        self.telemetry, self.batcher, self.cache = Telemetry(), Batcher(), ReplyCache(cache)
        self._reload, self._token = reload, token

    def routes(self) -> list[Route]:
        """All routes, the most frequent first."""
        model = "/v1/models/{model}"
        every: list[tuple[str, str, Endpoint, str]] = [
            (f"{model}/targets", "targets", lambda request: self._edges(request, False), "GET"),
            (f"{model}/sources", "sources", lambda request: self._edges(request, True), "GET"),
            (f"{model}/pairs", "pairs", self._pairs, "POST"),
            (f"{model}/why", "why", self._why, "GET"),
            (model, "model", self._model_about, "GET"),
            ("/v1/models", "models", self._models, "GET"),
            ("/health", "health", self._health, "GET"),
            ("/metrics", "metrics", self._metrics, "GET"),
            ("/openapi.json", "openapi", self._openapi, "GET"),
        ]
        return [Route(path, _named(kind, run), methods=[method]) for path, kind, run, method in every]

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Look for replaced models while the service runs."""
        watcher = asyncio.create_task(self._watch()) if self._reload else None
        yield
        if watcher is not None:
            watcher.cancel()
            with suppress(asyncio.CancelledError):
                await watcher

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._reload)
            for source in self.sources.values():
                if source.is_replaced():
                    done = await asyncio.to_thread(source.load)
                    self.telemetry.reloads["done" if done else "failed"] += 1

    def _model(self, request: Request) -> ServedModel:
        name = request.path_params["model"]
        if name not in self.sources:
            raise UnknownName(f"there is no model {name[:MOST_NAME]!r}", sorted(self.sources)[:5])
        return self.sources[name].model

    async def _edges(self, request: Request, incoming: bool) -> Response:
        query, model = _query(request, "node", "k", "known"), self._model(request)
        known = query.get("known", "false")
        if known not in ("true", "false"):
            raise ValueError(f"known is {known[:20]!r}; it must be true or false")
        count = _whole("k", query.get("k", "10"), MOST_EDGES)
        question = Question(model.number(_name(query, "node")), incoming, count, known == "true")
        key = (model.name, model.version, question)
        body = self.cache.get(key)
        if body is None:
            rows = await self.batcher.ask(model, question)
            own = {"model": model.name, "version": model.version, "node": model.label(question.node)}
            body = _encoded({**own, "edges": rows})
            self.cache.keep(key, body)
        return Response(body, media_type="application/json")

    async def _pairs(self, request: Request) -> Response:
        _query(request)
        model = self._model(request)
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise HTTPException(415, "the body must be application/json")
        pairs, skip = _asked_pairs(await request.body())
        sources, targets = [], []
        for pair in pairs:
            try:
                ends = [model.number(name) for name in pair]
            except UnknownName:
                if not skip:
                    raise
                continue
            sources.append(ends[0])
            targets.append(ends[1])
        rows = await self.batcher.run(model.pairs, sources, targets) if sources else []
        own = {"model": model.name, "version": model.version, "missing": len(pairs) - len(rows)}
        return _json({**own, "pairs": rows})

    async def _why(self, request: Request) -> Response:
        query, model = _query(request, "source", "target"), self._model(request)
        ends = [model.number(_name(query, end)) for end in ("source", "target")]
        answer = await self.batcher.run(model.why, *ends)
        return _json({"model": model.name, "version": model.version, **answer})

    async def _model_about(self, request: Request) -> Response:
        _query(request)
        return _json(self._model(request).about)

    async def _models(self, request: Request) -> Response:
        _query(request)
        return _json({"models": [source.model.about for source in self.sources.values()]})

    async def _health(self, request: Request) -> Response:
        return _json({"status": "ok", "models": len(self.sources)})

    async def _metrics(self, request: Request) -> Response:
        gauges = {
            "timelike_cache_hits_total": ("counter", "Replies from the cache.", float(self.cache.hits)),
            "timelike_cache_misses_total": ("counter", "Replies not in the cache.", float(self.cache.misses)),
            "timelike_ranking_batches_total": ("counter", "Batches ranked.", float(self.batcher.batches)),
            "timelike_ranked_questions_total": ("counter", "Questions ranked.", float(self.batcher.asked)),
        }
        models = [source.model.about for source in self.sources.values()]
        return Response(self.telemetry.text(models, gauges), media_type="text/plain; version=0.0.4")

    async def _openapi(self, request: Request) -> Response:
        return _json(description(self._token is not None, list(self.sources)))


def application(
    sources: Sequence[Source],
    *,
    host: str = "127.0.0.1",
    token: str | None = None,
    seconds: float = 10.0,
    cache: int = 2**26,
    reload: float = 2.0,
) -> Limits:
    """The service as an ASGI application for a server at `host`.

    `seconds` is the longest time for a reply, `cache` the bytes of kept replies, and `reload` the seconds
    between looks for replaced models (0: never).
    """
    service = Service(sources, cache, reload, token)
    errors: dict[Any, Any] = {
        UnknownName: lambda _, error: _json({"error": str(error), "near": error.near}, 404),
        ValueError: lambda _, error: _json({"error": str(error)}, 400),
        Busy: lambda *_: _json({"error": "too many requests wait"}, 503, {"retry-after": "1"}),
        ClientDisconnect: lambda *_: Response(status_code=400),
        HTTPException: lambda _, error: _json({"error": error.detail}, error.status_code, error.headers),
    }
    app = Starlette(routes=service.routes(), exception_handlers=errors, lifespan=service.lifespan)
    app.router.redirect_slashes = False  # reply 404 instead
    return Limits(app, service.telemetry, host, token, seconds)


def _named(kind: str, run: Endpoint) -> Endpoint:
    """An endpoint whose requests are counted under a name."""

    async def respond(request: Request) -> Response:
        request.scope["kind"] = kind
        return await run(request)

    return respond


def _query(request: Request, *allowed: str) -> dict[str, str]:
    """The query, each part once and known."""
    items = request.query_params.multi_items()
    query = dict(items)
    if len(query) < len(items):
        raise ValueError("the query names something twice")
    for name in query:
        if name not in allowed:
            expected = f"it may have {', '.join(allowed)}" if allowed else "it must be empty"
            raise ValueError(f"the query has {name[:40]!r}; {expected}")
    return query


def _name(query: dict[str, str], end: str) -> str:
    text = query.get(end, "")
    if not 0 < len(text) <= MOST_NAME:
        raise ValueError(f"{end} must be the name of a node, of 1 to {MOST_NAME} characters")
    return text


def _whole(name: str, text: str, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most):
        raise ValueError(f"{name} is {text[:20]!r}; it must be a whole number from 1 to {most}")
    return int(text)


def _asked_pairs(body: bytes) -> tuple[list[list[str]], bool]:
    """The pairs of names in the body, and whether those with unknown names are skipped."""
    try:
        asked = json.loads(body)
    except (RecursionError, ValueError):
        raise ValueError("the body is not JSON") from None
    if not isinstance(asked, dict) or not asked.keys() <= {"pairs", "missing"}:
        raise ValueError("the body must be an object with pairs and optionally missing")
    missing, pairs = asked.get("missing", "error"), asked.get("pairs")
    if missing not in ("error", "skip"):
        raise ValueError("missing must be error or skip")
    if not isinstance(pairs, list) or not 1 <= len(pairs) <= MOST_PAIRS:
        raise ValueError(f"pairs must be a list of 1 to {MOST_PAIRS:,} pairs")
    for pair in pairs:
        names = isinstance(pair, list) and len(pair) == 2 and all(isinstance(x, str) for x in pair)
        if not names or not all(0 < len(x) <= MOST_NAME for x in pair):
            raise ValueError(f"each pair must be two names of 1 to {MOST_NAME} characters")
    return pairs, missing == "skip"


def _encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def _json(value: Any, status: int = 200, headers: Any = None) -> Response:
    return Response(_encoded(value), status, headers, "application/json")
