"""The folder beside a model that keeps an unfinished run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from timelike._util.atomic_files import locked
from timelike.cli.printing import note


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
