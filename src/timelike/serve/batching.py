"""Rank for all requests that wait, together: while one batch is computed, the next one gathers."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from timelike.embedding.block_ranking import TOGETHER
from timelike.serve.served_model import Question, ServedModel

#: Most questions that wait; further ones are refused.
MOST_WAITING = 2000


class Busy(Exception):
    """Too many questions wait."""


class Batcher:
    """Answers questions about models in one thread, several at once."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[ServedModel, Question, asyncio.Future[Any]]] = deque()
        self._pool = ThreadPoolExecutor(1, "ranking")
        self._task: asyncio.Task[None] | None = None
        self.batches = self.asked = 0

    async def ask(self, model: ServedModel, question: Question) -> list[dict[str, Any]]:
        """The likeliest edges; raises `Busy` if too many questions wait."""
        if len(self._waiting) >= MOST_WAITING:
            raise Busy
        loop = asyncio.get_running_loop()
        answer = loop.create_future()
        self._waiting.append((model, question, answer))
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._drain())
        rows: list[dict[str, Any]] = await answer
        return rows

    async def run(self, function: Any, *arguments: Any) -> Any:
        """Anything else that takes long, in the same thread."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, function, *arguments)

    async def _drain(self) -> None:
        while self._waiting:
            model = self._waiting[0][0]
            most = TOGETHER if model.joint is None else 1
            asked: dict[Question, list[asyncio.Future[Any]]] = {}
            while self._waiting and self._waiting[0][0] is model and len(asked) < most:
                _, question, answer = self._waiting.popleft()
                if not answer.done():  # its client may have gone
                    asked.setdefault(question, []).append(answer)
            if asked:
                await self._answer(model, asked)

    async def _answer(self, model: ServedModel, asked: dict[Question, list[asyncio.Future[Any]]]) -> None:
        self.batches, self.asked = self.batches + 1, self.asked + len(asked)
        try:
            replies = await self.run(model.likeliest, list(asked))
        except Exception as error:
            for answer in (one for answers in asked.values() for one in answers if not one.done()):
                answer.set_exception(error)
            return
        for answers, reply in zip(asked.values(), replies, strict=True):
            for answer in answers:
                if not answer.done():
                    answer.set_result(reply)


class ReplyCache:
    """The most recently asked replies, up to a number of bytes."""

    def __init__(self, most_bytes: int):
        self._most, self._bytes = most_bytes, 0
        self._replies: OrderedDict[Any, bytes] = OrderedDict()
        self.hits = self.misses = 0

    def get(self, key: Any) -> bytes | None:
        """A reply that was kept."""
        reply = self._replies.get(key)
        if reply is None:
            self.misses += 1
        else:
            self.hits += 1
            self._replies.move_to_end(key)
        return reply

    def keep(self, key: Any, reply: bytes) -> None:
        """Keep a reply; the least recently asked ones make room."""
        if len(reply) > self._most or key in self._replies:
            return
        self._replies[key] = reply
        self._bytes += len(reply)
        while self._bytes > self._most:
            self._bytes -= len(self._replies.popitem(last=False)[1])
