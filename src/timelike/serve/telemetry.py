"""Counts and times of requests, in the text format of Prometheus."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

#: Upper bounds of the classes of durations, in seconds.
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Telemetry:
    """What the service has done since it started."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.durations: dict[str, list[int]] = {}
        self.seconds: Counter[str] = Counter()
        self.in_flight = 0
        self.reloads: Counter[str] = Counter()
        self.started = time.time()

    def saw(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.requests[route, status] += 1
        classes = self.durations.setdefault(route, [0] * (len(BOUNDS) + 1))
        classes[next((i for i, bound in enumerate(BOUNDS) if seconds <= bound), len(BOUNDS))] += 1
        self.seconds[route] += seconds  # type: ignore[assignment]

    def text(self, models: Iterable[dict[str, Any]], gauges: dict[str, tuple[str, str, float]]) -> str:
        """All of it; `gauges` maps further names to kind, help and value."""
        lines = _family("timelike_requests_total", "counter", "Requests by route and status.")
        for (route, status), count in sorted(self.requests.items()):
            lines.append(f'timelike_requests_total{{route="{route}",status="{status}"}} {count}')
        name = "timelike_request_seconds"
        lines += _family(name, "histogram", "Time from the request to its reply.")
        for route, classes in sorted(self.durations.items()):
            total = 0
            for bound, count in zip([*map(repr, BOUNDS), "+Inf"], classes, strict=True):
                total += count
                lines.append(f'{name}_bucket{{route="{route}",le="{bound}"}} {total}')
            lines.append(f'{name}_sum{{route="{route}"}} {self.seconds[route]:.6f}')
            lines.append(f'{name}_count{{route="{route}"}} {total}')
        lines += _family("timelike_reloads_total", "counter", "Models loaded anew, by outcome.")
        for outcome in ("done", "failed"):
            lines.append(f'timelike_reloads_total{{outcome="{outcome}"}} {self.reloads[outcome]}')
        lines += _family("timelike_model_nodes", "gauge", "Nodes of each model.")
        for model in models:
            labels = f'model="{_escaped(model["name"])}",version="{model["version"]}"'
            lines.append(f"timelike_model_nodes{{{labels}}} {model['nodes']}")
        more: dict[str, tuple[str, str, float]] = {
            "timelike_requests_in_flight": ("gauge", "Requests without a reply.", self.in_flight)
        }
        more["process_start_time_seconds"] = ("gauge", "Start, in seconds since 1970.", self.started)
        more["process_cpu_seconds_total"] = ("counter", "CPU time of the process.", time.process_time())
        for key, (kind, about, value) in {**more, **gauges}.items():
            lines += [*_family(key, kind, about), f"{key} {value:.15g}"]
        return "\n".join([*lines, ""])


def _family(name: str, kind: str, about: str) -> list[str]:
    return [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
