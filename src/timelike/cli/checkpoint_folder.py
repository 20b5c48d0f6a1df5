"""Where a command keeps what is not done yet: a folder beside the model."""

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
    """Have a folder for checkpoints that no other run writes to; it stays if there is something in it."""
    kept = beside(model)
    kept.mkdir(exist_ok=True)
    with locked(kept, busy=f"{kept} is in use: another run fits --out; wait for it, or name another"):
        if resume and not any(kept.iterdir()):
            note(f"there is no run to continue in {kept}; it begins from the start")
        elif not resume and any(kept.iterdir()):
            note(f"{kept} is of a run that did not end; it is begun again, --resume continues it")
            for left in kept.iterdir():
                shutil.rmtree(left) if left.is_dir() else left.unlink()
        try:
            yield
        finally:
            if kept.exists() and not any(kept.iterdir()):
                kept.rmdir()
