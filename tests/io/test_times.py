"""Times of edges from columns and attributes: numbers or dates; repeated edges keep the earliest."""

import datetime as dt
import random

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timelike import DiGraph, read
from timelike.io import edge_lists

ROWS = [("a", "b", 2001), ("b", "c", 1999), ("a", "b", 1990), ("c", "a", 2010)]
DATES = [dt.date(2001, 3, 4), dt.date(1999, 1, 1), dt.date(1990, 12, 31), dt.date(2010, 2, 28)]
FRAME = pl.DataFrame(ROWS, schema=["source", "target", "year"], orient="row")
DATED = FRAME.with_columns(when=pl.Series(DATES))


def seen(graph: DiGraph) -> dict:
    """Edge → time."""
    ends = zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
    return {(graph.name(s), graph.name(t)): x for (s, t), x in zip(ends, graph.times.tolist(), strict=True)}


EARLIEST = {("a", "b"): 1990, ("b", "c"): 1999, ("c", "a"): 2010}
EARLIEST_DATES = dict(
    zip(EARLIEST, (dt.datetime(1990, 12, 31), dt.datetime(1999, 1, 1), dt.datetime(2010, 2, 28)), strict=True)
)


def networkx_graph(frame: pl.DataFrame) -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    for row in frame.iter_rows(named=True):
        graph.add_edge(row.pop("source"), row.pop("target"), **row)
    return graph


def sources(folder) -> list[tuple]:
    """The same edges in every form that can hold times."""
    for ending, separator in (("tsv", "\t"), ("csv", ",")):
        DATED.write_csv(folder / f"e.{ending}", separator=separator)
    DATED.write_parquet(folder / "e.parquet")
    nx.write_graphml_xml(networkx_graph(DATED.with_columns(pl.col("when").cast(str))), folder / "e.graphml")
    texts = DATED.with_columns(pl.col("year", "when").cast(str))
    return [
        *(folder / f"e.{ending}" for ending in ("tsv", "csv", "parquet", "graphml")),
        *(DATED, DATED.lazy(), DATED.to_pandas(), texts, texts.to_pandas(), networkx_graph(DATED)),
    ]


def test_decimals_are_times_like_other_numbers(tmp_path):
    decimals = FRAME.with_columns(
        pl.col("year").cast(pl.Decimal(8, 2)) + pl.lit("0.25").cast(pl.Decimal(8, 2))
    )
    decimals.write_parquet(tmp_path / "e.parquet")
    for source in (decimals, tmp_path / "e.parquet"):
        graph = read(source, time="year")
        assert graph.times.dtype == np.float64
        assert seen(graph) == {edge: year + 0.25 for edge, year in EARLIEST.items()}


def test_every_source_with_columns_or_attributes(tmp_path):
    for source in sources(tmp_path):
        assert seen(read(source, time="year")) == EARLIEST
        graph = read(source, time="when")
        assert seen(graph) == EARLIEST_DATES
        assert graph.times.dtype == "datetime64[us]"
        assert graph.notes.duplicates == 1
        assert "repeated edge left out (the earliest is kept)" in str(graph.notes)
        assert read(source).times is None


def test_columns_by_number(tmp_path):
    (tmp_path / "e.txt").write_text("".join(f"{year} {s} {t}\n" for s, t, year in ROWS))
    assert seen(read(tmp_path / "e.txt", columns=(1, 2), time=0)) == EARLIEST
    numbers = np.array([[0, 1, 5], [1, 2, 4], [2, 0, 3], [2, 0, 1]])
    assert read(numbers, time=2).times.tolist() == [5, 4, 1]
    assert seen(read(np.array(ROWS, dtype=object), time=2)) == EARLIEST
    same = pd.DataFrame([[1, 2, 5], [2, 3, 4]], columns=["n", "n", "n"])
    assert seen(read(same, time=2)) == {(1, 2): 5, (2, 3): 4}
    mixed = pd.DataFrame({"s": ["a", 1, "a"], "t": [1, "b", 1], "y": [3, 2, 1]})
    assert seen(read(mixed, time="y")) == {("a", 1): 1, (1, "b"): 2}


def test_weights_go_with_the_earliest(tmp_path):
    rows = [("a", "b", 0.5, 9), ("a", "b", 0.25, 3), ("b", "a", 2.0, 1), ("a", "b", 4.0, 3)]
    frame = pl.DataFrame(rows, schema=["source", "target", "weight", "day"], orient="row")
    graph = read(frame, time="day")
    assert (graph.weights.tolist(), graph.times.tolist()) == ([0.25, 2.0], [3, 1])


def test_undirected_edges_have_their_time_both_ways():
    graph = nx.Graph()
    graph.add_edge("a", "b", since=np.datetime64("2020-01-01"))
    graph.add_edge("b", "c", since=dt.datetime(2021, 1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1))))
    times = seen(read(graph, time="since"))
    assert times["a", "b"] == times["b", "a"] == dt.datetime(2020, 1, 1)
    assert times["b", "c"] == times["c", "b"] == dt.datetime(2021, 1, 1)


GOOD = ["3", "-1.5", "1e3", "2021", "2021-03-04", "2021-03-04 10:30", "2021-03-04T10:30:59.25Z", "1999-12-31"]
BAD = ["", "nan", "inf", "NA", "soon", "1_0", "2021-02-30", "2021-3-4", "21-03-04", "2021-03-04 25:00", "٣"]


@settings(max_examples=25)
@given(
    st.lists(st.sampled_from(GOOD + BAD), max_size=6),
    st.sampled_from(["2001", "2001-05-06"]),
    st.integers(0, 9),
)
def test_the_fast_path_reads_what_the_careful_one_reads(tmp_path_factory, odd, usual, seed):
    rng = random.Random(seed)
    times = [usual] * 800
    for time in odd:
        times[rng.randrange(1, 800)] = time
    path = tmp_path_factory.mktemp("fast") / "e.csv"
    path.write_text("".join(f"n{i % 29},m{i % 31},{time}\n" for i, time in enumerate(times)))
    fast = read(path, time=2, skip_bad_rows=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edge_lists, "_fast", lambda *_: None)
        careful = read(path, time=2, skip_bad_rows=True)
    assert seen(fast) == seen(careful)
    assert fast.notes == careful.notes
    dates = "-" in usual
    wrong = [x for x in times if x in BAD or (x != usual and x.startswith(("1999-", "2021-0")) != dates)]
    assert fast.notes.bad_rows == len(wrong)


@pytest.mark.parametrize(
    ("time", "says"),
    [
        ("soon", "line 2: .*time 'soon' .*number.*'b,c,soon'"),
        ("", "line 2: .*time .*missing"),
        ("2021-01-01", "line 2: .*time '2021-01-01' .*number"),
    ],
)
def test_a_row_without_a_time_is_malformed(time, says, tmp_path):
    path = tmp_path / "e.csv"
    path.write_text(f"a,b,1\nb,c,{time}\nc,d,2\n")
    with pytest.raises(ValueError, match=f"{says}.*skip_bad_rows"):
        read(path, time=2)
    graph = read(path, time=2, skip_bad_rows=True)
    assert (graph.num_edges, graph.notes.bad_rows) == (2, 1)


@pytest.mark.parametrize(
    ("source", "time", "says"),
    [
        (FRAME, "yaer", "column 'yaer'.* year"),
        (FRAME, 7, "time has 7; .*0 to 2"),
        (FRAME, "source", "time is 'source'.*columns"),
        (FRAME.with_columns(year=None), "year", "row 0: .*time .*missing"),
        (FRAME.with_columns(year=pl.lit(True)), "year", "column 'year' holds Boolean"),
        (FRAME.with_columns(year=float("nan")), "year", "row 0: .*time nan "),
        (networkx_graph(FRAME), "when", "row 0: .*time .*missing"),
        ([("a", "b")], 2, "time has .*list"),
        ("cycle:5", "year", "time has .*cycle:5"),
    ],
)
def test_mistakes(source, time, says):
    with pytest.raises(ValueError, match=says) as error:
        read(source, time=time)
    assert "\n" not in str(error.value)
