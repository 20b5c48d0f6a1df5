"""Text in UTF-16 and Windows-1252, Excel workbooks, comments that look like edges, and columns of signs."""

import io
import zipfile

import openpyxl
import polars as pl
import pytest

from timelike import read
from timelike.io import names_in
from timelike.io.reading import read_pairs

ROWS = [("Müller", "José"), ("José", "žluť"), ("a", "b")]
TEXT = "".join(f"{s}\t{t}\r\n" for s, t in ROWS)


def edges(graph) -> list[tuple]:
    return [(graph.name(s), graph.name(t)) for s, t in zip(graph.sources, graph.targets, strict=True)]


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("times", [1, 3000])  # less than a first look, and many of its blocks
def test_unicode_is_recognised(tmp_path, codec, times):
    path = tmp_path / "e.tsv"
    path.write_bytes((TEXT + "x\ty\n" * times).encode(codec))
    graph = read(path)
    assert edges(graph) == [*ROWS, ("x", "y")]
    said = [line for line in graph.notes.lines() if "UTF" in line]
    assert len(said) == codec.startswith("utf-16")


def test_blocks_cut_utf_16_anywhere(tmp_path, monkeypatch):
    monkeypatch.setattr("timelike.io.byte_streams.BLOCK", 7)
    path = tmp_path / "e.tsv"
    path.write_bytes(("🙂\tb\n" * 2500).encode("utf-16"))
    assert read(path).notes.rows == 2500


@pytest.mark.parametrize("before", [0, 500])
def test_windows_1252_is_recognised(tmp_path, monkeypatch, before):
    monkeypatch.setattr("timelike.io.byte_streams.BLOCK", 2**10)
    path = tmp_path / "e.tsv"
    path.write_bytes(("a\tb\n" * before + "Müller\t“x”\n" + "é\tü\n" * 500).encode("cp1252"))
    graph = read(path)
    assert {("Müller", "“x”"), ("é", "ü")} <= {*edges(graph)}
    assert "the text is not UTF-8; it was read as Windows-1252 (cp1252)" in graph.notes.lines()
    taken: list[pl.DataFrame] = []
    remarks = read_pairs(str(path), taken.append)
    assert "Müller" in pl.concat(taken)["source"].to_list()
    assert any("1252" in remark for remark in remarks)


def test_one_file_has_one_encoding(tmp_path, monkeypatch):
    monkeypatch.setattr("timelike.io.byte_streams.BLOCK", 16)
    path = tmp_path / "e.tsv"
    path.write_bytes("é\tb\n".encode("cp1252") + b"a\tb\n" * 9 + "é\tb\n".encode())
    with pytest.raises(ValueError, match="line 11: this is UTF-8, but earlier lines are not"):
        read(path)


def workbook(path, sheets: dict[str, list[list]]):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


SHEET = [["TF", "Gene\nSymbol", "sign"], ["lexA", "recA", "+"], [], ["recA", 7.0, "-"], ['a "b"', "#4", "+"]]


def test_excel_workbooks(tmp_path):
    path = workbook(tmp_path / "e.xlsx", {"edges": SHEET, "more": [["a", "b"]]})
    graph = read(path)
    assert edges(graph) == [("lexA", "recA"), ("recA", "7"), ('a "b"', "#4")]
    said = str(graph.notes)
    assert "sheets not read: more" in said
    assert "'sign' holds signs (+, -)" in said
    for sheet in (1, "more"):
        assert edges(read(path, sheet=sheet)) == [("a", "b")]
    with pytest.raises(ValueError, match=r"no sheet 'mor'.*edges, more"):
        read(path, sheet="mor")
    with pytest.raises(ValueError, match=r"sheet is 2; .*edges, more"):
        read(path, sheet=2)
    broken = workbook(tmp_path / "b.xlsx", {"edges": [["source", "target"], ["a", "b"], ["c", None]]})
    with pytest.raises(ValueError, match=r"b.xlsx, line 3: "):
        read(broken)
    assert read(broken, skip_bad_rows=True).notes.bad_rows == 1


def test_odd_workbooks_are_refused(tmp_path):
    path = workbook(tmp_path / "e.xlsx", {"edges": SHEET})
    with zipfile.ZipFile(path) as parts:
        files = {name: parts.read(name) for name in parts.namelist()}

    def changed(change: dict[str, bytes]):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as parts:
            for name, data in {**files, **change}.items():
                parts.writestr(name, data)
        path.write_bytes(out.getvalue())
        return path

    with pytest.raises(ValueError, match="200-fold"):
        read(changed({"xl/media/bomb": bytes(2**27)}))
    sheet = files["xl/worksheets/sheet1.xml"]
    for broken in (sheet[: len(sheet) // 2], sheet.replace(b"</c>", b"", 1), b"", b"<a>" * 9999):
        with pytest.raises(ValueError, match=r"e\.xlsx.*: ") as caught:
            read(changed({"xl/worksheets/sheet1.xml": broken}))
        assert "\n" not in str(caught.value)
    far = sheet.replace(b'r="A2"', b'r="XFD2"').replace(b'r="2"', b'r="99999999999"')
    with pytest.raises(ValueError, match=r"e\.xlsx"):
        read(changed({"xl/worksheets/sheet1.xml": far}))


@pytest.mark.parametrize("rows", [3, 2000])  # the careful path and the fast one
def test_comments_that_look_like_edges_are_counted(tmp_path, rows):
    path = tmp_path / "e.tsv"
    lines = ["#source\ttarget", "# a remark\tb", "#4\ta", *["x\ty"] * rows, "#5\tb", "##\tz", "y\tz"]
    path.write_text("\n".join(lines))
    graph = read(path)
    (remark,) = graph.notes.remarks
    assert remark.startswith("2 lines that look like edges skipped as comments; the first is line 3, '#4")
    everything = read(path, comment="", header=False)
    assert {("#4", "a"), ("#5", "b")} <= {*edges(everything)}
    assert not any("comments" in line for line in everything.notes.lines())
    sif = tmp_path / "e.sif"
    sif.write_text("# a remark of words\n#4 pd x\na pd b\n")
    assert "1 lines that look like edges" in str(read(sif).notes)


def test_a_list_of_names_asks_what_a_hash_means(tmp_path):
    path = tmp_path / "nodes.txt"
    path.write_text('# genes\na\n"#4"\n')
    assert names_in(path) == ["a", "#4"]
    path.write_text("a\n#4\n")
    with pytest.raises(ValueError, match="line 2: '#4' may be a name or a comment"):
        names_in(path)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("lexA\t+\trecA\nrecA\t-\tumuD\n", {}),
        ("lexA\t1\trecA\nrecA\t-1\tumuD\n", {}),
        ("A\teffect\tB\nlexA\tactivator\trecA\nrecA\trepressor\tumuD\n", {}),
        ("TF\teffect\tgene\nlexA\t+\trecA\nrecA\t?\tumuD\n", {}),
        ("lexA\trecA\t+\nrecA\tumuD\t-\n", {}),
        ("source\ttarget\tweight\nlexA\trecA\t1\nrecA\tumuD\t-1\n", {}),
        ("lexA\trecA\t1\nrecA\tumuD\t-1\n", {"columns": (0, 1, 2)}),
    ],
)
def test_signs_are_neither_nodes_nor_weights(tmp_path, text, options):
    path = tmp_path / "e.tsv"
    path.write_text(text)
    rows = [line.split("\t") for line in text.splitlines()]
    tables = [pl.DataFrame(rows, schema=["a", "b", "c"], orient="row")] if rows[0][0] == "lexA" else []
    for source in (path, *tables, *(table.to_pandas() for table in tables)):
        graph = read(source, **options)
        assert edges(graph) == [("lexA", "recA"), ("recA", "umuD")]
        assert graph.weights is None
        assert sum("holds signs" in remark for remark in graph.notes.remarks) == 1
        assert "columns not read" not in str(graph.notes)


def test_other_columns_are_no_signs(tmp_path):
    path = tmp_path / "e.tsv"
    path.write_text("a\tup\tb\nup\tup\tc\n")
    assert ("a", "up") in edges(read(path))
    path.write_text("source\ttarget\tweight\na\tb\t1\nb\tc\t1\n")
    assert read(path).weights.tolist() == [1, 1]
    path.write_text("source\ttarget\tweight\na\tb\t0.5\nb\tc\t-1\n")
    assert read(path).notes.negative_weights == 1
