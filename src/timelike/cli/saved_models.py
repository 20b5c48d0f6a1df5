"""Model folders, and their nodes as a user types them."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import tyro

from timelike.cli.own_manifolds import OwnManifold, own_manifold
from timelike.cli.printing import note
from timelike.graphs.node_names import find_nodes, unknown

if TYPE_CHECKING:
    from timelike.embedding.embedding import Embedding
    from timelike.embedding.trained_on import TrainedOn
    from timelike.graphs.digraph import DiGraph

ModelFolder = Annotated[
    Path, tyro.conf.Positional, tyro.conf.arg(metavar="MODEL", help="Model folder that `timelike fit` wrote.")
]


class Fitted(NamedTuple):
    """A model, and the edges that it was trained on if its folder has them."""

    embedding: Embedding
    trained_on: TrainedOn | None

    @property
    def known(self) -> DiGraph | None:
        """The edges that the model was trained and validated on."""
        return None if self.trained_on is None else self.trained_on.known

    @property
    def graph(self) -> DiGraph | None:
        """The edges that the model was trained on."""
        return None if self.trained_on is None else self.trained_on.graph

    def node(self, text: str, option: str) -> Hashable:
        """The name of the node that a text refers to."""
        return self.nodes([text], option)[0]

    def nodes(self, texts: Sequence[str], option: str) -> list[Hashable]:
        """The names of the nodes that texts refer to."""
        import polars as pl

        nodes, names = len(self.embedding.points), self.embedding.names
        numbers = find_nodes(pl.Series(texts, dtype=pl.String), nodes, names)
        if (numbers < 0).any():
            wrong = texts[int((numbers < 0).argmax())]
            raise ValueError(f"{option}: {unknown(wrong, nodes, names)}")
        return [self.embedding.name(number) for number in numbers]


@dataclasses.dataclass(frozen=True)
class LoadingOptions:
    """How to load the model."""

    manifold: OwnManifold = None
    """Manifold class of your own that the model was fitted with. A model folder never imports code itself."""

    def load(self, path: Path, without_edges: str) -> Fitted:
        """Load a model folder; if it lacks training edges, a note says what happens `without_edges`."""
        from timelike.embedding import model_folder
        from timelike.embedding.embedding import Embedding

        if self.manifold is not None:
            own_manifold(self.manifold)
        try:
            embedding = Embedding.load(path)
        except ValueError as error:
            if "manifold" in str(error) and "class" in str(error):
                raise ValueError(f"{error}; for a class of your own, add --manifold MODULE:CLASS") from None
            raise
        trained_on = model_folder.load_trained_on(path, embedding)
        if trained_on is None and without_edges:
            note(f"{path} holds no training edges: {without_edges}")
        return Fitted(embedding, trained_on)


Loading = tyro.conf.OmitArgPrefixes[LoadingOptions]
