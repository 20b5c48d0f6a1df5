"""Fit a case and measure it, beside each number of the evidence alone."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

import timelike as tl
from benchmarks.informed.cases import PRECISE, Case
from benchmarks.informed.splits import network_of, split_of
from timelike.evaluation.metrics import average_precision, roc_auc
from timelike.evidence import EdgeLabels, Expression, ScoredPairs
from timelike.evidence.named_table import NamedTable

#: One geometry for all, so that fits differ in the evidence only.
GEOMETRY = "minkowski"


def evidence_of(case: Case, graph: tl.DiGraph, regulators: list[str] | None, data: Path) -> list[Any]:
    """The evidence of a case, under the names of the graph; "nothing" is the score of a single pair."""
    found: list[Any] = []
    for kind in case.evidence:
        if kind == "nothing":
            found.append(ScoredPairs.read([(str(graph.name(0)), str(graph.name(1)), 1.0)], kind))
            continue
        table = tl.datasets.table(case.network, "expression" if kind == "shuffled" else kind, data)
        if kind == "shuffled":
            order = np.random.default_rng(case.seed).permutation(table.height)
            table = table.with_columns(table["gene"].gather(order))
        if kind in ("expression", "shuffled"):
            found.append(Expression.read(table, graph, regulators))
        else:
            found.append(ScoredPairs.read(NamedTable.of(table) if kind == "CLR" else table, kind))
    return found


def measure(case: Case, data: Path) -> dict[str, Any]:
    """AP on the test pairs, and on all listed pairs that are not known; AUC of the signs for PRECISE."""
    graph, listed, regulators = network_of(case.network, data)
    split = split_of(case, graph, listed, data)
    outside = evidence_of(case, split.train, regulators, data)
    start = time.process_time()
    model = tl.SpacetimeEmbedding(
        GEOMETRY, seed=case.seed, evidence=["structure", *outside], baselines="none", progress=False
    ).fit(split.train, valid=split)
    seconds = time.process_time() - start
    assert model.joint_ is not None
    asked = {"valid": split.valid, "test": split.test}
    if case.by.endswith("known"):
        asked["all"] = tl.evaluation.LabelledPairs.build(split.test_edges, listed)
    found = {
        **case._asdict(),
        "test_edges": len(split.test_edges),
        "valid_ap": _percent(model.joint_.combiner.record["valid_ap"]),
        **reached(model.joint_, split.test, ""),
        **(reached(model.joint_, asked["all"], "all_") if "all" in asked else {}),
        "alone": alone(outside, split, asked),
        "cpu_seconds": round(seconds, 1),
    }
    return found | (signs(model, split, data) if case.network == PRECISE else {})


def reached(joint: Any, pairs: Any, prefix: str) -> dict[str, float]:
    """Average precision and area under the ROC curve."""
    scores = joint.log_odds_by_number(np.asarray(pairs.sources), np.asarray(pairs.targets))
    labels = np.asarray(pairs.labels)
    return {
        f"{prefix}ap": _percent(average_precision(scores, labels)),
        f"{prefix}auc": _percent(roc_auc(scores, labels)),
    }


def alone(outside: list[Any], split: tl.Split, asked: dict[str, Any]) -> dict[str, dict[str, float]]:
    """AP of each number on the pairs of each kind."""
    found: dict[str, dict[str, float]] = {}
    outside = [one.suited_to(split.train) if isinstance(one, Expression) else one for one in outside]
    for kind, pairs in asked.items():
        for name, scores in numbers(outside, split, pairs).items():
            reached = average_precision(scores, np.asarray(pairs.labels))
            found.setdefault(name, {})[kind] = _percent(reached)
    return found


def numbers(outside: list[Any], split: tl.Split, pairs: Any) -> dict[str, np.ndarray]:
    """Each number of the evidence, and the product of the degrees, for each pair."""
    known = split.train.with_edges(split.valid_edges) if pairs is not split.valid else split.train
    s, t = np.asarray(pairs.sources), np.asarray(pairs.targets)
    found = {"degree product": np.asarray(tl.evaluation.DegreeProduct(known).score(s, t))}
    for one in outside:
        prepared = one.prepare(known)
        found |= dict(zip(prepared.names, prepared.features(s, t).T, strict=True))
    return found


def signs(model: tl.SpacetimeEmbedding, split: tl.Split, data: Path) -> dict[str, float]:
    """The area under the ROC curve of P(+ | edge) on the test edges with a sign, and of a constant guess."""
    labels = EdgeLabels.read(tl.datasets.table(PRECISE, "network", data), "sign")
    (learned,) = model.learn_labels(labels).labels_
    truth = labels.aligned(split.graph.subgraph(split.graph.has_edges(*split.graph.pairs.T)))
    edges = {(int(s), int(t)): int(x) for (s, t), x in zip(split.graph.pairs, truth, strict=True)}
    value = np.array([edges[int(s), int(t)] for s, t in split.test_edges])
    likely = learned.probabilities(*split.test_edges[value >= 0].T)[:, learned.classes.index("+")]
    plus = value[value >= 0] == labels.classes.index("+")
    return {
        "sign_auc": _percent(roc_auc(likely, plus)),
        "sign_accuracy": _percent(float(((likely > 0.5) == plus).mean())),
        "sign_majority": _percent(float(max(plus.mean(), 1 - plus.mean()))),
        "sign_edges": int((value >= 0).sum()),
    }


def _percent(value: float) -> float:
    return round(100 * float(value), 2)
