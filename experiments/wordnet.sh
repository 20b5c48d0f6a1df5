#!/usr/bin/env bash
# The WordNet table on one accelerator: a process for each row, since much of the time goes into compiling. What is
# finished when SECONDS are over is kept in OUT; call it again to go on.
#
#   experiments/wordnet.sh OUT SECONDS [ROW …] [-- options of timelike reproduce]
set -u
out=$1 limit=$2
shift 2
rows=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do rows+=("$1"); shift; done
[ $# -gt 0 ] && shift
[ ${#rows[@]} -gt 0 ] || rows=(
  minkowski spherical-disk entailment-cones shadow-cones hyperbolic-disk euclidean-disk order-embedding
  poincare-embedding minkowski-paper
)
export PYTHONPATH=src XLA_PYTHON_CLIENT_PREALLOCATE=false
export JAX_COMPILATION_CACHE_DIR=${JAX_COMPILATION_CACHE_DIR:-/tmp/timelike-compiled}
export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0.1

mkdir -p "$out"
for row in "${rows[@]}"; do
  timeout "$limit" python -m timelike.reproduce wordnet --out "$out" --resume --only "$row/" "$@" >/dev/null &
done
wait
python - "$out" <<'PYTHON'
import sys
from pathlib import Path
from timelike.reproduce.run import write_report
print(write_report("wordnet", Path(sys.argv[1])).markdown)
PYTHON
