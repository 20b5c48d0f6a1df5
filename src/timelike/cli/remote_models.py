"""Model folders with a URL: made in a local folder, with copies of model and checkpoints in the store."""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from timelike._util.remote_files import exists, fetch_folder, remove_folder, send_folder, url_of
from timelike.cli.printing import note
from timelike.cli.saved_models import beside

#: Seconds between looks for a new checkpoint to copy.
PAUSE = 5.0


@contextmanager
def local_model(out: Path, resume: bool) -> Iterator[Path]:
    """The local folder in which the model `out` is made: itself, or if it is a URL, a folder of the cache.

    New checkpoints are copied to URL.checkpoint while the block runs, and the model to the URL at its end.
    """
    url = url_of(out)
    if url is None:
        yield out
        return
    local = _cache() / hashlib.sha256(url.encode()).hexdigest()[:16] / url.rpartition("/")[2]
    local.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(local, ignore_errors=True)
    kept, stored = beside(local), f"{url}.checkpoint"
    if resume and not (kept.is_dir() and any(kept.iterdir())) and exists(stored):
        kept.mkdir(exist_ok=True)
        fetch_folder(stored, kept)
    with _copying(kept, stored):
        yield local
    from timelike._util.checksums import SUMS
    from timelike.embedding.model_folder import MODEL

    if (local / MODEL).exists():
        send_folder(local, url, last=(SUMS, MODEL))
        if exists(stored):
            remove_folder(stored)
        shutil.rmtree(local.parent, ignore_errors=True)


@contextmanager
def _copying(folder: Path, url: str) -> Iterator[None]:
    """Copy the files of a folder to a URL whenever they have changed, and at the end of the block."""
    ended, seen = threading.Event(), [""]

    def copy() -> None:
        files = sorted(folder.glob("*.safetensors")) if folder.is_dir() else []
        now = repr([(file.name, file.stat().st_mtime_ns) for file in files])
        if files and now != seen[0]:
            send_folder(folder, url)
            seen[0] = now

    def watch() -> None:
        while not ended.wait(PAUSE):
            try:
                copy()
            except OSError as error:  # the run goes on; the next look tries again
                note(f"the checkpoint could not be copied ({error})")

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        copy()


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "timelike" / "remote"
