"""Options of `timelike fit` for what the graph does not know: expression, features, other tools' scores."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from timelike.cli.options import File, optional
from timelike.cli.printing import note

if TYPE_CHECKING:
    from timelike.evidence.outside import Outside
    from timelike.io.edge_shards import AnyGraph


Column = Annotated[str | None, optional("COLUMN")]


@dataclasses.dataclass(frozen=True)
class EvidenceOptions:
    """Evidence beside the edges. Names that do not match are counted; validation decides what each counts."""

    expression: File = None
    """Expression of genes in samples: TSV, CSV, Parquet or .h5ad, genes as rows or as columns."""

    regulators: File = None
    """With --expression: nodes that may regulate, one name per line; default: the sources of the edges."""

    features: File = None
    """Features of nodes, numbers or categories; the first column names them. New names become nodes."""

    scores: Annotated[tuple[Path, ...], tyro.conf.UseAppendAction, optional("FILE")] = ()
    """Another tool's list of pairs: columns source, target and score. Repeat the option for more lists."""

    sign: Column = None
    """Column of EDGES with signs, such as +, -, 1, -1, activator or repressor: predict them too."""

    type: Column = None
    """Column of EDGES with types: predict them too."""

    def check(self, options: dict[str, bool]) -> None:
        """Reject what cannot go together; `options` are other options and whether they are used."""
        own: dict[str, Any] = {
            "--expression": self.expression,
            "--features": self.features,
            "--scores": self.scores or None,
            "--sign": self.sign,
            "--type": self.type,
        }
        for name, used in options.items():
            for given, value in own.items():
                if used and value is not None:
                    raise ValueError(f"{given} cannot be combined with {name}")
        if self.regulators is not None and self.expression is None:
            raise ValueError("--regulators needs --expression; add --expression or remove --regulators")

    def given(self, graph: AnyGraph) -> tuple[Outside, ...]:
        """The evidence in the files, with notes on how many nodes of the graph each knows."""
        if not (self.expression or self.features or self.scores):
            return ()
        from timelike.estimator.inputs import with_feature_nodes
        from timelike.evidence import Expression, NodeFeatures, ScoredPairs
        from timelike.evidence.outside import described
        from timelike.graphs.digraph import DiGraph

        assert isinstance(graph, DiGraph)
        found: list[Any] = []
        if self.expression is not None:
            found.append(Expression.read(self.expression, graph, self.regulators))
        if self.features is not None:
            found.append(NodeFeatures.read(self.features))
        names = _distinct([path.name.split(".")[0] for path in self.scores])
        found += [ScoredPairs.read(path, name) for path, name in zip(self.scores, names, strict=True)]
        note(*described(found, graph).values())
        added = with_feature_nodes(graph, found).num_nodes - graph.num_nodes
        if added:
            note(f"{added:,} more names in {self.features} become nodes without edges")
        return tuple(found)


def _distinct(names: list[str]) -> list[str]:
    """The names, with a number after those that repeat."""
    counts = [names[:i].count(name) for i, name in enumerate(names)]
    return [f"{name} {n + 1}" if n else name for name, n in zip(names, counts, strict=True)]
