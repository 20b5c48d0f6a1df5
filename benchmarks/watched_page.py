"""The page of `benchmarks.watched`: each figure over the commits, as one file without scripts."""

from __future__ import annotations

import html
from typing import Any

#: Size of a drawing, and space for its labels.
WIDTH, HEIGHT, LEFT, BELOW = 560, 150, 52, 34

HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>timelike: figures over commits</title>
<style>
body { font: 15px/1.4 system-ui, sans-serif; margin: 2rem auto; max-width: 1200px; padding: 0 1rem }
main { display: grid; grid-template-columns: repeat(auto-fit, minmax(480px, 1fr)); gap: 1.5rem 2rem }
h2 { font-size: 1rem; font-weight: 600; margin: 0 0 .3rem }
svg { width: 100%; height: auto } text { font-size: 11px; fill: #666 }
</style>
<h1>Figures over commits</h1>
<p>CPU time of a peer or a floor over ours in the same run; higher is better. The orange line is the least
that the next commit must reach. Made by <code>make bench-quick</code>.</p><main>
"""


def page(records: list[dict[str, Any]], least: dict[str, float]) -> str:
    """The whole page; `least` has the least that each figure may be in the next commit."""
    drawn = "".join(
        f"<section><h2>{html.escape(name)}</h2>{drawing(records, name, limit)}</section>\n"
        for name, limit in least.items()
    )
    return f"{HEAD}{drawn}</main></html>\n"


def drawing(records: list[dict[str, Any]], name: str, limit: float) -> str:
    """One figure over the commits that have it, from 0 up."""
    points = [(one["commit"], one["figures"][name]) for one in records if name in one["figures"]]
    top = max([limit, *(value for _, value in points)]) * 1.15 or 1.0
    step = (WIDTH - LEFT - 24) / max(len(points) - 1, 1)
    every = -(-len(points) // 9)

    def height(value: float) -> float:
        return (HEIGHT - BELOW) * (1 - value / top) + 6

    at = [(LEFT + 8 + i * step, height(value)) for i, (_, value) in enumerate(points)]
    parts = [
        f'<path d="M{LEFT} {height(value):.1f}H{WIDTH}" stroke="{colour}" fill="none"/>'
        for value, colour in ((0.0, "#bbb"), (limit, "#d55e00"))
    ]
    for value in (0.0, points[-1][1]):
        parts.append(f'<text x="{LEFT - 6}" y="{height(value) + 4:.1f}" text-anchor="end">{value:.3g}</text>')
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
    parts.append(f'<polyline points="{line}" fill="none" stroke="#0072b2" stroke-width="2"/>')
    for i, ((x, y), (commit, value)) in enumerate(zip(at, points, strict=True)):
        said = html.escape(f"{commit}: {value:.3g}")
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="#0072b2"><title>{said}</title></circle>'
        )
        if i % every == 0:
            parts.append(f'<text x="{x - 8:.1f}" y="{HEIGHT - 8}">{html.escape(commit)}</text>')
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">{"".join(parts)}</svg>'
