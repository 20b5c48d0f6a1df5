"""The mistakes behind the errors on the FAQ page; run `python docs/faq_errors.py` to quote them anew.

Each `text` block of the page is the message of one mistake, in this order.
"""

import json
import re
import tempfile
from contextlib import chdir
from pathlib import Path

import numpy as np

import timelike as tl

PAGE = Path(__file__).parent / "faq.md"
QUOTED = re.compile(r"(?<=^```text\n).*?(?=\n```$)", re.MULTILINE | re.DOTALL)


def edited(folder: Path, **changes: dict[str, object]) -> None:
    """Edit `model.json` by hand."""
    head = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    for part, values in changes.items():
        head[part] |= values
    (folder / "model.json").write_text(json.dumps(head), encoding="utf-8")


def mistakes() -> list:
    """The mistakes, one call each, in the order of the page."""
    Path("net.tsv").write_text("lexA\trecA\nlexA\tumuD\nrecA\n")
    Path("w.csv").write_text("source,target,weight\na,b,high\n")
    Path("u.csv").write_bytes("a,b\nä,c\n".encode("latin-1") + "é,c\n".encode())
    graph = tl.DiGraph.from_edges([("lexA", "recA"), ("lexA", "umuD"), ("recA", "lexA")])
    model = tl.Model(tl.manifolds.Minkowski(2), tl.likelihoods.TripleFermiDirac())

    def embed(names, nodes):
        return tl.Embedding(model, np.zeros((nodes, 2), np.float32), names, {}, {})

    named, numbered, odd = embed(graph.names, 3), embed(None, 30), embed((("a", 1), ("b", 2)), 2)
    named.save("model")
    edited(Path("model"), likelihood={"tau1": -1})
    return [
        lambda: tl.read("net.tsv"),
        lambda: tl.read("w.csv"),
        lambda: tl.read("u.csv"),
        lambda: tl.read("nett.tsv"),
        lambda: tl.read([("a", "a")]),
        lambda: tl.read(np.eye(3)),
        lambda: named.top_targets("LexA"),
        lambda: numbered.prob([30], [0]),
        lambda: named.top_edges(3, exclude=tl.datasets.cycle(30)),
        lambda: tl.split_edges(graph, test=15),
        lambda: tl.split_edges(graph, valid=0.5, test=0.5),
        lambda: tl.split_edges(graph, negatives="listed"),
        lambda: tl.train("net.tsv", model),
        lambda: tl.Model("minkowski", tl.likelihoods.TripleFermiDirac()),
        lambda: tl.train(graph, model, tl.Config(patience=5)),
        lambda: tl.evaluate(named, graph),
        lambda: tl.plot.save(named, "map.jpg"),
        lambda: named.add_nodes([("lexA", "umuD")]),
        lambda: odd.save("odd"),
        lambda: tl.Embedding.load("model"),
    ]


def messages(folder: str | Path) -> list[str]:
    """The error of each mistake."""
    found = []
    with chdir(folder):
        for mistake in mistakes():
            try:
                mistake()
            except (ValueError, TypeError, OSError) as error:
                found.append(str(error))
            else:
                raise AssertionError(f"mistake {len(found)} is no longer one")
    return found


def quoted() -> list[str]:
    """The errors that the page quotes."""
    return QUOTED.findall(PAGE.read_text(encoding="utf-8"))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        fresh = iter(messages(folder))
    text = QUOTED.sub(lambda _: next(fresh), PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
