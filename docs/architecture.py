"""Draw the map of rooms and the path of a fit and of a prediction; run `python docs/architecture.py`.

The map comes from the import statements of `src/timelike`. The paths list landmarks: functions that the data
passes, with what comes out of each. `trace` runs a small fit and reports the order in which they are called.
`architecture.json` stores both as text; tests compare it with the code.
"""

import ast
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = HERE.parent / "src" / "timelike"
PAGE = HERE / "architecture.md"
#: The table of rooms on the page.
TABLE = re.compile(r"(<!-- rooms -->\n).*?(<!-- end -->)", re.DOTALL)
STORED = HERE / "_static" / "architecture.json"

#: Call → landmarks in the order of their first call: room.module:function, and what comes out of it.
PATHS = {
    "fit": {
        "estimator.spacetime_embedding:SpacetimeEmbedding.fit": "a file, a graph or shards comes in",
        "io.reading:read": "DiGraph: sorted edges, node names, notes",
        "estimator.fit_plan:resolve": "FitPlan: every choice, with its reason",
        "evaluation.negative_kinds:suitable_negatives": "the kind of negatives that suits the graph",
        "evaluation.splits:split_edges": "training edges and labelled validation pairs",
        "estimator.planned_candidates:assemble": "Model and Config: recipe, then settings, then options",
        "training.training_loop:train": "Embedding: the points of the best epoch",
        "engine.sampling:EdgeTable.build": "edges on the device, ready for look-up",
        "engine.epoch:run_epoch": "points, optimiser state, step and key",
        "engine.batch_step:batch_loss": "the loss of a batch: edges and negative samples",
        "manifolds.flat:Flat.separation": "Separation: interval s² and time difference Δt",
        "likelihoods.fermi_dirac:TripleFermiDirac.log_probs": "log F and log(1 − F)",
        "engine.optimizers:update_rows": "moved rows of the batch",
        "manifolds.flat:Flat.gradient": "a direction of ascent, as a tangent vector",
        "core.manifold:Manifold.step": "the end of the geodesic: the new point",
        "embedding.embedding:Embedding.calibrated": "probabilities calibrated on the validation pairs",
        "estimator.carry_out:refit": "trained once more, with the validation edges",
        "evidence.learning:combine": "Combiner: the weights of geometry and evidence",
    },
    "predict": {
        "estimator.fitted_answers:FittedAnswers.top_edges": "how many edges, between which nodes",
        "embedding.trained_on:TrainedOn.known": "known edges, which are excluded",
        "embedding.pair_answers:PairAnswers.top_edges": "source, target, probability and spread, best first",
        "evidence.pair_columns:Columns.features": "paths, degrees and the like of each pair",
        "manifolds.pairwise:log_probs": "log F of a block of pairs",
        "core.model:Model.from_separation": "the sum over the images of a circle of time",
        "likelihoods.fermi_dirac:TripleFermiDirac.log_probs": "log F of every image",
        "evidence.combiner:Combiner.log_odds": "calibrated log-odds of geometry and evidence together",
    },
}


def imports() -> dict[str, list[str]]:
    """Room → the rooms that its modules import, inside functions and for type checkers too."""
    rooms = sorted(folder.name for folder in SOURCE.iterdir() if (folder / "__init__.py").exists())
    return {room: sorted(_imported(room) & {*rooms} - {room}) for room in rooms}


def _imported(room: str) -> set[str]:
    names = set()
    for file in (SOURCE / room).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module == "timelike":
                names |= {f"timelike.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add(str(node.module))
    return {name.split(".")[1] for name in names if name.startswith("timelike.")}


def about(room: str) -> str:
    """The first sentence of a room's docstring."""
    text = ast.get_docstring(ast.parse((SOURCE / room / "__init__.py").read_text(encoding="utf-8"))) or ""
    return text.split("\n\n")[0].replace("\n", " ")


def reduced(graph: dict[str, list[str]]) -> dict[str, list[str]]:
    """The imports that do not follow from others: A → C is left out where A → B and B → … → C."""

    def below(room: str) -> set[str]:
        return {*graph[room]}.union(*(below(other) for other in graph[room]))

    return {
        room: [n for n in needs if not any(n in below(other) for other in needs if other != n)]
        for room, needs in graph.items()
    }


def levels(graph: dict[str, list[str]]) -> dict[str, int]:
    """Room → the length of the longest chain of imports below it."""

    def level(room: str) -> int:
        return 1 + max((level(other) for other in graph[room]), default=-1)

    return {room: level(room) for room in graph}


def trace() -> dict[str, list[tuple[str, str]]]:
    """Run a small fit and a prediction: for each, the landmarks with their callers' rooms, in order.

    Run it in a fresh process: JAX traces a function once.
    """
    import timelike as tl

    edges = tl.datasets.duplication_divergence(seed=17, nodes=60)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "edges.tsv"
        file.write_text("".join(f"{s}\t{t}\n" for s, t in edges.pairs), encoding="utf-8")
        model = tl.SpacetimeEmbedding(  # nothing is left to vary, so that one run trains
            "minkowski",
            likelihood=tl.likelihoods.TripleFermiDirac(),
            dim=2,
            epochs=2,
            learning_rate=0.05,
            progress=False,
        )
        return {
            "fit": _calls(lambda: model.fit(file), PATHS["fit"]),
            "predict": _calls(lambda: model.top_edges(3), PATHS["predict"]),
        }


def _calls(action: Callable[[], object], landmarks: dict[str, str]) -> list[tuple[str, str]]:
    functions = {landmark.partition(":")[2] for landmark in landmarks}
    found: dict[str, str] = {}

    def profile(frame, event, _):
        code = frame.f_code
        if event != "call" or code.co_qualname not in functions:
            return
        here = f"{_module(code.co_filename)}:{code.co_qualname}"
        if here not in landmarks or here in found:
            return
        caller = frame.f_back
        while caller is not None and _room(caller.f_code.co_filename) in ("", "_util"):  # wrappers
            caller = caller.f_back
        found[here] = "" if caller is None else _room(caller.f_code.co_filename)

    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
    return list(found.items())


def _room(file: str) -> str:
    return _module(file).partition(".")[0]


def _module(file: str) -> str:
    """A file of the package as room.module; any other file: ''."""
    path = Path(file)
    inside = file.startswith(f"{SOURCE}{os.sep}") and path.parent != SOURCE
    return f"{path.parent.name}.{path.stem}" if inside else ""


def table(graph: dict[str, list[str]]) -> str:
    """The rooms as a table in Markdown, those that import most first."""
    level = levels(graph)
    rooms = sorted(graph, key=lambda room: (-level[room], room))
    rows = [f"| `{room}` | {about(room)} | {', '.join(graph[room]) or 'nothing'} |" for room in rooms]
    return "\n".join(["| room | contents | imports |", "|---|---|---|", *rows])


def stored() -> dict[str, object]:
    """The text form that tests compare with the code."""
    return json.loads(STORED.read_text(encoding="utf-8"))


def main() -> None:
    from architecture_pictures import draw_path, draw_rooms

    graph, calls = imports(), trace()
    missing = {name: [*PATHS[name].keys() - dict(found).keys()] for name, found in calls.items()}
    if any(missing.values()):
        sys.exit(f"never called: {missing}; choose other landmarks in PATHS")
    STORED.write_text(json.dumps({"imports": graph, **calls}, indent=1) + "\n", encoding="utf-8")
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(TABLE.sub(lambda m: f"{m[1]}{table(graph)}\n{m[2]}", text), encoding="utf-8")
    save = {"dpi": 150, "metadata": {"Software": None}}
    draw_rooms(graph, reduced(graph), levels(graph)).savefig(HERE / "_static" / "rooms.png", **save)
    for name, found in calls.items():
        draw_path(found, PATHS[name]).savefig(HERE / "_static" / f"path-of-{name}.png", **save)


if __name__ == "__main__":
    main()
