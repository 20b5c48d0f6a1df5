"""Dealing nodes, spreading edges and exchanging rows in one process; see also `test_many_processes`."""

import json

import jax.numpy as jnp
import numpy as np
import pytest
from small_runs import KINDS, MODEL, by_one, config_of, split_of

import timelike as tl
from timelike.cli.main import main
from timelike.distributed.node_dealing import dealt, is_numbered, own_edges, places
from timelike.distributed.processes import LOST, Place, losing
from timelike.distributed.sharded_edges import edge_sum, own_nodes, rows_of, spread
from timelike.distributed.sharded_run import mesh_of_all
from timelike.distributed.sharded_train import NOTHING, Run
from timelike.engine.sampling import EdgeTable
from timelike.training.cost_model import bucket_size, rounded_bucket

HOT = {"learning_rate": 1e30, "init_scale": 1e30}


@pytest.mark.parametrize("count", [1, 2, 101])
def test_every_node_has_a_place(count):
    assert sorted(places(np.arange(count), count)) == list(range(count))


@pytest.mark.long
def test_one_process_learns_what_train_does():
    split = split_of()
    found = Run(dealt(split.train), MODEL, config_of(epochs=2), split.valid).finish(progress=False)
    points, history = by_one(epochs=2)
    np.testing.assert_allclose(found.points, points, atol=1e-6)
    np.testing.assert_allclose(found.history["loss"], history["loss"], rtol=1e-6)
    assert found.info["valid_ap"] == pytest.approx(max(history["valid_ap"]), abs=1e-6)


@pytest.mark.long
def test_one_process_learns_in_16_bits_what_train_does():
    """Except for a few rows whose sums differ in the last bit and round differently."""
    found = Run(dealt(split_of().train), MODEL, config_of(epochs=2, tables="bfloat16")).finish(progress=False)
    points, history = by_one(epochs=2, tables="bfloat16")
    assert found.points.dtype == np.float32
    assert np.abs(found.points - points).mean() < 0.01
    np.testing.assert_allclose(found.history["loss"], history["loss"], rtol=1e-3)


@pytest.mark.parametrize(
    "kinds", [KINDS, tl.Negatives(popular_source=3, reversed=1), tl.Negatives(uniform=1)]
)
def test_negatives_are_drawn_as_often_as_by_one_process(kinds):
    graph = dealt(split_of().train)
    mesh = mesh_of_all()
    edges = spread(
        mesh, graph, config_of(negatives=kinds).epoch_plan(False, False), rows_of(mesh, graph.num_nodes)
    )
    assert edges.draws == EdgeTable.build(graph, kinds=kinds).draws
    assert edges.num_edges == graph.num_edges


def test_a_file_of_numbers_is_read_by_parts(tmp_path):
    file = tmp_path / "edges.parquet"
    tl.datasets.rmat_to_parquet(file, scale=6, edge_factor=4)
    assert is_numbered(file)
    assert not is_numbered(tmp_path / "edges.tsv")
    (tmp_path / "broken.parquet").write_bytes(file.read_bytes()[:-9])
    assert not is_numbered(tmp_path / "broken.parquet")
    whole, _ = own_edges([file], lambda nodes: (0, nodes))
    parts = [
        own_edges([file], lambda nodes, i=i: (i * nodes // 2, (i + 1) * nodes // 2)).dealt for i in range(2)
    ]
    np.testing.assert_array_equal(np.concatenate([part.pairs for part in parts]), whole.pairs)
    half = whole.num_nodes // 2
    sums = [edge_sum(parts[0], 0, half), edge_sum(parts[1], half, whole.num_nodes)]
    assert sum(sums) % 2**31 == edge_sum(whole, 0, whole.num_nodes)
    again = tl.read(file)
    assert whole.num_edges == again.num_edges
    mesh = mesh_of_all()
    assert own_nodes(mesh, rows_of(mesh, 10)) == (0, 10)


def test_a_learned_number_that_is_lost_is_a_run_that_diverged():
    run = Run(dealt(split_of().train), MODEL, config_of(learn=("tau1",)), None)
    run.advance()
    run.tally = run.tally if run.block else NOTHING._replace(rows=1, pairs=1)
    assert np.isfinite(run.report().loss)
    lost = run.tables.learned._replace(reals={"tau1": jnp.asarray(np.nan)})
    run.tables = run.tables._replace(learned=lost)
    assert np.isnan(run.report().loss)


def test_a_lost_run_does_not_take_the_rest_of_its_epoch(monkeypatch):
    """An epoch may take hours; the first non-finite block ends it."""
    monkeypatch.setattr("timelike.engine.passes.PAIRS_PER_BLOCK", 400)
    run = Run(dealt(split_of().train), MODEL, config_of(**HOT), None)
    with pytest.raises(ArithmeticError, match=r"diverged in epoch 1: .*1e\+30"):
        run.finish(None, progress=False)
    assert run.block < run.cut.blocks


def test_what_many_processes_cannot_do_is_said():
    graph = dealt(split_of().train)
    with pytest.raises(ValueError, match=r"'degree'.*uniform, same_source"):
        Run(graph, MODEL, config_of(negatives=tl.Negatives(degree=1)))
    with pytest.raises(ValueError, match="'dense-adam', which moves every node"):
        Run(graph, MODEL, config_of(optimizer="dense-adam"))


def test_more_edges_than_there_are_numbers(monkeypatch):
    graph = dealt(split_of().train)
    monkeypatch.setattr("timelike.distributed.sharded_edges.MOST_EDGES", graph.num_edges - 1)
    said = f"{graph.num_edges} edges; several processes support at most {graph.num_edges - 1}"
    with pytest.raises(ValueError, match=rf"{said}.*--stream"):
        Run(graph, MODEL, config_of())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("host",), "coordinator is 'host'"),
        (("host:1",), "coordinator is host:1.*num_processes and process_id"),
        (("host:1", 2, 2), "process_id is 2; with num_processes 2"),
        (("auto", 2, 0), "num_processes and process_id.*coordinator auto"),
    ],
)
def test_a_process_that_cannot_be(given, said):
    with pytest.raises(ValueError, match=said):
        Place(*given).check()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--num-processes", "2"], "--num-processes and --process-id"),
        (
            ["--coordinator", "h:1", "--num-processes", "2", "--process-id", "0", "--tune"],
            "--tune cannot be combined with --coordinator",
        ),
        (["--ray", "0"], "--ray is 0; it must be ≥ 1"),
    ],
)
def test_mistakes_on_the_command_line(options, said, tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["fit", "edges.tsv", "--out", str(tmp_path / "model"), *options])
    assert stop.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("kind", [ValueError, RuntimeError])
def test_an_exchange_that_fails_is_a_loss_whatever_the_class_of_the_error(kind, monkeypatch, capfd):
    codes = []
    monkeypatch.setattr("os._exit", codes.append)
    with losing():
        raise kind("UNKNOWN: Gloo AllGather failed: Connection reset by peer\nmore")
    assert codes == [LOST]
    assert capfd.readouterr().err == "timelike: UNKNOWN: Gloo AllGather failed: Connection reset by peer\n"
    with pytest.raises(kind, match="dim is 0"), losing():
        raise kind("dim is 0")


def test_buckets():
    assert bucket_size(100, 1) == 100
    assert bucket_size(10_000, 4) == 2500 + 300
    assert [rounded_bucket(n) for n in (1, 15, 17, 1000, 1025)] == [1, 15, 18, 1024, 1152]


def test_a_plan(capsys):
    main(["plan", "--nodes", "1e6", "--edges", "1e7", "--dim", "16", "--processes", "4", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["bytes_per_node"] == 4 * 3 * 16 + 8
    tables, batch = 250_000 * found["bytes_per_node"] + 2_500_000 * 12, 12 * 4 * 10 * 4096 * 16 // 4
    assert found["gib_per_process"] == pytest.approx((tables + batch) / 2**30)
    rows = 10 * 1024 / 4  # of each other process, a few of them twice
    assert 3 * rows * 132 < found["bytes_sent_per_step"] < 1.4 * 3 * rows * 132
    assert found["seconds"] == pytest.approx(found["compute_seconds"] + found["network_seconds"])
    main(["plan", "--nodes", "1e9", "--edges", "1e11", "--dim", "32", "--device", "h200", "--memory", "139"])
    assert "more than 2³¹ − 1 edges" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["plan", "--nodes", "0.5", "--edges", "10"])
    assert "--nodes is 0.5" in capsys.readouterr().err
