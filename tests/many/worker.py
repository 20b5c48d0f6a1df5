"""One process of a run, for the tests: python worker.py ADDRESS PROCESSES NUMBER FOLDER JSON."""

import json
import sys
from pathlib import Path

import jax
import numpy as np

address, processes, number, folder, options = sys.argv[1:]
jax.distributed.initialize(address, int(processes), int(number), heartbeat_timeout_seconds=20)

from small_runs import MODEL, config_of, split_of  # noqa: E402

from timelike.many.dealing import dealt  # noqa: E402
from timelike.many.train import train  # noqa: E402

wanted = json.loads(options)
checkpoint = Path(folder) / "kept" if wanted.pop("checkpoint", False) else None
name = wanted.pop("name", f"points{processes}")
split = split_of(wanted.pop("weighted", False))
embedding = train(
    dealt(split.train), MODEL, config_of(**wanted), valid=split.valid, checkpoint=checkpoint, progress=False
)
if embedding is not None:
    np.savez(Path(folder) / f"{name}.npz", points=embedding.points, **embedding.history)
