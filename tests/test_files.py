"""Files are replaced atomically, and an unwritable path is detected before any work is done."""

import os

import pytest

from timelike._util.atomic_files import replacing
from timelike._util.checks import output_path


def test_a_file_is_replaced_once_it_is_complete(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("old")
    with replacing(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_only_the_old_file(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("old")

    def fail():
        with replacing(path) as part:
            part.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_only_regular_files_are_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileExistsError, match="pipe"), replacing(tmp_path / "pipe"):
        pass
    assert (tmp_path / "pipe").is_fifo()


def test_concurrent_writers_do_not_collide(tmp_path):
    path = tmp_path / "x.txt"
    with replacing(path) as one, replacing(path) as two:
        one.write_text("one")
        two.write_text("two")
    assert path.read_text() == "one"


def test_unwritable_paths_are_rejected(tmp_path):
    assert output_path("out", tmp_path / "x.TSV", (".tsv",)) == tmp_path / "x.TSV"
    with pytest.raises(ValueError, match=r"out is x\.jpg.*\.tsv, \.csv"):
        output_path("out", "x.jpg", (".tsv", ".csv"))
    with pytest.raises(FileNotFoundError, match=r"out is .*x\.tsv.*no folder .*no"):
        output_path("out", tmp_path / "no" / "x.tsv")
    with pytest.raises(IsADirectoryError, match=str(tmp_path)), replacing(tmp_path):
        pass
