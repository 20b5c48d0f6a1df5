"""The data of a model that the page receives: arrays, and a description of them."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from timelike.embedding.embedding import Embedding
from timelike.evidence.joint import Joint
from timelike.evidence.label_model import LabelModel
from timelike.explore.colours import Colour, of_graph
from timelike.explore.joint_numbers import JointNumbers
from timelike.graphs.digraph import DiGraph
from timelike.likelihoods import FermiDirac
from timelike.manifolds.quadric import Quadric, is_anti_de_sitter
from timelike.plot.nested_balls import disks, looks_nested
from timelike.plot.scenes import layouts_for
from timelike.plot.views import depth, view_of, words_for
from timelike.training.replay import Replay

#: Number of candidate labels sent with the page: names of the nodes with the most edges.
LABELLED = 400
#: Most edges drawn before a node is selected; more would be a grey cloud.
MOST_EDGES = 20_000
#: Most nodes drawn as disks within disks.
MOST_DISKS = 10_000


class Shown(NamedTuple):
    """A model on the page: an embedding, its known edges, extra node colours, and a replay of training.

    With a `joint` model, lists and probabilities are its own; the picture shows the embedding. `labels` say
    which signs and types its edges have.
    """

    title: str
    embedding: Embedding
    known: DiGraph | None = None
    columns: tuple[Colour, ...] = ()
    replay: Replay | None = None
    joint: Joint | None = None
    labels: tuple[LabelModel, ...] = ()


class Picture:
    """The arrays of a model, computed once; a node is a row (time, space, second direction, depth)."""

    def __init__(self, model: Shown):
        self.model = model
        self.manifold = model.embedding.model.manifold
        points = model.embedding.points
        self.count = len(points)
        frames = [] if model.replay is None else list(model.replay.points)
        everything = np.concatenate([points, *frames])
        self.view = view_of(self.manifold, everything, self.count)
        x = np.asarray(everything, float)
        deep = depth(x) if is_anti_de_sitter(self.manifold) else np.zeros(len(x))
        table = np.stack([*self.view[:3], deep], axis=1).astype(np.float32)
        self.positions = table[: self.count]
        self.frames = table[self.count :]
        self.colours = [*of_graph(self.clock, self.positions[:, 0], model.known), *model.columns]

    @property
    def clock(self) -> str:
        """Label of the vertical axis: "time", unless the model has no notion of earlier and later."""
        likelihood = self.model.embedding.model.likelihood
        timed = self.manifold.signature[0] or self.view.period or not isinstance(likelihood, FermiDirac)
        return "time" if timed else "first direction"

    @property
    def calibration(self) -> str | None:
        """How the probabilities are calibrated, or why they are not; None if nothing is known."""
        if self.model.joint is not None:
            return self.model.joint.calibration_text
        calibration, info = self.model.embedding.calibration, self.model.embedding.info
        return info.get("calibration") if calibration is None else str(calibration)

    @cached_property
    def edges(self) -> np.ndarray:
        """The known edges as (n, 2) node numbers; empty if there are more than `MOST_EDGES`."""
        known = self.model.known
        return known.pairs if known and known.num_edges <= MOST_EDGES else np.zeros((0, 2), np.int32)

    @cached_property
    def balls(self) -> list[list[float]] | None:
        """x, y and radius of the disk of each node, in a disk of radius 1; None if this is no hierarchy."""
        known = self.model.known
        if known is None or self.count > MOST_DISKS or not len(self.edges) or not looks_nested(known):
            return None
        found = disks(known)
        table = np.column_stack([found.centres, found.radii])[found.component]
        reach = np.max(np.linalg.norm(table[:, :2], axis=1) + table[:, 2])
        return [[float(f"{x:.5g}") for x in row] for row in (table / reach).tolist()]

    @cached_property
    def labelled(self) -> np.ndarray:
        """Candidate nodes for labels by decreasing degree; without edges, the earliest and latest nodes."""
        degrees = next((c.values for c in self.colours if c.label == "degree"), None)
        if degrees is None:
            degrees = np.abs(self.positions[:, 0] - np.median(self.positions[:, 0]))
        return np.argsort(-degrees, kind="stable")[:LABELLED]

    def about(self) -> dict[str, Any]:
        """The description of the model that the page requests first."""
        embedding, view = self.model.embedding, self.view
        info, manifold = embedding.info, self.manifold
        replay = self.model.replay
        return {
            "title": self.model.title,
            "space": words_for(manifold),
            "dim": manifold.dim,
            "nodes": self.count,
            "edges": None if self.model.known is None else self.model.known.num_edges,
            "likelihood": type(embedding.model.likelihood).__name__,
            "calibration": self.calibration,
            "joint": None if self.model.joint is None else JointNumbers(self.model.joint).facts,
            "facts": {name: info[name] for name in ("reason", "valid_ap", "baselines") if name in info},
            "views": [*views_of(manifold), *(["balls"] if self.balls else [])],
            "balls": self.balls,
            "period": view.period,
            "light": view.light,
            "wall": view.wall,
            "radius": float(manifold.radius) if isinstance(manifold, Quadric) else 1.0,
            "lost": view.lost,
            "lost_in_3d": view.lost_in_3d,
            "axes": [view.space_label, view.time_label if self.clock == "time" else self.clock],
            "clock": self.clock,
            "cones": manifold.signature[0] > 0,
            "colours": [{"label": c.label, "categories": c.categories} for c in self.colours],
            "labels": [[int(i), str(embedding.name(i))] for i in self.labelled],
            "drawn_edges": len(self.edges),
            "epochs": None if replay is None else replay.epochs.tolist(),
        }


def views_of(manifold: Any) -> list[str]:
    """The views of a manifold, the most suitable first."""
    return [*layouts_for(manifold), *(["space"] if manifold.dim > 2 else [])]
