"""Refusals before memory is full, and `timelike plan` for dense steps and 16-bit tables."""

import numpy as np
import pytest

from timelike import Config, DiGraph, Model, Negatives, SpacetimeEmbedding, tune
from timelike._util.hardware import memory
from timelike.cli.main import main
from timelike.likelihoods import TripleFermiDirac
from timelike.manifolds import MANIFOLDS
from timelike.training.cost_model import Workload, check_memory, estimate_cost

EDGES = [(i, (3 * i + 1) % 40) for i in range(40)]


def test_more_dimensions_than_memory_holds_are_refused_at_once():
    said = r"dim is 1,000,000,000: training 40 nodes would take [\d,]+ GiB, and there are [\d,]+"
    for geometry in ("minkowski", "anti-de-sitter", "auto"):
        with pytest.raises(ValueError, match=said):
            SpacetimeEmbedding(geometry, dim=10**9, progress=False).fit(EDGES)
    with pytest.raises(ValueError, match=said):
        tune(EDGES, dim=10**9, trials=1, valid_fraction=0.5, progress=False)


def test_what_there_is_room_for_is_not():
    """The tables decide; a little more than half of the memory is allowed."""
    room = memory()
    assert room is not None
    for optimizer in ("sgd", "adam", "dense-adam"):
        each = Workload(1000, 1000, 1000, optimizer).bytes_per_node() / 1000
        config = Config(optimizer=optimizer, negatives=Negatives(uniform=4))
        for share, fits in ((0.6, True), (1.1, False)):
            model = Model(MANIFOLDS["minkowski"](int(share * room / 1000 / each)), TripleFermiDirac())
            graph = DiGraph(*np.array(EDGES, np.int32).T, 1000)
            if fits:
                check_memory(graph, model, config)
            else:
                with pytest.raises(ValueError, match="1,000 nodes"):
                    check_memory(graph, model, config)


def test_steps_that_move_every_node_take_two_tables_more():
    sparse, dense = (Workload(10**6, 10**6, 16, optimizer) for optimizer in ("adam", "dense-adam"))
    assert dense.memory() - sparse.memory() == 2 * 4 * 16 * 10**6
    with pytest.raises(ValueError, match=r"'dense-adam'.*2 processes"):
        estimate_cost(dense, 2)


def test_a_plan_refuses_what_fit_refuses(capsys):
    with pytest.raises(SystemExit):
        main(["plan", "--nodes", "9", "--edges", "9", "--geometry", "sphere", "--tables", "bfloat16"])
    assert "--tables is 'bfloat16', but rounded points leave" in capsys.readouterr().err
    main(["plan", "--nodes", "9", "--edges", "9", "--optimizer", "dense-adam"])
    assert "time           at least" in capsys.readouterr().out


def test_without_negatives_nothing_is_learned():
    with pytest.raises(ValueError, match="negatives is 0"):
        SpacetimeEmbedding("minkowski", negatives=0, progress=False).fit(EDGES)


def test_kernels_are_of_one_gpu_in_a_flat_space():
    """Nor does the estimate make a simpler optimiser slower than Adam."""

    def rate(processes, **given):
        return estimate_cost(Workload(10**6, 10**7, **given), processes, device="h200")["examples_per_second"]

    assert rate(1) > 2 * rate(2)
    assert rate(1, flat=False) == rate(1, optimizer="dense-adam") == rate(2)
    assert rate(1, optimizer="sgd") >= rate(1)
    assert rate(2, optimizer="sgd") > rate(2)


@pytest.mark.parametrize("name", ["memory", "network"])
@pytest.mark.parametrize("value", ["0", "-3", "nan"])
def test_what_there_is_none_of_is_one_line(name, value, capsys):
    with pytest.raises(SystemExit):
        main(["plan", "--nodes", "9", "--edges", "9", f"--{name}={value}"])
    assert f"--{name} is {float(value)}; it must be a finite number > 0" in capsys.readouterr().err


def test_a_device_has_its_own_memory():
    friendster = Workload(nodes=65_600_000, edges=1_811_939_328, ambient=32)
    assert estimate_cost(friendster, device="h200")["processes"] == 1
    assert estimate_cost(friendster, device="h200", memory=16)["processes"] == 4
    with pytest.raises(ValueError, match="device is 'abacus'; it must be one of cpu, h200"):
        estimate_cost(friendster, device="abacus")
