"""What can be drawn: an embedding and a graph, from whatever holds them."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from timelike._util.checks import instance
from timelike.embedding import model_folder
from timelike.embedding.embedding import EMBEDDING, Embedding
from timelike.embedding.pair_answers import PairAnswers
from timelike.graphs.digraph import DiGraph


class Drawable(NamedTuple):
    """An embedding, and the graph whose edges to draw if there is one."""

    embedding: Embedding
    graph: DiGraph | None


def drawable(model: Any, graph: DiGraph | None = None) -> Drawable:
    """The embedding of an estimator, joint model, model folder or embedding; `graph`, or the one it keeps."""
    if isinstance(model, str | os.PathLike):
        embedding = Embedding.load(model)
        trained_on = model_folder.load_trained_on(model, embedding)
        return Drawable(embedding, graph if graph is not None or trained_on is None else trained_on.graph)
    if hasattr(model, "answers_"):  # an estimator, which complains here if it is not fitted
        kept = model.answers_ and model.trained_on_
        return Drawable(model.embedding_, graph if graph is not None or kept is None else kept.graph)
    if isinstance(model, PairAnswers):
        return Drawable(model.geometry, getattr(model, "known", None) if graph is None else graph)
    instance("embedding", model, Embedding, f"{EMBEDDING}, an estimator or a model folder")
    raise AssertionError
