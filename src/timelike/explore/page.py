"""The files of the page, and a single-file version that contains the models and needs no server."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from timelike.baselines import TwistedTime
from timelike.embedding.exports import coordinate_names
from timelike.embedding.plain_json import struct_to_json
from timelike.explore.answers import Answers
from timelike.explore.shown_model import Shown
from timelike.likelihoods import LIKELIHOODS
from timelike.manifolds import Cylinder, Flat, Quadric

#: Most nodes of a single-file page; more would be slow to open and to send.
MOST_NODES = 20_000
KINDS = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}


@cache
def assets() -> dict[str, str]:
    """The files of the page by name; no others are served."""
    folder = resources.files("timelike.explore") / "assets"
    return {f.name: f.read_text("utf-8") for f in folder.iterdir() if f.name.endswith(tuple(KINDS))}


def server_page() -> str:
    """The page that loads its files from a server."""
    style = '<link rel="stylesheet" href="/static/app.css">'
    return _page({name: f"/static/{name}" for name in _modules()}, style, "")


def policy() -> str:
    """The content security policy: the page may load its own files and run its two inline scripts."""
    inline = re.findall(r"<script[^>]*>(.+?)</script>", server_page(), re.DOTALL)
    hashes = " ".join(f"'sha256-{_base64(hashlib.sha256(text.encode()).digest())}'" for text in inline)
    return (
        f"default-src 'none'; script-src 'self' {hashes}; style-src 'self'; connect-src 'self'; "
        "img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def whole_page(models: Sequence[Shown]) -> str:
    """A self-contained HTML file that computes probabilities itself."""
    for shown in models:
        if (why := cannot_stand_alone(shown)) is not None:
            raise ValueError(why)
    kind = "data:text/javascript;base64,"
    urls = {name: kind + _base64(text.encode()) for name, text in _modules().items()}
    data = json.dumps([_inside(shown) for shown in models], ensure_ascii=False).replace("<", "\\u003c")
    style = f"<style>{assets()['app.css']}</style>"
    return _page(urls, style, f'<script type="application/json" id="data">{data}</script>')


def cannot_stand_alone(shown: Shown) -> str | None:
    """The reason why a model does not fit into a single-file page; None if it does."""
    model, nodes = shown.embedding.score_model, len(shown.embedding.points)
    if nodes > MOST_NODES:
        return f"{shown.title} has {nodes:,} nodes; a single-file page holds at most {MOST_NODES:,}"
    base = model.manifold.base if isinstance(model.manifold, Cylinder) else model.manifold
    known = (*LIKELIHOODS.values(), TwistedTime)
    if not isinstance(base, Flat | Quadric) or type(model.likelihood) not in known:
        name = type(model.likelihood).__name__
        return f"{shown.title} has the likelihood {name}, which a single-file page cannot compute"
    return None


def _inside(shown: Shown) -> dict[str, Any]:
    """A model as JSON, with arrays in base64."""
    shown = shown._replace(joint=None)
    answers, embedding = Answers(shown), shown.embedding
    picture = answers.picture
    pairs = np.zeros((0, 2), np.int32) if shown.known is None else shown.known.pairs
    return {
        "about": picture.about(),
        "names": [str(embedding.name(i)) for i in range(picture.count)],
        "positions": _base64(picture.positions),
        "colours": [_base64(colour.values.astype(np.float32)) for colour in picture.colours],
        "edges": _base64(pairs),
        "frames": _base64(picture.frames),
        "points": _base64(embedding.points.astype(np.float32)),
        "coordinates": coordinate_names(embedding.model.manifold),
        "likeliest": answers.likeliest(),
        "strangers": [nodes.tolist() for nodes in answers.strangers],
        "manifold": struct_to_json(embedding.model.manifold, "manifold"),
        "likelihood": struct_to_json(embedding.score_model.likelihood, "likelihood"),
        "calibration": None if embedding.calibration is None else dataclasses.asdict(embedding.calibration),
    }


def _page(urls: dict[str, str], style: str, data: str) -> str:
    modules = json.dumps({"imports": {f"timelike/{name}": url for name, url in urls.items()}})
    parts = {"STYLE": style, "MAP": f'<script type="importmap">{modules}</script>', "DATA": data}
    return re.sub(r"<!--(STYLE|MAP|DATA)-->", lambda place: parts[place[1]], assets()["index.html"])


def _modules() -> dict[str, str]:
    return {name: text for name, text in sorted(assets().items()) if name.endswith(".js")}


def _base64(data: bytes | np.ndarray) -> str:
    raw = data if isinstance(data, bytes) else np.ascontiguousarray(data).tobytes()
    return base64.b64encode(raw).decode("ascii")
