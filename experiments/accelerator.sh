#!/usr/bin/env bash
# The tables of cyclic graphs and the ablation side by side on one accelerator: a process for each graph and
# protocol, since small programs are compiled for longer than they run. What is finished when SECONDS are over is
# kept in OUT; call it again to go on.
#
#   experiments/accelerator.sh OUT SECONDS [options of timelike reproduce]
set -u
out=$1 limit=$2
shift 2
export PYTHONPATH=src XLA_PYTHON_CLIENT_PREALLOCATE=false
export JAX_COMPILATION_CACHE_DIR=${JAX_COMPILATION_CACHE_DIR:-/tmp/timelike-compiled}
export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0.1

part() { timeout "$limit" python -m timelike.reproduce "$1" --out "$out" --resume "${@:2}" >/dev/null; }

mkdir -p "$out"
for protocol in paper honest; do
  for data in duplication-divergence dream5-in-silico dream5-ecoli dream5-yeast; do
    part cyclic "$@" --only "$data" "$protocol" &
  done
  part ablation "$@" --only "$protocol" &
done
part cyclic "$@" --only baselines &
wait
python - "$out" <<'PYTHON'
import sys
from pathlib import Path
from timelike.reproduce.run import write_report
for group in ("cyclic", "ablation"):
    print(write_report(group, Path(sys.argv[1])).markdown)
PYTHON
