"""Models on disk, and their nodes as a user types them."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import tyro

from timelike.commands.printing import note
from timelike.typed_nodes import find_nodes, unknown

if TYPE_CHECKING:
    from timelike.embedding import Embedding
    from timelike.graph import DiGraph
    from timelike.trained_on import TrainedOn

ModelFolder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="MODEL")]


class Fitted(NamedTuple):
    """A model, and what it was trained on if its folder says so."""

    embedding: Embedding
    trained_on: TrainedOn | None

    @property
    def known(self) -> DiGraph | None:
        """The edges that the model was trained and validated on."""
        return None if self.trained_on is None else self.trained_on.known

    def node(self, text: str, option: str) -> Hashable:
        """The name of the node that a text names."""
        import polars as pl

        nodes, names = len(self.embedding.points), self.embedding.names
        number = int(find_nodes(pl.Series([text]), nodes, names)[0])
        if number < 0:
            raise ValueError(f"{option}: {unknown(text, nodes, names)}")
        return self.embedding.name(number)


def load(path: Path, uses_edges: str) -> Fitted:
    """Read a model folder; `uses_edges` says what is done without its training edges, if they are used."""
    from timelike import store
    from timelike.embedding import Embedding

    embedding = Embedding.load(path)
    trained_on = store.load_trained_on(path, embedding)
    if trained_on is None and uses_edges:
        note(f"{path} does not say what it was trained on: {uses_edges}")
    return Fitted(embedding, trained_on)
