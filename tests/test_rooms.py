"""The house: each folder of `src/timelike` is a room that says what it may import, and imports no more."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import timelike

ROOT = Path(timelike.__file__).parent
ROOMS = sorted(folder.name for folder in ROOT.iterdir() if (folder / "__init__.py").exists())
#: Modules that lie outside of every room: the package itself, and `python -m timelike`.
HALL = {"__init__.py", "__main__.py", "_version.py"}


def declared(room: str) -> set[str]:
    """What the docstring of a room says that it may import."""
    said = ast.get_docstring(ast.parse((ROOT / room / "__init__.py").read_text(encoding="utf-8"))) or ""
    found = re.search(r"May import: (.*?)\.(?: |$)", " ".join(said.split()))
    assert found, f"{room}/__init__.py does not say what the room may import"
    words = found[1]
    if words == "every other room":
        return {*ROOMS} - {room}
    return set() if words == "nothing" else {*words.split(", ")}


def imported(room: str) -> set[str]:
    """The rooms that some module of a room imports, within functions and for type checkers too."""
    found = set()
    for file in (ROOT / room).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{file}: relative imports hide the room"
                names = [str(node.module)]
                if node.module == "timelike":
                    names = [f"timelike.{alias.name}" for alias in node.names]
            found |= {name.split(".")[1] for name in names if name.startswith("timelike.")}
    return found - {room, "_version"}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_what_it_declares(room):
    assert declared(room) <= {*ROOMS}
    assert imported(room) == declared(room) & imported(room)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_declares_no_more_than_it_imports(room):
    if declared(room) != {*ROOMS} - {room}:
        assert declared(room) == imported(room)


def test_rooms_have_an_order():
    """No cycle between rooms: again and again, a room all of whose imports are placed can be placed."""
    left = {room: declared(room) for room in ROOMS}
    while left:
        ready = [room for room, needs in left.items() if not needs & left.keys()]
        assert ready, f"these rooms import each other: {', '.join(left)}"
        for room in ready:
            del left[room]


def test_the_hall_is_small():
    assert {file.name for file in ROOT.glob("*.py")} == HALL


def test_no_file_name_is_used_twice():
    names = Counter(
        file.name for file in ROOT.rglob("*.py") if file.name not in ("__init__.py", "__main__.py")
    )
    assert [name for name, count in names.items() if count > 1] == []
