"""The fixed division of the zoo: settings may be looked at on the tuning half; the other half is the test.

Rule, chosen before any result: within the generated and within the real graphs, groups in alphabetical order
are dealt in turn to the tuning half and to the test half. Graphs of one group are related: versions of one
family, or networks of one organism or source.
"""

from __future__ import annotations

#: Groups of generated families, in alphabetical order.
GENERATED_GROUPS: dict[str, tuple[str, ...]] = {
    "bow-tie": ("bow-tie",),
    "citation-growth": ("citation-growth",),
    "directed-blocks": ("directed-blocks",),
    "duplication-divergence": ("duplication-divergence-complete", "duplication-divergence-cycle"),
    "erdos-renyi": ("erdos-renyi",),
    "food-web": ("food-web",),
    "planted-hierarchy": ("planted-hierarchy",),
    "planted-spacetime": ("planted-spacetime",),
    "random-dag": ("random-dag",),
    "ring-lattice": ("ring-lattice",),
    "rmat": ("rmat",),
    "scale-free": ("scale-free",),
    "small-world": ("small-world",),
    "social-circles": ("social-circles",),
    "symmetric-geometric": ("symmetric-geometric",),
    "tournament": ("tournament",),
    "tree-closure": ("tree-closure",),
    "two-sided": ("two-sided",),
}

#: Groups of real graphs, in alphabetical order.
REAL_GROUPS: dict[str, tuple[str, ...]] = {
    "celegans": ("celegans-monoamines", "celegans-synapses"),
    "debian": ("debian-python",),
    "drosophila": ("drosophila-mushroom-body",),
    "ecoli": ("dream5-ecoli", "ecoli-signed"),
    "flare": ("flare-imports",),
    "foldoc": ("foldoc-links",),
    "gene-ontology": ("go-components",),
    "in-silico": ("dream5-in-silico",),
    "npm": ("npm-dependencies",),
    "python": ("python-imports",),
    "us-flights": ("us-flights",),
    "wordnet": ("wordnet-instruments", "wordnet-mammals"),
    "yeast": ("dream5-yeast",),
}

#: Half → its groups. Stated as data: a new group must not move the others.
HALVES: dict[str, tuple[str, ...]] = {
    "tune": (
        *("bow-tie", "directed-blocks", "erdos-renyi", "planted-hierarchy", "random-dag", "rmat"),
        *("small-world", "symmetric-geometric", "tree-closure"),
        *("celegans", "drosophila", "flare", "gene-ontology", "npm", "us-flights", "yeast"),
    ),
    "test": (
        *("citation-growth", "duplication-divergence", "food-web", "planted-spacetime", "ring-lattice"),
        *("scale-free", "social-circles", "tournament", "two-sided"),
        *("debian", "ecoli", "foldoc", "in-silico", "python", "wordnet"),
    ),
}


def graphs_of(half: str) -> tuple[str, ...]:
    """The names of the graphs of a half, generated ones first; "all" has both halves."""
    groups = HALVES["tune"] + HALVES["test"] if half == "all" else HALVES[half]
    both = {**GENERATED_GROUPS, **REAL_GROUPS}
    return tuple(name for group in both if group in groups for name in both[group])


def half_of(name: str) -> str:
    """The half that a graph belongs to."""
    return next(half for half in HALVES if name in graphs_of(half))
