"""Files of object stores, by URL (`s3://`, `gs://`, `abfs://`) through fsspec; every failure is one line."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: Schemes that fsspec opens, and the package that each needs besides.
SCHEMES = {
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "abfs": "adlfs",
    "abfss": "adlfs",
    "az": "adlfs",
    "http": "aiohttp",
    "https": "aiohttp",
    "memory": "fsspec",
}
URL = re.compile(rf"({'|'.join(SCHEMES)}):/{{1,2}}(?=[^/])")


def url_of(path: Any) -> str | None:
    """The URL that a text or a path spells, None for a local path. (A `Path` of a URL has lost a slash.)"""
    if not isinstance(path, str | os.PathLike):
        return None
    text = os.fspath(path)
    start = URL.match(text) if isinstance(text, str) else None
    return None if start is None else f"{start[1]}://{text[start.end() :].rstrip('/')}"


@contextmanager
def opened(url: str) -> Iterator[tuple[Any, str]]:
    """The file system of a URL, and the path in it; errors inside are one line that names the URL."""
    scheme = url.partition(":")[0]
    try:
        import fsspec

        yield fsspec.core.url_to_fs(url)
    except ImportError as error:
        need = f"{scheme}:// needs {SCHEMES[scheme]}: pip install 'timelike[remote]'"
        raise ImportError(f"{url}: {need} ({_line(error)})") from None
    except FileNotFoundError:
        raise FileNotFoundError(f"{url}: there is no such file, folder or bucket") from None
    except PermissionError as error:
        raise PermissionError(f"{url}: access denied; check the credentials ({_line(error)})") from None
    except (ValueError, OSError) as error:
        raise OSError(f"{url}: {_line(error)}") from None
    except Exception as error:  # every store has exceptions of its own, some without a common base
        raise OSError(f"{url}: {type(error).__name__}: {_line(error)}") from None


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]


def listed(url: str) -> list[str]:
    """The files that a URL names: itself, those that match its `*`, or all below it as a folder; sorted."""
    with opened(url) as (fs, path):
        fs.invalidate_cache()
        if any(sign in path for sign in "*?["):
            found = [name for name in fs.glob(path) if not fs.isdir(name)]
        else:
            found = [path] if fs.isfile(path) else fs.find(path)
        if not found:
            raise FileNotFoundError(path)
        return [fs.unstrip_protocol(name) for name in sorted(found)]


def fetch(urls: Sequence[str], files: Sequence[Path]) -> None:
    """Copy each of the URLs, of one store, to a local file."""
    if urls:
        with opened(urls[0]) as (fs, _):
            fs.get([fs._strip_protocol(url) for url in urls], [str(file) for file in files])


def fetch_folder(url: str, folder: Path) -> None:
    """Copy the files directly below a URL to a local folder."""
    urls = [one for one in listed(url) if one.rpartition("/")[0] == url]
    fetch(urls, [folder / one.rpartition("/")[2] for one in urls])


#: Local copies of remote folders: URL → what was there, and the copy.
_COPIES: dict[str, tuple[str, tempfile.TemporaryDirectory]] = {}


def local_copy(url: str) -> Path:
    """A local copy of the files directly below a URL; it is made anew if they have changed meanwhile."""
    with opened(url) as (fs, path):
        fs.invalidate_cache()
        if not fs.exists(path):
            raise FileNotFoundError(path)
        stamp = repr(sorted((x["name"], x["size"], _changed(x)) for x in fs.ls(path, detail=True)))
    if url not in _COPIES or _COPIES[url][0] != stamp:
        folder = tempfile.TemporaryDirectory(prefix="timelike-")
        fetch_folder(url, Path(folder.name))
        _COPIES[url] = stamp, folder
    return Path(_COPIES[url][1].name)


def _changed(entry: dict[str, Any]) -> str:
    """What tells one version of a file from another."""
    keys = ("ETag", "etag", "md5Hash", "LastModified", "last_modified", "created", "mtime")
    return repr([str(entry[key]) for key in keys if key in entry])


def send_folder(folder: Path, url: str, last: Sequence[str] = ()) -> None:
    """Copy the files of a local folder to a URL, and remove others there.

    The `last` files, without which a folder is nothing, are removed first and written at the end: whatever
    interrupts, nothing half-written looks complete.
    """
    names = sorted(file.name for file in folder.iterdir() if file.is_file())
    with opened(url) as (fs, path):
        fs.invalidate_cache()
        below = fs.find(path) if fs.exists(path) else []
        there = [name for name in below if name.rpartition("/")[0] == path]
        gone = [name for name in there if name.rpartition("/")[2] in last]
        gone += [name for name in there if name.rpartition("/")[2] not in (*names, *last)]
        if gone:
            fs.rm(gone)
        for name in sorted(names, key=lambda name: last.index(name) if name in last else -1):
            fs.put_file(str(folder / name), f"{path}/{name}")
        fs.invalidate_cache()


def remove_folder(url: str) -> None:
    """Remove all files below a URL, if there are any."""
    with opened(url) as (fs, path):
        fs.invalidate_cache()
        if fs.exists(path):
            fs.rm(path, recursive=True)


def exists(url: str) -> bool:
    """Whether there is a file at a URL, or any below it."""
    with opened(url) as (fs, path):
        fs.invalidate_cache()
        return bool(fs.exists(path))
