"""`timelike serve`: models behind a JSON API, for other programs."""

from __future__ import annotations

import dataclasses
import os
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from timelike.cli.options import File, Flag
from timelike.cli.saved_models import Loading, LoadingOptions

if TYPE_CHECKING:
    from timelike.serve.served_model import ServedModel

#: The variable with the token.
TOKEN = "TIMELIKE_TOKEN"


@dataclasses.dataclass(frozen=True)
class Serve:
    """Answer requests over HTTP: likely edges of nodes, pairs, reasons.

    The service reads models and writes nothing. A model folder that `timelike fit` replaces is loaded while
    the old model answers. /openapi.json describes all requests, /metrics is for Prometheus.

    Example: timelike serve model --port 8080
    """

    models: Annotated[
        tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="MODELS", help_behavior_hint="")
    ]
    """Model folders; a model is called like its folder."""

    host: str = "127.0.0.1"
    """Address to listen at. Any other address than this machine's own requires a token."""

    port: int = 0
    """Port to listen at; 0 picks a free one."""

    token_file: File = None
    """File with the token that requests must carry; default: $TIMELIKE_TOKEN, else none on this machine."""

    no_token: Flag = False
    """Answer anyone who reaches the address, as behind a proxy that asks for passwords itself."""

    no_evidence: Flag = False
    """Answer by the geometry alone, which is faster in large graphs."""

    timeout: float = 10.0
    """Most seconds for a reply."""

    cache: int = 64
    """MiB of replies to remember; 0 computes each one."""

    reload: float = 2.0
    """Seconds between looks for replaced models; 0: never."""

    loading: Loading = dataclasses.field(default_factory=LoadingOptions)

    def run(self) -> None:
        """Load the models and serve until interrupted."""
        names = [path.absolute().resolve().name for path in self.models]
        self._check(names)
        try:
            from timelike.serve.running import run
            from timelike.serve.service import application
        except ImportError as error:
            raise ImportError(
                'the service needs starlette and uvicorn: pip install "timelike[serve]"'
            ) from error
        from timelike.serve.reloading import Source

        token = self._token()
        sources = [
            Source(name, path, self._read, _log) for name, path in zip(names, self.models, strict=True)
        ]
        app = application(
            sources,
            host=self.host,
            token=token,
            seconds=self.timeout,
            cache=self.cache << 20,
            reload=self.reload,
        )
        run(app, self.host, self.port, _say)

    def _check(self, names: list[str]) -> None:
        if not self.models:
            raise ValueError("serve needs a model folder")
        if len({*names}) < len(names):
            again = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"two model folders are called {again!r}; rename one")
        if not 0 <= self.port < 2**16:
            raise ValueError(f"--port is {self.port}; it must be between 0 and {2**16 - 1}")
        for option, value in (("timeout", self.timeout), ("cache", self.cache), ("reload", self.reload)):
            if not 0 <= value < 10**6 or (option == "timeout" and not value):
                raise ValueError(
                    f"--{option} is {value:g}; it must be {'>' if option == 'timeout' else '≥'} 0"
                )

    def _token(self) -> str | None:
        """The token of requests, if they need one; a new one is printed to stderr."""
        from timelike.explore.guard import is_loopback

        text = os.environ.get(TOKEN) if self.token_file is None else self.token_file.read_text("utf-8")
        if text is not None and not (text.strip() and text.strip().isascii()):
            raise ValueError(f"the token of {self.token_file or '$' + TOKEN} must be text in ASCII")
        if self.no_token or (text is None and is_loopback(self.host)):
            if self.no_token and text is not None:
                raise ValueError(f"--no-token cannot be combined with --token-file or ${TOKEN}")
            return None
        if text is None:
            text = secrets.token_urlsafe(24)
            _log(f"no --token-file and no ${TOKEN}: requests need the header Authorization: Bearer {text}")
        return text.strip()

    def _read(self, name: str, version: str, path: Path) -> ServedModel:
        from timelike.serve.served_model import ServedModel

        fitted = self.loading.load(path, "replies may include them")
        if not len(fitted.embedding.points):
            raise ValueError(f"{path} has no nodes to serve")
        joint = None if self.no_evidence else fitted.joint
        return ServedModel(name, version, fitted.embedding, fitted.known, joint)


def _say(address: str) -> None:
    print(address, flush=True)


def _log(line: str) -> None:
    print(f"timelike serve: {line}", file=sys.stderr, flush=True)
