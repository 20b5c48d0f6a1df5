"""A worker of a shared sweep, for the tests: python sweeper.py STORAGE LOG SECONDS SILENCE."""

import sys
import time

from timelike.training.shared_sweep import SharedSweep

storage, log, seconds, silence = sys.argv[1:]


def train(settings):
    with open(log, "a") as file:
        file.write(f"{settings['tau1']}\n")
    time.sleep(float(seconds))
    return [{**settings, "seed": 0, "valid_ap": settings["tau1"]}]


grid = [{"tau1": float(i)} for i in range(8)]
rows = SharedSweep(storage, grid, {"graph": "test"}, float(silence)).work(train)
print([row["tau1"] for row in rows])
