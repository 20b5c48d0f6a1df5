"""What a step takes on a CPU, and examples per second of a GPU, from results/*.json, for `timelike plan`.

`python -m benchmarks.rates` writes src/timelike/training/rates.json anew.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from benchmarks.harness import ROOT
from timelike.training.cost_model import EXCHANGES, Workload, step_seconds

RESULTS = ROOT / "benchmarks" / "results"
RATES = ROOT / "src" / "timelike" / "training" / "rates.json"

#: Bytes of tables that caches hold, and where the fit of the other numbers starts.
CACHED = 12e6
START = {"ns": 100.0, "ns_per_coordinate": 10.0, "uncached": 1.0, "scoring": 0.5}


def rates() -> dict[str, Any]:
    """Device → where it was measured, and how fast it is.

    What is `alone` holds for one process, which has kernels of our own on a GPU.
    """
    cpu, gpu, steps = (
        json.loads((RESULTS / f"{name}.json").read_text()) for name in ("cpu", "h200", "steps")
    )
    table = [(row["optimizer"], row["dim"], row["pairs_per_s"]) for row in gpu["table"]]
    made = {name: [[dim, round(rate)] for x, dim, rate in table if x == name] for name in ("sgd", "adam")}
    by_kernels = [
        [row["dim"], round(row["pairs_per_s"])]
        for row in gpu["big_runs"]["table"]
        if row["edges drawn"] == row["negatives drawn"] == "uniform"
    ]
    step = {**arithmetic(steps), "sgd": round(1 / cpu["many"]["lines"][-1]["value"], 3)}
    return {
        "cpu": {
            "machine": f"{steps['machine']['cores']} cores ({steps['machine']['cpu']})",
            "commands": [steps["command"]],
            "step": {**step, "cores": steps["machine"]["cores"]},
            "exchange": exchange(steps, step),
        },
        "h200": {
            "machine": gpu["machine"],
            "commands": [x for x in gpu["commands"] if " table " in x][:1],
            "rates": made,
            "alone": {"adam": by_kernels},
        },
    }


def work_of(row: dict[str, Any]) -> Workload:
    """What was measured: one epoch."""
    return Workload(row["nodes"], row["edges"], row.get("dim", 10), batch_size=row["batch"], epochs=1)


def arithmetic(steps: dict[str, Any]) -> dict[str, float]:
    """The numbers of `step_seconds` that are nearest to the epochs of one process, as ratios."""
    rows = [*steps["alone"], *(row for row in steps["together"] if row["processes"] == 1)]
    start = np.array([*START.values()])

    def of(factors: np.ndarray) -> dict[str, float]:
        return {**dict(zip(START, map(float, start * factors), strict=True)), "cached_bytes": CACHED}

    def off(factors: np.ndarray) -> list[float]:
        made = [work_of(row).steps * step_seconds(work_of(row), 1, 1, of(factors)) for row in rows]
        return [np.log(a / row["cpu_seconds"]) for a, row in zip(made, rows, strict=True)]

    limits = np.zeros(4), np.array([np.inf, np.inf, np.inf, 1 / START["scoring"]])
    found = of(least_squares(off, np.ones(4), bounds=limits).x)
    return {name: float(f"{value:.3g}") for name, value in found.items()}


def exchange(steps: dict[str, Any], step: dict[str, float]) -> dict[str, float]:
    """The wait and the bandwidth of an exchange that are nearest to the epochs of several processes."""
    rows = [row for row in steps["together"] if row["processes"] > 1]
    works = [work_of(row) for row in rows]
    own = [
        work.steps * step_seconds(work, row["processes"], 1, step)
        for work, row in zip(works, rows, strict=True)
    ]

    def off(logs: np.ndarray) -> list[float]:
        wait, gbit = np.exp(logs)
        sending = [
            work.steps * (EXCHANGES * wait + work.sent(row["processes"]) * 8 / (gbit * 1e9))
            for work, row in zip(works, rows, strict=True)
        ]
        taken = (row["cpu_seconds"] for row in rows)
        return [np.log((a + b) / c) for a, b, c in zip(own, sending, taken, strict=True)]

    wait, gbit = np.exp(least_squares(off, np.log([3e-4, 3.0])).x)
    return {"seconds": float(f"{wait:.3g}"), "gbit": float(f"{gbit:.3g}")}


if __name__ == "__main__":
    RATES.write_text(json.dumps(rates(), indent=1) + "\n")
