"""Files are found locally or downloaded by checksum; a missing or changed file gives a one-line error."""

import dataclasses
import hashlib
import io
import re
import subprocess
import sys
import tarfile
import zipfile

import pytest

from timelike.datasets import load
from timelike.datasets.downloads import Published, cache, locate

# pooch leaves the closing of its connections to the garbage collector
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

TEXT = b"G1\tG2\t1\n"
SHA256 = hashlib.sha256(TEXT).hexdigest()
HOME = "https://example.org/data"
FILE = Published("some", "file.tsv", SHA256, HOME)


def put(folder, content: bytes = TEXT):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "file.tsv").write_bytes(content)
    return folder / "file.tsv"


def complaint(file: Published, data_dir=None, error=FileNotFoundError) -> str:
    with pytest.raises(error) as caught:
        locate(file, data_dir)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_order_of_folders(tmp_path, monkeypatch):
    system = put(tmp_path / "system")
    file = Published("some", "file.tsv", SHA256, HOME, installed=str(tmp_path / "system"))
    assert locate(file) == system
    cached = put(cache() / "some")
    assert locate(file) == cached
    named = put(tmp_path / "variable")
    monkeypatch.setenv("TIMELIKE_DATA", str(tmp_path / "variable"))
    assert locate(file) == named
    empty = tmp_path / "empty"
    empty.mkdir()
    assert locate(file, empty) == named
    given = put(tmp_path / "given" / "some")
    assert locate(file, tmp_path / "given") == given


def test_the_error_for_a_missing_file_says_where_to_get_it_and_where_to_put_it(alone):
    message = complaint(FILE)
    for part in ("file.tsv", SHA256, HOME, "$TIMELIKE_DATA", "data_dir", str(alone / "some")):
        assert part in message


def test_folders_that_do_not_exist(tmp_path, monkeypatch):
    assert "data_dir is" in complaint(FILE, tmp_path / "nowhere")
    monkeypatch.setenv("TIMELIKE_DATA", str(tmp_path / "gone"))
    assert "$TIMELIKE_DATA is" in complaint(FILE)


def test_a_changed_file_is_refused(tmp_path):
    path = put(tmp_path, TEXT + b"G1\tG3\t1\n")
    message = complaint(FILE, tmp_path, ValueError)
    assert str(path) in message
    assert SHA256 in message
    assert HOME in message


def test_download_once(server):
    folder, address = server
    served = put(folder)
    file = Published("some", "file.tsv", SHA256, HOME, f"{address}/file.tsv")
    path = locate(file)
    assert path == cache() / "some" / "file.tsv"
    assert path.read_bytes() == TEXT
    served.unlink()
    assert locate(file) == path


def test_download_of_something_else_is_refused(server):
    folder, address = server
    put(folder, b"something else")
    file = Published("some", "file.tsv", SHA256, HOME, f"{address}/file.tsv")
    assert re.search(rf"{address}/file.tsv .*\(ValueError", complaint(file))
    assert not (cache() / "some" / "file.tsv").exists()


def test_address_that_is_gone(server):
    file = Published("some", "file.tsv", SHA256, HOME, f"{server[1]}/file.tsv")
    assert "404" in complaint(file)


def zipped() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a/b/._file.tsv", b"no")
        archive.writestr("a/b/file.tsv", TEXT)
    return stream.getvalue()


def debian() -> bytes:
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w:xz") as archive:
        entry = tarfile.TarInfo("./usr/share/file.tsv")
        entry.size = len(TEXT)
        archive.addfile(entry, io.BytesIO(TEXT))
    package = b"!<arch>\n"
    for name, part in (
        ("debian-binary", b"2.0"),
        ("control.tar.xz", b"12345"),
        ("data.tar.xz", tar.getvalue()),
    ):
        package += f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(part):<10}`\n".encode() + part
        package += b"\n" * (len(part) % 2)
    return package


@pytest.mark.parametrize(("ending", "make"), [("zip", zipped), ("deb", debian)])
def test_files_in_archives(server, ending, make):
    folder, address = server
    archive = make()
    (folder / f"all.{ending}").write_bytes(archive)
    known = f"md5:{hashlib.md5(archive).hexdigest()}"
    file = Published("some", "file.tsv", SHA256, HOME, f"{address}/all.{ending}", known)
    assert locate(file).read_bytes() == TEXT
    absent = dataclasses.replace(file, name="other.tsv", sha256=None)
    assert re.search(rf"all\.{ending} .*other\.tsv", complaint(absent))
    changed = dataclasses.replace(file, sha256="0" * 64)
    assert "0" * 64 in complaint(changed, error=ValueError)
    (cache() / "some" / "file.tsv").unlink()
    assert f"file.tsv in {cache()}" in complaint(changed, error=ValueError)


@pytest.mark.parametrize("name", ["dream5:ecoli", "dream5:yeast"])
def test_offline_and_missing(name, alone):
    with pytest.raises(FileNotFoundError) as caught:
        load(name)
    message = str(caught.value)
    assert "\n" not in message
    for part in ("sha256", "GoldStandard", "10.5281/zenodo.17854236", str(alone / "dream5"), "TIMELIKE_DATA"):
        assert part in message


def test_data_sets_load_without_polars_pooch_and_scipy():
    program = (
        "import sys\n"
        "import timelike as tl\n"
        "assert tl.datasets.load('tree:2,3').num_nodes == 15\n"
        "assert not {'polars', 'pooch', 'scipy', 'pyarrow', 'jax'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
