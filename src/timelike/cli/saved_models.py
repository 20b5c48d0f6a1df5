"""Model folders: loading them, their nodes as a user types them, and an unfinished run beside them."""

from __future__ import annotations

import dataclasses
import importlib
import shutil
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import tyro

import timelike as tl
from timelike._util.atomic_files import locked
from timelike.cli.options import optional
from timelike.cli.printing import note
from timelike.graphs.node_names import find_nodes, unknown

if TYPE_CHECKING:
    from timelike.embedding.trained_on import TrainedOn
    from timelike.evidence.joint import Joint
    from timelike.evidence.label_model import LabelModel

ModelFolder = Annotated[
    Path, tyro.conf.Positional, tyro.conf.arg(metavar="MODEL", help="Model folder that `timelike fit` wrote.")
]
OwnManifold = Annotated[str | None, optional("MODULE:CLASS")]


class Fitted(NamedTuple):
    """A model, and the edges that it was trained on if its folder has them."""

    embedding: tl.Embedding
    trained_on: TrainedOn | None
    joint: Joint | None = None
    labels: tuple[LabelModel, ...] = ()

    @property
    def answers(self) -> tl.Embedding | Joint:
        """What predicts: the joint model, or the embedding if the geometry is alone."""
        return self.embedding if self.joint is None else self.joint

    @property
    def calibration(self) -> str | None:
        """For which ratio of non-edges to edges the probabilities hold; None if they are not calibrated."""
        if self.joint is not None:
            return self.joint.calibration_text
        return self.embedding.info.get("calibration")

    @property
    def known(self) -> tl.DiGraph | None:
        """The edges that the model was trained and validated on."""
        return None if self.trained_on is None else self.trained_on.known

    @property
    def graph(self) -> tl.DiGraph | None:
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

        if self.manifold is not None:
            own_manifold(self.manifold)
        try:
            embedding = tl.Embedding.load(path)
        except ValueError as error:
            if "manifold" in str(error) and "class" in str(error):
                raise ValueError(f"{error}; for a class of your own, add --manifold MODULE:CLASS") from None
            raise
        trained_on = model_folder.load_trained_on(path, embedding)
        if trained_on is None and without_edges:
            note(f"{path} holds no training edges: {without_edges}")
        joint, file = None, model_folder.evidence_file(path)
        if trained_on is not None and file is not None:
            from timelike.evidence import joint_file

            joint = joint_file.load(file, embedding, trained_on.known)
        labels: tuple[LabelModel, ...] = ()
        if trained_on is not None and (file := model_folder.evidence_file(path, model_folder.LABELS)):
            from timelike.evidence import label_file

            labels = label_file.load(file, trained_on.known, () if joint is None else joint.evidence)
        return Fitted(embedding, trained_on, joint, labels)


Loading = tyro.conf.OmitArgPrefixes[LoadingOptions]


def own_manifold(name: str) -> Callable[..., Any]:
    """Import and register the class that MODULE:CLASS names, so that models can be saved and loaded with it.

    A function of `dim` that returns a manifold will do too. The current folder is searched first. Only a user
    who types the option runs the module; a model folder never does.
    """
    from timelike.core.manifold import Manifold

    module, _, kind = name.partition(":")
    if not module or not kind:
        raise ValueError(f"--manifold is {name!r}; it must be MODULE:CLASS, such as torus:Torus")
    sys.path.insert(0, str(Path.cwd()))
    try:
        make: Callable[..., Any] = getattr(importlib.import_module(module), kind)
        example = make(3)
    except (AttributeError, ImportError, TypeError, ValueError) as error:
        raise ValueError(f"--manifold is {name!r}; {error}") from None
    finally:
        sys.path.pop(0)
    if not isinstance(example, Manifold):
        raise ValueError(f"--manifold is {name!r}; {kind}(dim) must be a timelike.core.Manifold")
    tl.manifolds.MANIFOLDS.setdefault(name, make)
    return make


def beside(model: Path) -> Path:
    """The folder for checkpoints, beside the model."""
    return model.absolute().with_name(f"{model.absolute().name}.checkpoint")


@contextmanager
def keeping(model: Path, resume: bool) -> Iterator[None]:
    """Hold the checkpoint folder against other runs; remove it in the end if it is empty."""
    folder = beside(model)
    folder.mkdir(exist_ok=True)
    with locked(
        folder, busy=f"{folder} is in use by another run with this --out; wait for it, or name another folder"
    ):
        if resume and not any(folder.iterdir()):
            note(f"--resume: {folder} holds no run to continue; training starts from the beginning")
        elif not resume and any(folder.iterdir()):
            note(f"{folder} holds an interrupted run, which starts over; --resume would have continued it")
            for left in folder.iterdir():
                shutil.rmtree(left) if left.is_dir() else left.unlink()
        try:
            yield
        finally:
            if folder.exists() and not any(folder.iterdir()):
                folder.rmdir()
