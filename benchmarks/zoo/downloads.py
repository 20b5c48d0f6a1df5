"""Packages of PyPI, npm and Debian, fetched by name into a cache folder; nothing is installed or executed."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path


class MissingSourceError(Exception):
    """A source of a graph cannot be had; the message says which, and what to do."""


@dataclasses.dataclass(frozen=True)
class Sources:
    """A cache folder for packages, and the folder that holds dream5/, expression/ and wordnet/."""

    cache: Path
    data: Path | None = None

    def data_file(self, name: str) -> Path:
        """A file of the data folder."""
        if self.data is None:
            raise MissingSourceError(f"{name} is needed: pass --data FOLDER or set TIMELIKE_DATA")
        if not (path := self.data / name).is_file():
            raise MissingSourceError(f"{path} is missing; the data folder must hold {name}")
        return path

    def wheel(self, package: str, version: str) -> zipfile.ZipFile:
        """A wheel of PyPI, opened as an archive."""
        pattern = f"{package.replace('-', '_')}-{version}-*.whl"
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        pip += ["--only-binary", ":all:", "--dest", str(self.cache), f"{package}=={version}"]
        return zipfile.ZipFile(self._fetched(pattern, pip, f"{package} {version} of PyPI"))

    def tarball(self, package: str, version: str) -> tarfile.TarFile:
        """A package of npm, opened as an archive."""
        npm = ["npm", "pack", "--silent", "--pack-destination", str(self.cache), f"{package}@{version}"]
        return tarfile.open(self._fetched(f"{package}-{version}.tgz", npm, f"{package} {version} of npm"))

    def unpacked(self, package: str) -> Path:
        """A folder with the files of a Debian package."""
        what = f"the Debian package {package}"
        archive = self._fetched(f"{package}_*.deb", ["apt-get", "--quiet=2", "download", package], what)
        folder = archive.with_suffix("")
        if not folder.is_dir():
            part = folder.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            _run(["dpkg-deb", "-x", str(archive), str(part)], what, self.cache)
            part.rename(folder)
        return folder

    def available(self) -> str:
        """The records of all packages that this machine's Debian release offers."""
        return _run(["apt-cache", "dumpavail"], "Debian's list of packages (apt)", self.cache)

    def _fetched(self, pattern: str, command: Sequence[str], what: str) -> Path:
        self.cache.mkdir(parents=True, exist_ok=True)
        for attempt in range(2):
            if found := sorted(self.cache.glob(pattern)):
                return found[-1]
            if not attempt:
                _run(command, what, self.cache)
        raise MissingSourceError(f"{what} cannot be had: {command[0]} left no {pattern} in {self.cache}")


def _run(command: Sequence[str], what: str, folder: Path) -> str:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingSourceError(f"{what} cannot be had: {error}") from None
    if done.returncode:
        last = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
        raise MissingSourceError(f"{what} cannot be had: {last}")
    return done.stdout
