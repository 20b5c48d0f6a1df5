"""Write files and folders atomically; store arrays with JSON metadata in files that cannot run code."""

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
except ImportError:  # Windows lacks these locks
    fcntl = None  # type: ignore[assignment]

#: Errors of folders that cannot be locked: on some network file systems, or without permission to list them.
NO_LOCKS = (errno.ENOLCK, errno.EBADF, errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EACCES)

#: The end of an error message about a file that could not be replaced.
UNTOUCHED = "; nothing was written there"

#: Largest description of a model or a run, in bytes; a longer one can only be meant to exhaust memory.
LARGEST_TEXT = 2**22

#: Key of the checksums in the header of a file of arrays.
CHECKSUMS = "crc32"

#: Table rows converted to text at a time.
ROWS = 1 << 16


@contextmanager
def replacing(path: str | os.PathLike) -> Iterator[Path]:
    """Yield a temporary file to write to; it replaces `path` when the block ends.

    A crash leaves the old file or the new one, never a partial one. Each writer uses a folder of its own
    beside `path`, so concurrent writers do not collide. Leftovers of killed writers are removed.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file")
    if path.exists() and not path.is_file():  # such as /dev/null, which must not be replaced
        raise FileExistsError(f"{path} exists and is not a regular file; choose another name")
    with _errors_about(path), _part_folder(path) as folder:
        part = folder / path.name
        yield part
        sync(part)
        os.replace(part, path)
        sync(path.absolute().parent)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder beside `path` to fill; it replaces `path` when the block ends.

    After a crash between the two renames, `reading_folder` still finds the old folder.
    """
    new, old = _sibling(path, "new"), _sibling(path, "old")
    with _errors_about(path), locked(path.absolute().parent):
        for leftover in (new, *([old] if path.exists() else [])):
            shutil.rmtree(leftover, ignore_errors=True)
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
    """Yield the location of a folder written by `replacing_folder`, and prevent its replacement meanwhile.

    This is `path`, or after a crash the folder that was there before.
    """
    beside, old = path.absolute().parent, _sibling(path, "old")
    with locked(beside, shared=True) if beside.is_dir() else contextlib.nullcontext():
        yield old if not path.exists() and old.is_dir() else path


def _sibling(path: Path, suffix: str) -> Path:
    return path.absolute().with_name(f".{path.absolute().name}.{suffix}")


@contextmanager
def locked(folder: Path, shared: bool = False, busy: str | None = None) -> Iterator[None]:
    """Lock a folder against other processes, or only against writers if `shared`.

    Waits until the folder is free, or raises `busy` at once. The system releases the lock if this process
    dies. Does nothing on systems without such locks.
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
def _part_folder(path: Path) -> Iterator[Path]:
    """Yield a new locked folder beside `path`, removed at the end; remove those of dead processes first."""
    beside = path.absolute().parent
    for leftover in glob.glob(f".{glob.escape(path.name)}.*.part", root_dir=beside) if fcntl else ():
        with contextlib.suppress(OSError), locked(beside / leftover, busy="in use"):
            shutil.rmtree(beside / leftover)
    folder = beside / f".{path.name}.{secrets.token_hex(4)}.part"
    folder.mkdir()
    try:
        with locked(folder):
            folder.mkdir(exist_ok=True)  # before the lock, another process may have removed it as a leftover
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _errors_about(path: Path) -> Iterator[None]:
    """Let system errors name the file that could not be written, and say that it is unchanged."""
    try:
        yield
    except Exception as error:
        code, reason, file = errno.EIO, " ".join(str(error).split()), None
        if isinstance(error, OSError) and error.errno is not None:
            code, reason, file = error.errno, str(error.strerror), error.filename
        elif "os error" not in reason:  # the wording of libraries written in Rust
            raise
        if file is not None and f".{path.name}." not in str(file):  # the error concerns another file
            raise
        raise OSError(code, reason.removesuffix(UNTOUCHED) + UNTOUCHED, str(path)) from error


def sync(path: Path) -> None:
    """Flush a file, or the entries of a folder, to disk (POSIX only)."""
    if os.name != "posix":
        return
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def read_text(path: Path) -> str:
    """Read a short text, such as a description in JSON or TOML."""
    with open(path, "rb") as file:  # a device such as /dev/zero has no size and no end
        text = file.read(LARGEST_TEXT + 1)
    check_length("its text", max(len(text), path.stat().st_size))
    return text.decode()


def check_length(what: str, size: int) -> None:
    """Raise a `ValueError` if a text is longer than `LARGEST_TEXT`."""
    if size > LARGEST_TEXT:
        raise ValueError(f"{what} has {size:,} bytes; it may have at most {LARGEST_TEXT:,}")


def write_rows(frame: polars.DataFrame, file: IO[bytes], header: bool = True, **options: Any) -> None:
    """Write a table as text, in pieces.

    Polars does not write the file itself: on a full disk, versions before 1.44 silently lose the last rows.
    """
    for start in range(0, max(frame.height, 1), ROWS):
        buffer = io.BytesIO()
        frame.slice(start, ROWS).write_csv(buffer, include_header=header and start == 0, **options)
        file.write(buffer.getvalue())


def write_tensors(path: Path, tensors: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Write arrays and JSON metadata `about` them."""
    with replacing(path) as part:
        save_tensors(part, tensors, about)


def read_tensors(path: Path, what: str, cure: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read arrays and metadata; the error for an unreadable file says `what` was expected and the `cure`."""
    try:
        return load_tensors(path)
    except FileNotFoundError:
        raise
    except (OSError, RecursionError, ValueError) as error:
        raise ValueError(f"{path} is not a readable {what} ({error}); {cure}") from None


def save_tensors(file: Path, tensors: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Write a safetensors file with a checksum of every array in its metadata.

    The library would copy the arrays, and one may be a file mapped into memory and larger than it. Like the
    library, this puts the widest numbers first.
    """
    named = ((name, np.asarray(x, order="C")) for name, x in tensors.items())
    arrays = dict(sorted(named, key=lambda item: (-item[1].itemsize, item[0])))
    metadata = {**about, CHECKSUMS: {name: _checksum(x) for name, x in arrays.items()}}
    texts = {key: json.dumps(value, sort_keys=True) for key, value in metadata.items()}
    header: dict[str, Any] = {"__metadata__": texts}
    end = 0
    for name, x in arrays.items():
        kind = "BOOL" if x.dtype == bool else f"{x.dtype.kind.upper()}{8 * x.itemsize}"
        header[name] = {"dtype": kind, "shape": x.shape, "data_offsets": [end, end := end + x.nbytes]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    with open(file, "wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for x in arrays.values():
            out.write(x.reshape(-1).view(np.uint8).data)


def load_tensors(file: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read a safetensors file; raise a `ValueError` if it is broken or an array fails its checksum.

    Files written by other programs have no checksums.
    """
    from safetensors import SafetensorError, safe_open

    with open(file, "rb") as start:
        check_length("its header", int.from_bytes(start.read(8), "little"))
    try:
        with safe_open(file, framework="numpy") as data:
            about = {key: json.loads(text) for key, text in (data.metadata() or {}).items()}
            tensors = {name: data.get_tensor(name) for name in data.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise ValueError(str(error)) from None
    checksums = about.pop(CHECKSUMS, {})
    for name in tensors.keys() & checksums if isinstance(checksums, dict) else ():
        if checksums[name] != _checksum(tensors[name]):
            raise ValueError(f"{name} is damaged: its checksum differs from the one that was written")
    return tensors, about


def _checksum(x: np.ndarray) -> int:
    """CRC-32 of the bytes of an array, which detects any flipped bit."""
    return zlib.crc32(x.reshape(-1).view(np.uint8).data)


@contextmanager
def quiet() -> Iterator[None]:
    """Hold back output to stderr: polars reports some broken files there before it raises."""
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
        held.seek(0)
        os.write(2, held.read())  # no exception, so the output came from elsewhere
