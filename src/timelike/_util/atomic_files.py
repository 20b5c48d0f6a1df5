"""Files and folders written whole or not at all; files of arrays with a little JSON, which run no code."""

from __future__ import annotations

import contextlib
import errno
import glob
import io
import json
import os
import secrets
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import polars

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

#: Errors where a folder cannot be locked: some network file systems, folders that may not be listed.
NO_LOCKS = (errno.ENOLCK, errno.EBADF, errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EACCES)

#: What an error says of a file that could not be replaced.
UNTOUCHED = "; nothing was written there"

#: Bytes of a text that says what a model or a run is; a larger one is there to fill the memory.
LARGEST_TEXT = 2**22

#: Where the header of a file of arrays has their checksums.
CHECKSUMS = "crc32"

#: Rows of a table that are made text at a time.
ROWS = 1 << 16


@contextmanager
def replacing(path: str | os.PathLike) -> Iterator[Path]:
    """A file to write to, which takes the place of `path` in the end.

    A crash leaves the old file or the new one, never half of one. The new one is written in a folder of
    its own beside `path`, so that writers do not meet; what killed writers have left there is removed.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file")
    if path.exists() and not path.is_file():  # such as /dev/null, which is not to be replaced
        raise FileExistsError(f"{path} is there and no plain file; name another")
    with _naming(path), _workshop(path) as folder:
        part = folder / path.name
        yield part
        sync(part)
        os.replace(part, path)
        sync(path.absolute().parent)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """The same for a folder: one beside `path` to fill, which then takes its place.

    Should a crash fall between the two renames of a replacement, `reading_folder` finds the old one.
    """
    new, old = _sibling(path, "new"), _sibling(path, "old")
    with _naming(path), locked(path.absolute().parent):
        for left in (new, *([old] if path.exists() else [])):
            shutil.rmtree(left, ignore_errors=True)
        try:
            new.mkdir()
            yield new
            for part in (*new.rglob("*"), new):
                sync(part)
            if path.exists():
                os.replace(path, old)
            os.replace(new, path)
            sync(path.absolute().parent)
        finally:
            shutil.rmtree(new, ignore_errors=True)
            if not path.exists() and old.exists():
                os.replace(old, path)
        shutil.rmtree(old, ignore_errors=True)


@contextmanager
def reading_folder(path: Path) -> Iterator[Path]:
    """Where a folder is that `replacing_folder` wrote, which is not replaced in the meantime.

    It is `path`, or after a crash what was there before.
    """
    beside, old = path.absolute().parent, _sibling(path, "old")
    with locked(beside, shared=True) if beside.is_dir() else contextlib.nullcontext():
        yield old if not path.exists() and old.is_dir() else path


def _sibling(path: Path, suffix: str) -> Path:
    return path.absolute().with_name(f".{path.absolute().name}.{suffix}")


@contextmanager
def locked(folder: Path, shared: bool = False, busy: str | None = None) -> Iterator[None]:
    """Keep other processes out of a folder, or writers only if `shared`; the system lets go if we die.

    Waits until it is free, or raises `busy` at once. Does nothing where the system has no such locks.
    """
    with contextlib.ExitStack() as stack:
        try:
            if fcntl is not None:
                number = os.open(folder, os.O_RDONLY)
                stack.callback(os.close, number)
                kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
                fcntl.flock(number, kind if busy is None else kind | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(busy) from None
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
        yield


@contextmanager
def _workshop(path: Path) -> Iterator[Path]:
    """A new locked folder beside `path`, removed in the end; those of dead processes are removed now."""
    beside = path.absolute().parent
    for left in glob.glob(f".{glob.escape(path.name)}.*.part", root_dir=beside) if fcntl else ():
        with contextlib.suppress(OSError), locked(beside / left, busy="in use"):
            shutil.rmtree(beside / left)
    folder = beside / f".{path.name}.{secrets.token_hex(4)}.part"
    folder.mkdir()
    try:
        with locked(folder):
            folder.mkdir(exist_ok=True)  # somebody may have taken it for a dead one before it was locked
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Errors of the system inside say which file could not be written, and that it is as it was."""
    try:
        yield
    except Exception as error:
        code, reason, file = errno.EIO, " ".join(str(error).split()), None
        if isinstance(error, OSError) and error.errno is not None:
            code, reason, file = error.errno, str(error.strerror), error.filename
        elif "os error" not in reason:  # so libraries in Rust report them
            raise
        if file is not None and f".{path.name}." not in str(file):  # it is about another file
            raise
        raise OSError(code, reason.removesuffix(UNTOUCHED) + UNTOUCHED, str(path)) from error


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, on the disk itself, where the system can do that by name."""
    if os.name != "posix":
        return
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def read_text(path: Path) -> str:
    """A short text, such as JSON or TOML that says what something is."""
    check_length("its text", path.stat().st_size)
    return path.read_text(encoding="utf-8")


def check_length(what: str, size: int) -> None:
    """Refuse a text of too many bytes."""
    if size > LARGEST_TEXT:
        raise ValueError(f"{what} has {size:,} bytes; it may have {LARGEST_TEXT:,}")


def check_header(file: Path) -> None:
    """Refuse a safetensors file whose header, which is JSON, is too long to be of a model or a run."""
    with open(file, "rb") as data:
        check_length("its header", int.from_bytes(data.read(8), "little"))


def write_rows(frame: polars.DataFrame, file: IO[bytes], header: bool = True, **options: Any) -> None:
    """Write a table as text, in pieces.

    By our own hands: where the disk is full polars before 1.44 loses the last rows and says nothing.
    """
    for start in range(0, max(frame.height, 1), ROWS):
        buffer = io.BytesIO()
        frame.slice(start, ROWS).write_csv(buffer, include_header=header and start == 0, **options)
        file.write(buffer.getvalue())


def write_tensors(path: Path, tensors: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Write arrays, and JSON `about` them."""
    with replacing(path) as part:
        save_tensors(part, tensors, about)


def read_tensors(path: Path, what: str, cure: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays of a file and what is said about them; a file that is not `what` is an error with a cure."""
    try:
        return load_tensors(path)
    except FileNotFoundError:
        raise
    except (OSError, RecursionError, ValueError) as error:
        raise ValueError(f"{path} is not a readable {what} ({error}); {cure}") from None


def save_tensors(file: Path, tensors: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Make a safetensors file, with a checksum of every array beside what is said about them."""
    from safetensors.numpy import save_file

    arrays = {name: np.asarray(x, order="C") for name, x in tensors.items()}
    said = {**about, CHECKSUMS: {name: _checksum(x) for name, x in arrays.items()}}
    file.touch()
    mode = file.stat().st_mode  # as any new file has, which safetensors makes the owner's alone
    save_file(arrays, file, {key: json.dumps(value, sort_keys=True) for key, value in said.items()})
    file.chmod(mode)


def load_tensors(file: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read it back; a `ValueError` tells of one that is broken, or not as it was written.

    A file that others have made has no checksums.
    """
    from safetensors import SafetensorError, safe_open

    check_header(file)
    try:
        with safe_open(file, framework="numpy") as data:
            about = {key: json.loads(text) for key, text in (data.metadata() or {}).items()}
            tensors = {name: data.get_tensor(name) for name in data.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise ValueError(str(error)) from None
    checksums = about.pop(CHECKSUMS, {})
    for name in tensors.keys() & checksums if isinstance(checksums, dict) else ():
        if checksums[name] != _checksum(tensors[name]):
            raise ValueError(f"{name} is damaged: its checksum is not the one that was written")
    return tensors, about


def _checksum(x: np.ndarray) -> int:
    """CRC-32 of the bytes of an array, which is another after any flipped bit."""
    return zlib.crc32(x.reshape(-1).view(np.uint8).data)


@contextmanager
def quiet() -> Iterator[None]:
    """Hold back what is written to stderr: polars reports some broken files there before it raises."""
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
        held.seek(0)
        os.write(2, held.read())  # nothing was raised, so it is somebody else's
