"""How far training on this device is from the stored fingerprints of a CPU: `python across_devices.py`.

All manifolds must agree to `MOST`, relative to the largest number of the fingerprint: a device rounds each
sum in an order of its own, and the next step begins from there.
"""

import json
import sys

import jax
import numpy as np
from fingerprints import KINDS, STORED, fingerprint

MOST = {"double": 1e-12, "single": 1e-5}


def distance(found: list[float], stored: list[float]) -> float:
    return float(np.max(np.abs(np.subtract(found, stored))) / np.max(np.abs(stored)))


def main() -> int:
    print(f"{jax.devices()[0].device_kind}, jax {jax.__version__}")
    worst = dict.fromkeys(KINDS, 0.0)
    for name, stored in json.loads(STORED.read_text(encoding="utf-8")).items():
        found = {kind: distance(fingerprint(name, kind == "double"), stored[kind]) for kind in KINDS}
        print(f"{name:24} " + "  ".join(f"{kind} {x:.1e}" for kind, x in found.items()), flush=True)
        worst = {kind: max(worst[kind], x) for kind, x in found.items()}
    return int(any(worst[kind] > MOST[kind] for kind in KINDS))


if __name__ == "__main__":
    sys.exit(main())
