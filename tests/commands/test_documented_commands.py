"""Every command that README and documentation show in a `console` block runs, in the order of the page."""

import contextlib
import re
import shlex
import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from small_files import write_files

import timelike as tl
from timelike.cli.main import main

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: DNA repair and its relatives, as in the Gene Ontology.
ONTOLOGY = "format-version: 1.2\n" + "".join(
    f"\n[Term]\nid: GO:{term}\nname: {name}\n" + (f"is_a: GO:{parent}\n" if parent else "")
    for term, name, parent in (
        ("0008150", "biological process", None),
        ("0006259", "DNA metabolic process", "0008150"),
        ("0006281", "DNA repair", "0006259"),
        ("0006310", "DNA recombination", "0006259"),
        ("0006284", "base-excision repair", "0006281"),
        ("0006289", "nucleotide-excision repair", "0006281"),
    )
)


def commands(page: Path) -> list[str]:
    text = page.read_text(encoding="utf-8")
    lines = [line for block in BLOCK.finditer(text) for line in block[1].splitlines()]
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if commands(page)]


def write_evidence(folder: Path, edges: str) -> None:
    """Expression, features, scores and signs for the nodes of these edges."""
    pairs = [line.split("\t") for line in edges.splitlines()]
    names, rng = sorted({name for pair in pairs for name in pair}), np.random.default_rng(0)
    values = {f"sample{i}": rng.normal(size=len(names)) for i in range(6)}
    pl.DataFrame({"gene": names, **values}).write_csv(folder / "expression.tsv", separator="\t")
    pl.DataFrame({"gene": names, "length": range(len(names))}).write_csv(folder / "features.csv")
    (folder / "regulators.txt").write_text("lexA\nrecA\n")
    scores = "".join(f"{s}\t{t}\t{i}\n" for i, (s, t) in enumerate(pairs))
    (folder / "genie3.tsv").write_text(f"source\ttarget\tscore\n{scores}")
    signs = "".join(f"{s}\t{t}\t{'+-'[i % 2]}\n" for i, (s, t) in enumerate(pairs))
    (folder / "signed.tsv").write_text(f"source\ttarget\teffect\n{signs}")


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_run(page, tmp_path, monkeypatch, capsys):
    """On so few edges that none are held out: `auto` then is one run."""
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path, tl.split_edges(tl.datasets.random_dag(20, 110, seed=2), valid=0, test=0.15))
    edges = (tmp_path / "edges.tsv").read_text()
    (tmp_path / "regulation.tsv").write_text(edges)
    (tmp_path / "table.csv").write_text("regulator,gene\n" + edges.replace("\t", ","))
    (tmp_path / "pairs.tsv").write_text("lexA\trecA\nrecA\tlexA\n")
    (tmp_path / "new-edges.tsv").write_text("lexA\tnew\nnew\tgene9\n")
    (tmp_path / "gone.tsv").write_text(edges.splitlines()[-1])
    (tmp_path / "edges" / "year=2026").mkdir(parents=True)
    rows = pl.read_csv(
        tmp_path / "edges.tsv", separator="\t", new_columns=["source", "target"], has_header=False
    )
    for file, part in {"part-1": rows[:40], "part-2": rows[40:], "edges/year=2026/part-0": rows}.items():
        part.write_parquet(tmp_path / f"{file}.parquet")
    (tmp_path / "go.obo").write_text(ONTOLOGY)
    write_evidence(tmp_path, edges)
    for command in commands(page):
        program, *arguments = shlex.split(command)
        assert program == "timelike", command
        ends = (
            contextlib.suppress(SystemExit) if "--print-completion" in arguments else contextlib.nullcontext()
        )
        with ends:
            main(arguments)
    assert capsys.readouterr().out


def test_what_is_to_be_installed_can_be():
    """From a clone, with extras that there are; the line for after a release is a remark beside it."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    text = "".join(page.read_text("utf-8") for page in (ROOT / "README.md", ROOT / "docs" / "tutorial.md"))
    lines = [line.partition("#")[0].strip() for line in text.splitlines() if line.startswith("pip install")]
    assert len(lines) == 3
    for line in lines:
        assert re.fullmatch(r'pip install "\.\[(\w+)\]"', line)[1] in extras


def test_three_commands_of_the_readme():
    assert [command.split()[1] for command in commands(ROOT / "README.md")][:3] == ["fit", "predict", "plot"]
