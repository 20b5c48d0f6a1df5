"""Kill a writer before every single step: `python crash_points.py FOLDER`, for a file and for a folder.

Prints how many points there were for each. Needs nothing but `timelike._util.atomic_files`, so it is quick.
"""

import os
import signal
import sys
from pathlib import Path

from timelike._util.atomic_files import reading_folder, replacing, replacing_folder


def write_file(path: Path, text: str) -> None:
    with replacing(path) as part:
        part.write_text(text)


def write_folder(path: Path, text: str) -> None:
    with replacing_folder(path) as new:
        for name in "ab":
            (new / name).write_text(text)


def read_folder(path: Path) -> str:
    with reading_folder(path) as folder:
        first, second = ((folder / name).read_text() for name in "ab")
    assert first == second
    return first


def die_at(point: int, folder: Path) -> None:
    """Kill this process just before its n-th operation on a file in the folder."""
    left = [point]

    def see(event: str, arguments: tuple) -> None:
        if event.split(".")[0] in ("open", "os", "shutil", "fcntl") and str(folder) in str(arguments[:2]):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(see)


def main(home: Path) -> None:
    for write, read in ((write_file, Path.read_text), (write_folder, read_folder)):
        path, point, code = home / write.__name__, 0, 1
        write(path, "old" * 10_000)
        while code:
            point += 1
            number = os.fork()
            if not number:
                die_at(point, home)
                write(path, "new" * 10_000)
                os._exit(0)
            code = os.waitpid(number, 0)[1]
            assert read(path) in ("old" * 10_000, "new" * 10_000)
        write(path, "last")
        assert read(path) == "last"
        print(point - 1)
    assert sorted(p.name for p in home.iterdir()) == ["write_file", "write_folder"]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
