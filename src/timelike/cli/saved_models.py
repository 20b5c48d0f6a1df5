"""Models on disk, and their nodes as a user types them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import tyro

from timelike.cli.printing import note
from timelike.graphs.node_lookup import find_nodes, unknown

if TYPE_CHECKING:
    from timelike.embedding.embedding import Embedding
    from timelike.embedding.trained_on import TrainedOn
    from timelike.graphs.digraph import DiGraph

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
        return self.nodes([text], option)[0]

    def nodes(self, texts: Sequence[str], option: str) -> list[Hashable]:
        """The names of the nodes that texts name."""
        import polars as pl

        nodes, names = len(self.embedding.points), self.embedding.names
        numbers = find_nodes(pl.Series(texts, dtype=pl.String), nodes, names)
        if (numbers < 0).any():
            wrong = texts[int((numbers < 0).argmax())]
            raise ValueError(f"{option}: {unknown(wrong, nodes, names)}")
        return [self.embedding.name(number) for number in numbers]


def load(path: Path, uses_edges: str) -> Fitted:
    """Read a model folder; `uses_edges` says what is done without its training edges, if they are used."""
    from timelike.embedding import model_folder
    from timelike.embedding.embedding import Embedding

    embedding = Embedding.load(path)
    trained_on = model_folder.load_trained_on(path, embedding)
    if trained_on is None and uses_edges:
        note(f"{path} does not say what it was trained on: {uses_edges}")
    return Fitted(embedding, trained_on)
