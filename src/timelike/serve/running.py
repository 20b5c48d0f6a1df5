"""Start the service and stop it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import uvicorn

from timelike.explore.guard import TimelyRequests
from timelike.explore.server import listen
from timelike.serve.limits import Limits

#: Most simultaneous connections; further ones get status 503.
MOST_CLIENTS = 1000
#: Seconds that an idle connection stays open, and that running requests have when the service stops.
IDLE, FAREWELL = 30, 10


def run(app: Limits, host: str, port: int, say: Callable[[str], None]) -> None:
    """Serve until interrupted or terminated; calls `say` with the address once requests are answered."""
    sock = listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    config = uvicorn.Config(
        app, http=TimelyRequests, ws="none", lifespan="on", log_level="error", access_log=False,
        server_header=False, limit_concurrency=MOST_CLIENTS, timeout_keep_alive=IDLE,
        timeout_graceful_shutdown=FAREWELL, backlog=2048,
    )  # fmt: skip
    say(f"http://{shown}:{sock.getsockname()[1]}")
    with sock, contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[sock])
