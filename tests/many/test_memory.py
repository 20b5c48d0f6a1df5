"""What `timelike plan` says about memory, against processes."""

import sys
from pathlib import Path

import pytest

from timelike.training.cost_model import Workload

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_the_memory_of_two_processes_is_as_planned(tmp_path, monkeypatch):
    """Within a factor of 1.5, above what the same programs take for a tiny graph."""
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    from benchmarks.many import BATCH, DIM, PAIRS, together, write_edges

    for name, nodes in (("tiny", 1000), ("large", 1_000_000)):
        write_edges(tmp_path / f"{name}.parquet", nodes)
    base, seen = (together(2, tmp_path / f"{name}.parquet") for name in ("tiny", "large"))
    work = Workload(seen[0]["nodes"], seen[0]["edges"], DIM, "adam", PAIRS - 1, BATCH)
    above = max(x["peak_gib"] for x in seen) - max(x["peak_gib"] for x in base)
    assert work.memory(2) / 2**30 / 1.5 < above < 1.5 * work.memory(2) / 2**30
