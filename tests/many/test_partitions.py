"""Tables on disk: two partitions of the nodes in memory at a time."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import average_precision_score

import timelike as tl
from timelike.cli.main import main
from timelike.distributed.edge_buckets import EdgeBuckets, partition_of
from timelike.distributed.node_dealing import NumberedFiles
from timelike.distributed.swapped_train import visits


@pytest.fixture
def file(tmp_path):
    tl.datasets.rmat_to_parquet(tmp_path / "edges.parquet", scale=9, edge_factor=8)
    return tmp_path / "edges.parquet"


@pytest.mark.parametrize("partitions", [2, 4, 8])
def test_each_visit_shares_a_partition_with_the_visit_before(partitions):
    every = list(visits(partitions))
    assert len({frozenset(pair) for pair in every}) == len(every) == partitions * (partitions - 1) // 2
    assert all(set(a) & set(b) for a, b in itertools.pairwise(every))
    assert sum(i % 2 == 0 and j == i + 1 for i, j in every) == partitions // 2


def test_buckets_hold_every_edge_once_and_know_their_nodes(file, tmp_path):
    pl.concat([pl.read_parquet(file)] * 2).write_parquet(file)  # repeated edges
    buckets = EdgeBuckets.write(NumberedFiles.of([file]), tmp_path / "buckets", 4)
    graph = tl.read(file)
    assert (buckets.nodes, buckets.num_edges) == (graph.num_nodes, graph.num_edges)
    found = set()
    for p in range(4):
        own = buckets.number_of(p, 0, buckets.rows)
        assert (partition_of(own, 4) == p).all()
        for q in range(p + 1, 4):
            both = np.concatenate([own, buckets.number_of(q, 0, buckets.rows)])
            for inside in (False, True)[: 1 + ((p, q) in ((0, 1), (2, 3)))]:
                found |= set(map(tuple, both[buckets.between(p, q, inside)].tolist()))
    assert found == set(map(tuple, graph.pairs.tolist()))


def command(file, out, *more):
    options = ["--geometry", "minkowski", "--valid-fraction", "0", "--epochs", "6", "--dim", "4", "--json"]
    return ["fit", str(file), "--out", str(out), "--partitions", "4", "--batch-size", "64", *options, *more]


def separated(model, graph):
    """The average precision of edges beside as many random pairs."""
    fitted = tl.Embedding.load(model)
    other = np.random.default_rng(0).integers(0, graph.num_nodes, graph.pairs.shape)
    ends = np.concatenate([graph.pairs, other])
    scores = fitted.log_prob_by_number(*ends.T)
    return average_precision_score(np.arange(len(ends)) < graph.num_edges, scores)


@pytest.mark.long
def test_it_learns_about_as_much_as_in_memory_and_goes_on_after_a_kill(file, tmp_path, capsys):
    graph = tl.read(file)
    main(command(file, tmp_path / "model"))
    said = json.loads(capsys.readouterr().out)
    assert said["graph"] == f"{graph.num_nodes} nodes, {graph.num_edges} edges"
    model = tl.SpacetimeEmbedding("minkowski", dim=4, epochs=6, batch_size=64, valid_fraction=0).fit(graph)
    model.embedding_.save(tmp_path / "in-memory")
    one, other = (separated(tmp_path / name, graph) for name in ("in-memory", "model"))
    assert other > one - 0.05

    killed = tmp_path / "killed"
    process = subprocess.Popen(
        [sys.executable, "-m", "timelike", *command(file, killed, "--checkpoint-seconds", "1e-9")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
    )
    state = tmp_path / "killed.checkpoint" / "run" / "state.json"
    end = time.monotonic() + 200
    while process.poll() is None and not (state.exists() and json.loads(state.read_text())["history"]):
        assert time.monotonic() < end
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not killed.exists()
    main(command(file, killed, "--resume"))
    whole, again = (tl.Embedding.load(path) for path in (tmp_path / "model", killed))
    np.testing.assert_array_equal(whole.points, again.points)
    np.testing.assert_array_equal(whole.history["loss"], again.history["loss"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--partitions", "3"], "--partitions is 3; it must be an even number between 2 and 64"),
        (["--partitions", "4", "--stream"], "--stream cannot be combined with --partitions"),
        (["--partitions", "4", "--seeds", "2"], "--partitions cannot be combined with --seeds"),
    ],
)
def test_mistakes_are_one_line(file, tmp_path, capsys, options, said):
    given = ["--geometry", "minkowski", "--valid-fraction", "0", *options]
    with pytest.raises(SystemExit) as stop:
        main(["fit", str(file), "--out", str(tmp_path / "model"), *given])
    assert stop.value.code == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "model").exists()
