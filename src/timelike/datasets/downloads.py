"""Published data files: found in a local folder or downloaded once into a cache, verified by checksum."""

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

    It is looked up as `folder/name` and as `name`. `sha256` is None if copies differ in their bytes. `url`
    is the download address, if any; if that is an archive (.zip or .deb), `archive` is the archive's checksum
    ("sha256:…", "md5:…"). `installed` is the folder where a package of the operating system puts the file.
    """

    folder: str
    name: str
    sha256: str | None
    home: str
    url: str | None = None
    archive: str | None = None
    installed: str | None = None


def cache() -> Path:
    """Return the user's folder of downloaded files."""
    import pooch

    return Path(pooch.os_cache("timelike"))


def locate(file: Published, data_dir: str | os.PathLike | None = None) -> Path:
    """Return the path of a file in `data_dir`, `$TIMELIKE_DATA` or the cache; download it if necessary."""
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
            f"remove it, or replace it with the file from {file.home}"
        )


def _download(file: Published) -> Path:
    """Download a file into the cache; if that fails, say where to get it and where to put it."""
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
        why = f"the download from {file.url} failed ({reason})"
        raise FileNotFoundError(_missing(file, why)) from None
    _verify(f"{file.name} in {fetched}", content, file)
    path = place / file.name
    with replacing(path) as part:
        part.write_bytes(content)
    return path


def _fetch(url: str, known_hash: str, folder: Path) -> Path:
    """Download with a progress bar on a terminal, without pooch's own messages."""
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
        f"Get it from {file.home} and put it into {cache() / file.folder}, or into a folder that "
        f"data_dir or ${VARIABLE} names."
    )


def _member(archive: Path, name: str) -> bytes:
    """Return the content of the file `name` in any folder of a .zip or .deb archive."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as files:
            for path in files.namelist():
                if path.rsplit("/", 1)[-1] == name:
                    return files.read(path)
    else:
        with tarfile.open(fileobj=io.BytesIO(_deb_data(archive.read_bytes()))) as tar:
            for entry in tar:
                if entry.name.rsplit("/", 1)[-1] == name and (stream := tar.extractfile(entry)):
                    return stream.read()
    raise LookupError(f"{archive.name} does not contain {name}")


def _deb_data(package: bytes) -> bytes:
    """Return data.tar.* from a Debian package, an `ar` archive: 60-byte headers, parts of even length."""
    at = len(b"!<arch>\n")
    while at < len(package):
        label, size = package[at : at + 16], int(package[at + 48 : at + 58])
        if label.startswith(b"data.tar"):
            return package[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
    raise LookupError("the Debian package has no data.tar")
