"""The cases: which network, how its edges are held out, with which seed, and with which evidence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

#: Evidence of each network: DREAM5 has no other that could be had.
EVIDENCE = {
    "dream5:in-silico": ("CLR", "GENIE3"),
    "dream5:ecoli": ("expression", "GENIE3"),
    "dream5:yeast": ("GENIE3",),
    "precise:ecoli": ("expression",),
}
ECOLI, PRECISE = "dream5:ecoli", "precise:ecoli"
#: Seed 201 was looked at while the evidence was chosen.
SEEDS = range(202, 207)

#: How edges are held out → the share of the edges for the test.
HELD_OUT = {
    "85 % known": 0.15,
    "50 % known": 0.5,
    "10 % known": 0.9,
    "operon": 0.15,
    "regulator": 0.15,
    "gene": 0.2,
}
#: The networks of each kind of split.
NETWORKS = {
    "85 % known": ("dream5:in-silico", ECOLI, "dream5:yeast"),
    "operon": (ECOLI, PRECISE),
    "regulator": (ECOLI,),
    "gene": (ECOLI,),
    "50 % known": ("dream5:in-silico", ECOLI),
    "10 % known": ("dream5:in-silico", ECOLI),
}


class Case(NamedTuple):
    """A fit: `by` is a key of `HELD_OUT`; no evidence is the graph alone."""

    network: str
    by: str
    seed: int
    evidence: tuple[str, ...]

    @property
    def name(self) -> str:
        """Network, kind and seed of the split, evidence."""
        return "/".join([self.network, self.by, str(self.seed), "+".join(self.evidence) or "graph"])


def cases() -> Iterator[Case]:
    """All cases, seeds in the outer loop: the graph alone and with all evidence.

    Once a seed, expression under shuffled names, and evidence that says nothing: folds and negatives are then
    the same, so that the difference is due to the numbers themselves.
    """
    for seed in SEEDS:
        for by, networks in NETWORKS.items():
            for network in networks:
                yield Case(network, by, seed, ())
                yield Case(network, by, seed, EVIDENCE[network])
        for evidence in ("shuffled", "nothing"):
            yield Case(ECOLI, "85 % known", seed, (evidence,))
