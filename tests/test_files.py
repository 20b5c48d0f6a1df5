"""Files are replaced as a whole, and a place that cannot be written to is found before the work."""

import os

import pytest

from timelike._util.atomic_files import replacing
from timelike._util.checks import output_path


def test_a_file_is_replaced_when_it_is_whole(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("old")
    with replacing(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_what_fails_leaves_the_old_file_and_no_other(tmp_path):
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


def test_what_is_no_plain_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with (
        pytest.raises(FileExistsError, match="pipe is there and no plain file"),
        replacing(tmp_path / "pipe"),
    ):
        pass
    assert (tmp_path / "pipe").is_fifo()


def test_two_writers_do_not_meet(tmp_path):
    path = tmp_path / "x.txt"
    with replacing(path) as one, replacing(path) as two:
        one.write_text("one")
        two.write_text("two")
    assert path.read_text() == "one"


def test_places_that_cannot_be_written_to(tmp_path):
    assert output_path("out", tmp_path / "x.TSV", (".tsv",)) == tmp_path / "x.TSV"
    with pytest.raises(ValueError, match=r"out is x.jpg; its ending must be one of \.tsv, \.csv"):
        output_path("out", "x.jpg", (".tsv", ".csv"))
    with pytest.raises(FileNotFoundError, match=r"out is .*; there is no folder .*no, make it first"):
        output_path("out", tmp_path / "no" / "x.tsv")
    with pytest.raises(IsADirectoryError, match="is a folder; name a file"), replacing(tmp_path):
        pass
