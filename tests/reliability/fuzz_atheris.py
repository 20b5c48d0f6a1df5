"""Let a fuzzer that sees which branches it reaches look for files that break a reader.

    pip install atheris
    python tests/reliability/fuzz_atheris.py -max_total_time=600

The first byte of an input chooses the target, the rest is the content of its file. Anything but a result or
one clear line, more than 5 s, or too much memory ends the run with the input in a file `crash-…`.
"""

import sys
import tempfile
from pathlib import Path

import atheris

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

READERS = ["store", "files", "io", "parquet_pages", "settings", "journal", "checkpoint", "shards", "replay"]
with atheris.instrument_imports(include=[f"timelike.{name}" for name in READERS]):
    from targets import attempt, prepare

home = Path(tempfile.mkdtemp())
targets = prepare(home)


def one_input(data: bytes) -> None:
    if data:
        attempt(home, targets[data[0] % len(targets)], data[1:])


corpus = home / "corpus"
corpus.mkdir()
for i, target in enumerate(targets):
    (corpus / str(i)).write_bytes(bytes([i]) + target.good)
limits = ["-max_len=4000", "-timeout=60", "-rss_limit_mb=4000", f"-artifact_prefix={home}/"]
atheris.Setup([sys.argv[0], str(corpus), *limits, *sys.argv[1:]], one_input)
atheris.Fuzz()
