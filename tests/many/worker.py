"""One process of a run, for the tests: python worker.py ADDRESS PROCESSES NUMBER FOLDER JSON.

JSON are changes of the config, and `halt`: after how many epochs to save and stop.
"""

import json
import sys
from pathlib import Path

import jax
import numpy as np

address, processes, number, folder, options = sys.argv[1:]
jax.distributed.initialize(address, int(processes), int(number), heartbeat_timeout_seconds=3600)

from small_runs import MODEL, config_of, split_of  # noqa: E402

from timelike.distributed.node_dealing import dealt  # noqa: E402
from timelike.distributed.sharded_train import Run  # noqa: E402

wanted = json.loads(options)
halt, keep = wanted.pop("halt", None), wanted.pop("keep", False)
split = split_of()
kept = Path(folder) / "kept" if keep else None
run = Run(dealt(split.train), MODEL, config_of(**wanted), split.valid, kept)
if halt is None:
    embedding = run.finish(split.train.names, progress=False)
    if embedding is not None:
        np.savez(Path(folder) / f"{processes}.npz", points=embedding.points, **embedding.history)
else:
    while len(run.history) < halt:
        run.advance()
    run.save()
