"""Files that others publish: found in a local folder or downloaded once into a cache, known by checksum."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import os
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from timelike._util.atomic_files import replacing

#: The environment variable that names a local folder with data files.
VARIABLE = "TIMELIKE_DATA"


@dataclasses.dataclass(frozen=True)
class Published:
    """A file, its checksum and where it is published.

    It is looked for as `folder/name` and as `name`. `sha256` is None where copies differ in their
    bytes. `url` is where it can be downloaded, if anywhere; if it lies in an archive there (.zip or
    .deb), `archive` is the archive's checksum ("sha256:…", "md5:…").
    """

    folder: str
    name: str
    sha256: str | None
    home: str
    url: str | None = None
    archive: str | None = None
    installed: str | None = None
    """The folder where a package of the operating system puts it."""


def cache() -> Path:
    """The folder of downloaded files: one per user, whatever the project."""
    import pooch

    return Path(pooch.os_cache("timelike"))


def locate(file: Published, data_dir: str | os.PathLike | None = None) -> Path:
    """The path of a file: in `data_dir`, `$TIMELIKE_DATA`, the cache, or downloaded into the cache."""
    for folder in _folders(file, data_dir):
        for path in (folder / file.folder / file.name, folder / file.name):
            if path.is_file():
                _verify(path, path.read_bytes(), file)
                return path
    return _download(file)


def _folders(file: Published, data_dir: str | os.PathLike | None) -> Iterator[Path]:
    for argument, folder in (("data_dir", data_dir), (f"${VARIABLE}", os.environ.get(VARIABLE))):
        if folder:
            if not Path(folder).is_dir():
                raise FileNotFoundError(f"{argument} is {os.fspath(folder)}; there is no such folder")
            yield Path(folder)
    yield cache()
    if file.installed:
        yield Path(file.installed)


def _verify(where: Path | str, content: bytes, file: Published) -> None:
    seen = hashlib.sha256(content).hexdigest()
    if file.sha256 not in (None, seen):
        raise ValueError(
            f"{where} is not the published file: its sha256 is {seen}, not {file.sha256}; "
            f"remove it, or replace it by the one from {file.home}"
        )


def _download(file: Published) -> Path:
    """Fetch a file into the cache, or say where to get it and where to put it."""
    if file.url is None:
        raise FileNotFoundError(_missing(file, "it cannot be downloaded"))
    place = cache() / file.folder
    try:
        fetched = _fetch(file.url, file.archive or f"sha256:{file.sha256}", place)
        if not file.archive:
            return fetched
        content = _member(fetched, file.name)
    except (OSError, ValueError, LookupError) as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:80]}…"
        why = f"it could not be downloaded from {file.url} ({reason})"
        raise FileNotFoundError(_missing(file, why)) from None
    _verify(f"{file.name} in {fetched}", content, file)
    path = place / file.name
    with replacing(path) as part:
        part.write_bytes(content)
    return path


def _fetch(url: str, known_hash: str, folder: Path) -> Path:
    """Download with a progress bar on a terminal, and without pooch's own messages."""
    import pooch

    log = pooch.get_logger()
    level = log.level
    log.setLevel("WARNING")
    try:
        bar = sys.stderr.isatty()
        return Path(pooch.retrieve(url, known_hash, Path(url).name, folder, progressbar=bar))
    finally:
        log.setLevel(level)


def _missing(file: Published, why: str) -> str:
    archive = f" (in an archive with {file.archive})" if file.archive else ""
    checksum = f" (sha256 {file.sha256})" if file.sha256 else archive
    installed = f", {file.installed}" if file.installed else ""
    return (
        f"{file.name}{checksum} is missing: "
        f"it is not in data_dir, ${VARIABLE}, {cache()}{installed}, and {why}. "
        f"It is published at {file.home}. Put it into {cache() / file.folder}, or into any folder named by "
        f"data_dir or by ${VARIABLE}."
    )


def _member(archive: Path, name: str) -> bytes:
    """The content of the file called `name`, in whatever folder of a .zip or .deb archive."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as files:
            inside = next((n for n in files.namelist() if n.rsplit("/", 1)[-1] == name), None)
            if inside is not None:
                return files.read(inside)
    else:
        with tarfile.open(fileobj=io.BytesIO(_deb_data(archive.read_bytes()))) as tar:
            for entry in tar:
                if entry.isfile() and entry.name.rsplit("/", 1)[-1] == name:
                    stream = tar.extractfile(entry)
                    assert stream is not None
                    return stream.read()
    raise LookupError(f"{archive.name} holds no {name}")


def _deb_data(package: bytes) -> bytes:
    """The part data.tar.* of a Debian package, an `ar` archive: headers of 60 bytes, parts of even length."""
    at = len(b"!<arch>\n")
    while at < len(package):
        label, size = package[at : at + 16], int(package[at + 48 : at + 58])
        if label.startswith(b"data.tar"):
            return package[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
    raise LookupError("the Debian package holds no data.tar")
