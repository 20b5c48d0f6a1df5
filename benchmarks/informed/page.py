"""The tables of the documentation, from the stored cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.informed.cases import ECOLI, EVIDENCE, NETWORKS, PRECISE

RESULTS = Path(__file__).parents[1] / "results" / "informed.json"

Row = dict[str, Any]
#: Names of networks, and of the ways to hold out edges, as the tables write them.
TITLES = {
    "dream5:in-silico": "DREAM5, in silico",
    ECOLI: "DREAM5, *E. coli*",
    "dream5:yeast": "DREAM5, *S. cerevisiae*",
    PRECISE: "PRECISE, *E. coli*",
}
HOW = {
    "85 % known": "random edges",
    "operon": "whole operons of targets",
    "regulator": "whole regulators",
    "gene": "all edges of 20 % of the genes",
}
#: Numbers that need no known edge, as network inference has them.
UNSUPERVISED = {"GENIE3's list": "GENIE3: score", "our trees": "importance", "CLR": "CLR"}


def page(rows: list[Row]) -> str:
    """All tables."""
    found = {(r["network"], r["by"], r["seed"], tuple(r["evidence"])): r for r in rows}
    return "\n\n".join([_pairs(found), _network_inference(found), _signs(rows), _shuffled(found)])


def documented() -> str:
    """The tables of the stored results."""
    if not RESULTS.exists():
        return "Not computed yet.\n"
    return page(json.loads(RESULTS.read_text("utf-8"))) + "\n"


def _pairs(found: dict[tuple, Row]) -> str:
    """AP against four listed non-edges per edge, from the graph alone and with the evidence."""
    body = []
    for by, how in HOW.items():
        for network in NETWORKS[by]:
            both = _seeds(found, network, by, EVIDENCE[network])
            alone = [found[network, by, r["seed"], ()] for r in both]
            if not both:
                continue
            ends = [[r["ap"] for r in alone], [_single(r) for r in both], [r["ap"] for r in both]]
            gains = [[b - a for a, b in zip(end, ends[-1], strict=True)] for end in ends[:-1]]
            evidence = " + ".join(EVIDENCE[network])
            cells = [*map(_mean, ends), *(_mean(gain, True) for gain in gains)]
            body.append([TITLES[network], how, evidence, len(both), *cells])
    head = ["network", "held out", "evidence", "splits", "graph alone", "best single number", "together"]
    return _table([*head, "minus the graph", "minus the number"], body, 3)


def _network_inference(found: dict[tuple, Row]) -> str:
    """AUPR and AUROC over all pairs of the gold standard that are not known."""
    body = []
    for network in (ECOLI, "dream5:in-silico"):
        for by in ("10 % known", "50 % known", "85 % known"):
            both = _seeds(found, network, by, EVIDENCE[network])
            alone = [found[network, by, r["seed"], ()] for r in both]
            if not both:
                continue
            rivals = [
                _mean([r["alone"][number]["all"] for r in both]) if number in both[0]["alone"] else "–"
                for number in UNSUPERVISED.values()
            ]
            ends = [
                f"{_mean([r['all_ap'] for r in x])} ({_mean([r['all_auc'] for r in x])})"
                for x in (alone, both)
            ]
            body.append([TITLES[network], by.removesuffix(" known"), len(both), *rivals, *ends])
    head = ["network", "known", "splits", *UNSUPERVISED, "graph alone (AUROC)", "together (AUROC)"]
    return _table(head, body, 2)


def _signs(rows: list[Row]) -> str:
    """How well signs of held-out edges are predicted."""
    body = []
    for evidence in ((), EVIDENCE[PRECISE]):
        own = [r for r in rows if r["network"] == PRECISE and tuple(r["evidence"]) == evidence]
        if own:
            names = ("sign_auc", "sign_accuracy", "sign_majority")
            body.append(
                [
                    " + ".join(evidence) or "graph alone",
                    len(own),
                    *(_mean([r[x] for r in own]) for x in names),
                ]
            )
    return _table(["evidence", "splits", "AUC of the sign", "accuracy", "commoner sign"], body, 1)


def _shuffled(found: dict[tuple, Row]) -> str:
    """Expression under wrong names, minus evidence that says nothing, and that minus the graph alone."""
    by, lines = "85 % known", []
    for of, rival, words in (
        ("shuffled", ("nothing",), "Expression of *E. coli* under shuffled names changes AP by {}"),
        (
            "nothing",
            (),
            "Evidence that says nothing, a list with a single pair, changes the AP of the graph by {}",
        ),
    ):
        own = [r for r in _seeds(found, ECOLI, by, (of,)) if (ECOLI, by, r["seed"], rival) in found]
        if own:
            gain = [r["ap"] - found[ECOLI, by, r["seed"], rival]["ap"] for r in own]
            lines.append(f"{words.format(_mean(gain, True))} ({len(own)} split{'s' * (len(own) > 1)}).")
    return " ".join(lines)


def _seeds(found: dict[tuple, Row], network: str, by: str, evidence: tuple[str, ...]) -> list[Row]:
    """The cases of all seeds that the graph alone has too."""
    return [
        row
        for (n, b, seed, e), row in found.items()
        if (n, b, e) == (network, by, evidence) and (network, by, seed, ()) in found
    ]


def _single(row: Row) -> float:
    """The test AP of the number of the evidence, or degree product, that is best on the test pairs."""
    return max(one["test"] for one in row["alone"].values())


def _mean(values: list[float], signed: bool = False) -> str:
    form = "+.1f" if signed else ".1f"
    spread = f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else ""
    return f"{np.mean(values):{form}}{spread}"


def _table(head: list[str], body: list[list[Any]], texts: int) -> str:
    """A Markdown table whose first columns are texts."""
    rule = ["---"] * texts + ["--:"] * (len(head) - texts)
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in [head, rule, *body])
