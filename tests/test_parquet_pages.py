"""The headers of good Parquet files from any writer are accepted; impossible ones are refused."""

import contextlib
import itertools

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from timelike import read
from timelike.io.untrusted_parquet import check_pages, read_table

ROWS = 3000
TABLE = pa.table(
    {
        "source": pa.array(range(ROWS)),
        "name": pa.array([f"g{i % 100}" for i in range(ROWS)]),
        "weight": pa.array([None if i % 3 else i / 7 for i in range(ROWS)]),
        "list": pa.array([[1, 2], [], None] * (ROWS // 3)),
        "yes": pa.array([i % 2 == 0 for i in range(ROWS)]),
        "kind": pa.DictionaryArray.from_arrays([0] * ROWS, [f"x{i}" for i in range(2 * ROWS)]),
    }
)


@pytest.mark.parametrize(
    ("packing", "version", "dictionary", "page"),
    list(itertools.product(["none", "snappy", "zstd"], ["1.0", "2.0"], [True, False], [512, 2**20])),
)
def test_files_of_pyarrow(tmp_path, packing, version, dictionary, page):
    path = tmp_path / "a.parquet"
    pq.write_table(
        TABLE, path, compression=packing, data_page_version=version, use_dictionary=dictionary,
        data_page_size=page, row_group_size=1000, write_page_index=page == 512,
    )  # fmt: skip
    check_pages(path)
    check_pages(path.read_bytes())
    assert read_table(path).height == ROWS


@pytest.mark.parametrize("rows", [0, 1, ROWS])
def test_files_of_polars(tmp_path, rows):
    path = tmp_path / "a.parquet"
    pl.from_arrow(TABLE.slice(0, rows)).write_parquet(path, row_group_size=700)
    check_pages(path)
    pq.write_table(TABLE.slice(0, rows), path)
    assert read_table(path).height == rows


def test_every_cut_is_refused_or_read(tmp_path):
    """A truncated header raises nothing but a `ValueError`."""
    path = tmp_path / "a.parquet"
    pq.write_table(TABLE.slice(0, 3), path)
    data = path.read_bytes()
    for end in range(0, len(data), 7):
        with pytest.raises(ValueError, match="end"):
            check_pages(data[:end])
    footer = int.from_bytes(data[-8:-4], "little")
    for at in range(len(data) - 8 - footer, len(data) - 8, 5):
        with contextlib.suppress(ValueError):
            check_pages(data[:at] + b"\xff" + data[at + 1 :])


@pytest.mark.parametrize("said", [b"\xfe" + 7 * b"\xff" + b"\x0f", b"\x88\x27", b"\x01"])  # 2⁵⁹ − 1, 2500, −1
def test_rows_of_groups_that_cannot_be_true_are_refused(tmp_path, said):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"source": range(2000), "target": range(2000)}).write_parquet(path, row_group_size=1000)
    data = path.read_bytes()
    assert check_pages(data) == [1000, 1000]
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    pages, footer = data[:start], data[start:-8]
    thousand = b"\x16\xd0\x0f"  # a whole number in the field that follows
    at = footer.rindex(thousand)
    footer = footer[:at] + b"\x16" + said + footer[at + len(thousand) :]
    path.write_bytes(pages + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(ValueError, match=r"2,000 rows.*row groups"):
        read(path)
