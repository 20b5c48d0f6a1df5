"""Examples per second by device, from results/*.json, for `timelike plan`: src/timelike/training/rates.json.

`python -m benchmarks.rates` writes it anew.
"""

from __future__ import annotations

import json
from typing import Any

from benchmarks.harness import ROOT

RESULTS = ROOT / "benchmarks" / "results"
RATES = ROOT / "src" / "timelike" / "training" / "rates.json"


def rates() -> dict[str, Any]:
    """Device → where it was measured, and for each optimiser pairs (dimensions, examples per second).

    What is `alone` holds for one process, which has kernels of our own on a GPU.
    """
    cpu, gpu = (json.loads((RESULTS / f"{name}.json").read_text()) for name in ("cpu", "h200"))
    big, many = cpu["big"], cpu["many"]
    sgd, slower = big["lines"][0]["value"], many["lines"][-1]["value"]
    table = [(row["optimizer"], row["dim"], row["pairs_per_s"]) for row in gpu["table"]]
    made = {name: [[dim, round(rate)] for x, dim, rate in table if x == name] for name in ("sgd", "adam")}
    by_kernels = [
        [row["dim"], round(row["pairs_per_s"])]
        for row in gpu["big_runs"]["table"]
        if row["edges drawn"] == row["negatives drawn"] == "uniform"
    ]
    return {
        "cpu": {
            "machine": f"{big['machine']['cores']} cores ({big['machine']['cpu']})",
            "commands": [big["command"], many["command"]],
            "rates": {
                "sgd": [[16, round(sgd)]],
                "adam": [[16, round(sgd / slower)]],
            },
        },
        "h200": {
            "machine": gpu["machine"],
            "commands": [x for x in gpu["commands"] if " table " in x][:1],
            "rates": made,
            "alone": {"adam": by_kernels},
        },
    }


if __name__ == "__main__":
    RATES.write_text(json.dumps(rates(), indent=1) + "\n")
