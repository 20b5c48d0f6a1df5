"""What evidence from outside adds: expression, other tools' lists, on splits of the DREAM5 networks.

    python -m benchmarks.informed --data DATA --out benchmarks/results/informed.json [--only TEXT …]
    python -m benchmarks.informed --report

The files of `DATA/dream5` and `DATA/expression` are needed. Every case is fitted twice on the same split,
from the graph alone and with the evidence; validation edges choose, test edges are scored once, against
listed non-edges (4 for each edge). Finished cases are kept in the file.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import timelike as tl
from timelike.evaluation.metrics import average_precision
from timelike.evidence import Expression, ScoredPairs
from timelike.evidence.named_table import NamedTable

RESULTS = Path(__file__).parent / "results" / "informed.json"
NUMBERS = {"in-silico": 1, "ecoli": 3, "yeast": 4}
#: Evidence of each network: DREAM5 has no other that could be had.
EVIDENCE = {"in-silico": ("CLR", "GENIE3"), "ecoli": ("expression", "GENIE3"), "yeast": ("GENIE3",)}
SEEDS = range(201, 207)
#: One geometry for all, so that a pair of fits differs in the evidence only.
GEOMETRY = "minkowski"


class Case(NamedTuple):
    """A network, a seed of the split, how it is split, and the evidence; () is the graph alone."""

    network: str
    seed: int
    by: str
    evidence: tuple[str, ...]

    @property
    def name(self) -> str:
        """Network, kind and seed of the split, evidence."""
        return "/".join([self.network, self.by, str(self.seed), "+".join(self.evidence) or "graph"])


def cases() -> Iterator[Case]:
    """All cases, splits in the outer loop."""
    for seed in SEEDS:
        for network, evidence in EVIDENCE.items():
            yield Case(network, seed, "edges", ())
            yield Case(network, seed, "edges", evidence)
    for seed in SEEDS:
        yield Case("ecoli", seed, "edges", ("shuffled",))
    for by in ("regulator", "operon"):
        for seed in SEEDS:
            for evidence in ((), EVIDENCE["ecoli"], ("expression",)):
                yield Case("ecoli", seed, by, evidence)


def gene_names(network: str, data: Path) -> dict[str, str]:
    """The anonymous id of a gene → its name."""
    text = (data / "dream5" / f"net{NUMBERS[network]}_gene_ids.tsv").read_text()
    return dict(line.split() for line in text.splitlines() if not line.startswith("#"))


def evidence_of(case: Case, graph: tl.DiGraph, data: Path) -> list[Any]:
    """The evidence of a case, under the names of the graph."""
    names, folder, found = gene_names(case.network, data), data / "expression", []
    for kind in case.evidence:
        if kind in ("expression", "shuffled"):
            table = pl.read_csv(folder / "dream5-ecoli.tsv.gz", separator="\t")
            if kind == "shuffled":
                order = np.random.default_rng(case.seed).permutation(table.height)
                table = table.with_columns(table["gene"].gather(order))
            table = table.with_columns(pl.col("gene").replace_strict(names))
            found.append(Expression.read(table, graph))
        elif kind == "CLR":
            table = pl.read_csv(folder / "dream5-in-silico-clr.tsv.gz", separator="\t")
            table = table.with_columns(pl.col("gene").replace_strict(names))
            table = table.rename({column: names[column] for column in table.columns[1:]})
            found.append(ScoredPairs.read(NamedTable.of(table), "CLR"))
        else:
            table = pl.read_csv(folder / f"genie3-{case.network}.tsv.gz", separator="\t")
            found.append(
                ScoredPairs.read(table.with_columns(pl.col("source", "target").replace_strict(names)), kind)
            )
    return found


def split_of(case: Case, data: Path) -> tl.Split:
    """15 % test edges, 8.5 % for validation; if so split, all edges of a regulator or operon are together."""
    gold = tl.datasets.dream5(case.network, data)
    if case.by == "edges":
        return tl.split_edges(
            gold.graph, 0.085, 0.15, case.seed, ratio=4, negatives="listed", listed=gold.non_edges
        )
    graph, rng = gold.graph, np.random.default_rng(case.seed)
    group = graph.sources if case.by == "regulator" else operons(graph, data)[graph.targets]
    order = rng.permutation(np.unique(group))
    share = np.cumsum([np.sum(group == one) for one in order]) / graph.num_edges
    test = np.isin(group, order[: 1 + int(np.searchsorted(share, 0.15))])
    rest = np.flatnonzero(~test)
    valid = np.zeros(graph.num_edges, bool)
    valid[rng.choice(rest, int(0.1 * len(rest)), replace=False)] = True
    listed = rng.permutation(gold.non_edges)
    grouped = {int(x) for x in np.unique(group[test])}
    ends = listed[:, 0] if case.by == "regulator" else operons(graph, data)[listed[:, 1]]
    asked = np.array([int(x) in grouped for x in ends])
    return tl.Split(
        graph.subgraph(~test & ~valid),
        graph.pairs[valid],
        listed[~asked][: 4 * valid.sum()],
        graph.pairs[test],
        listed[asked][: 4 * test.sum()],
        "listed",
        case.seed,
    )


def operons(graph: tl.DiGraph, data: Path) -> np.ndarray:
    """The number of each gene's operon; a gene without one is alone."""
    table = pl.read_csv(data / "expression" / "precise-ecoli-genes.csv")
    known = dict(zip(table["gene_name"].to_list(), table["operon"].to_list(), strict=True))
    names = [known.get(str(name)) or f"only {name}" for name in graph.names]
    return np.unique(names, return_inverse=True)[1]


def measure(case: Case, data: Path) -> dict[str, Any]:
    """Validation and test AP of a fit, and of each simple method on the same test pairs."""
    split, start = split_of(case, data), (time.monotonic(), time.process_time())
    outside = evidence_of(case, split.train, data)
    model = tl.SpacetimeEmbedding(
        GEOMETRY, seed=case.seed, evidence=["structure", *outside], baselines="none", progress=False
    ).fit(split.train, valid=split)
    seconds = time.process_time() - start[1]
    found = tl.evaluate(model, split)
    return {
        **case._asdict(),
        "test_edges": len(split.test_edges),
        "valid": round(100 * model.joint_.combiner.record["valid_ap"], 2),
        "test": round(100 * float(found.average_precision), 2),
        "auc": round(100 * float(found.roc_auc), 2),
        "alone": alone(outside, split),
        "cpu_seconds": round(seconds, 1),
    }


def alone(outside: list[Any], split: tl.Split) -> dict[str, float]:
    """Test AP of single numbers of the evidence: the best of each kind, chosen on the validation pairs."""
    found = {}
    for one in outside:
        if isinstance(one, Expression):
            one = one.suited_to(split.train)
        prepared = one.prepare(split.train)
        pairs = (split.valid, split.test)
        values = [prepared.features(np.asarray(p.sources), np.asarray(p.targets)) for p in pairs]
        labels = [np.asarray(p.labels) for p in (split.valid, split.test)]
        scores = [average_precision(x, labels[0]) for x in values[0].T]
        best = int(np.argmax(scores))
        reached = average_precision(values[1][:, best], labels[1])
        found[prepared.names[best]] = round(100 * float(reached), 2)
    return found


def report(rows: list[dict[str, Any]]) -> str:
    """Mean ± sd of test AP over the splits, and the paired difference from the graph alone."""
    lines = [
        "| network | split by | evidence | splits | test AP | minus the graph alone |",
        "|---|---|---|--:|--:|--:|",
    ]
    by_case = {(r["network"], r["by"], r["seed"], tuple(r["evidence"])): r for r in rows}
    for network, by, evidence in dict.fromkeys((n, b, e) for n, b, _, e in by_case):
        own = {s: r["test"] for (n, b, s, e), r in by_case.items() if (n, b, e) == (network, by, evidence)}
        pairs = [own[s] - by_case[network, by, s, ()]["test"] for s in own if (network, by, s, ()) in by_case]
        gain = f"{np.mean(pairs):+.1f} ± {np.std(pairs):.1f}" if evidence and pairs else "–"
        scores = f"{np.mean([*own.values()]):.1f} ± {np.std([*own.values()]):.1f}"
        lines.append(
            f"| {network} | {by} | {' + '.join(evidence) or 'graph alone'} | {len(own)} | {scores} | {gain} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    rows = json.loads(options.out.read_text()) if options.out.exists() else []
    done = {Case(r["network"], r["seed"], r["by"], tuple(r["evidence"])).name for r in rows}
    for case in cases():
        if (
            options.report
            or case.name in done
            or (options.only and not any(x in case.name for x in options.only))
        ):
            continue
        rows.append(measure(case, options.data))
        options.out.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
        print(case.name, rows[-1]["test"], rows[-1]["cpu_seconds"], flush=True)
    print(report(rows))


if __name__ == "__main__":
    main()
