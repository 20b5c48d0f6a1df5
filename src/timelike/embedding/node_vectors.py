"""An embedding as a table of vectors: by node, as an array, and as data frames."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from timelike._util.guesses import SaysTheRightCall
from timelike.core.model import Model
from timelike.embedding import exports
from timelike.embedding.inner_products import InnerProducts, inner_products
from timelike.embedding.point_metric import Metric, point_metric
from timelike.graphs.conversions import to_pandas
from timelike.graphs.digraph import is_one, node_numbers
from timelike.graphs.node_names import as_names

if TYPE_CHECKING:
    import pandas
    import polars


class NodeVectors(SaysTheRightCall):
    """Points by node: `vectors[node]`, `vectors[[node, …]]`, `node in vectors`, `len`, `np.asarray`."""

    model: Model
    points: np.ndarray
    names: Sequence[Hashable] | None

    RIGHT_CALLS: ClassVar = {
        "vectors": "points, or np.asarray(embedding)",
        "wv": "embedding[node], node in embedding, embedding.most_similar(node)",
        "shape": "points.shape",
        "get_vector": "embedding[node]",
        "index_to_key": "names",
        "key_to_index": "names.index(node)",
        "similar_by_word": "most_similar(node)",
        "similarity": "log_odds(source, target), or most_similar(node)",
        "distance": "metric, a function of two points, or most_similar(node)",
        "distances": "most_similar(node, k)",
        "save_word2vec_format": 'export(path, "word2vec")',
        "predict": "prob(sources, targets)",
        "predict_proba": "prob(sources, targets)",
        "to_networkx": "graph.to_networkx(), or the method of SpacetimeEmbedding",
        "weight": "points",
        "vector_size": "points.shape[1]",
        "numpy": "np.asarray(embedding)",
        "nodes": "names",
    }

    def __getitem__(self, node: Any) -> np.ndarray:
        rows = self.points[node_numbers(node, len(self.points), self.names, "node")]
        return rows[0] if is_one(node) and rows.ndim == 2 else rows

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(range(len(self.points)) if self.names is None else self.names)

    def __contains__(self, node: Hashable) -> bool:
        return node in range(len(self)) if self.names is None else as_names(self.names).find([node]) != [None]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.points, dtype) if copy else np.asarray(self.points, dtype)

    @property
    def metric(self) -> Metric:
        """The distance of `most_similar` as a function of two points, for scikit-learn, UMAP and numba."""
        return point_metric(self.model.manifold)

    def inner_products(self, learn: bool = True, seed: int = 0) -> InnerProducts:
        """Keys of all nodes and queries whose inner products rank targets, for FAISS and the like.

        With `learn`, weights are learned with which the ranking comes near that by probability; without,
        flat spaces have exactly −s² as inner product, and quadrics ⟨p, q⟩, which ranks like −s².
        """
        return inner_products(self, learn, seed)  # type: ignore[arg-type]

    def to_frame(self) -> polars.DataFrame:
        """A polars table: node, coordinates (t0 … timelike, x0 … spacelike), and time, Δt from the origin."""
        return exports.to_frame(self)  # type: ignore[arg-type]

    to_polars = to_frame

    def to_pandas(self) -> pandas.DataFrame:
        """`to_frame` as a pandas table."""
        return to_pandas(self.to_frame())
