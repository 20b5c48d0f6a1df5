"""What goes with a data set beside its edges: expression of its genes, and other tools' lists of pairs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from timelike._util.checks import one_of
from timelike.datasets.downloads import Published, locate
from timelike.datasets.dream5 import FILES, HOME, gene_names
from timelike.graphs.digraph import DiGraph

if TYPE_CHECKING:
    import polars as pl

PEAK = "https://github.com/doaa-altarawy/PEAK"
PORTIA = "https://github.com/AntoinePassemiers/PORTIA-Manuscript"
PYMODULON = "https://pypi.org/project/pymodulon/0.2.1 (PRECISE, Sastry et al. 2019)"


def _file(name: str, sha256: str | None, home: str, folder: str = "expression") -> Published:
    return Published(folder, name, sha256, home)


#: Data set → name of a table → its file. Tables with `net` in the name are the challenge's own.
TABLES: dict[str, dict[str, Published]] = {
    "dream5:in-silico": {
        "CLR": _file(
            "dream5-in-silico-clr.tsv.gz",
            "36062f6d39e8d832dac41422c1eca8aefdcb524a33a434919fd6673585ce494f",
            PEAK,
        ),
        "GENIE3": _file(
            "genie3-in-silico.tsv.gz",
            "a117fd1ac68f01b2551688c89c85686e43ebba8a444d0ea55d1c58fdc7ee03db",
            PORTIA,
        ),
        "original": _file("net1_expression_data.tsv", None, HOME, "dream5"),
    },
    "dream5:ecoli": {
        "expression": _file(
            "dream5-ecoli.tsv.gz", "09f7cb0e27f1d371a0afc70fef0700c648d8948ab6204fceb77b841ab64db169", PEAK
        ),
        "GENIE3": _file(
            "genie3-ecoli.tsv.gz", "57a32622671de5afa4900ddba0646fd725954bb6d0e69b889a86a0efb98cbc4c", PORTIA
        ),
        "original": _file("net3_expression_data.tsv", None, HOME, "dream5"),
    },
    "dream5:yeast": {
        "GENIE3": _file(
            "genie3-yeast.tsv.gz", "f61ef371f7a762e1b0acb5aad3130a60541a584589e63f5663696c2085c67019", PORTIA
        ),
        "original": _file("net4_expression_data.tsv", None, HOME, "dream5"),
    },
    "precise:ecoli": {
        "expression": _file(
            "precise-ecoli.tsv.gz",
            "5d3601fd41f85a26402e47d6ca82c2648251385e0126a2f70cda07945f9c6893",
            PYMODULON,
        ),
        "network": _file(
            "precise-ecoli-trn.csv",
            "1d45af447a1d110346c14fa60df601cf38f83d9eb023bdc94e5ddc4cefb0eeb8",
            PYMODULON,
        ),
        "genes": _file(
            "precise-ecoli-genes.csv",
            "2e1e29d811c26f34fec9c4ce702cc58b125a76f4d2c20b69344c8d3781ec8888",
            PYMODULON,
        ),
    },
}

#: The files of which the graph "precise:ecoli" is made.
PRECISE = (TABLES["precise:ecoli"]["network"], TABLES["precise:ecoli"]["genes"])


def table(name: str, which: str, data_dir: str | os.PathLike | None = None) -> pl.DataFrame:
    """A table that goes with a data set, such as "expression" with "dream5:ecoli", under its node names.

    Expression and CLR have a row per gene; a list such as "GENIE3" has source, target and score; "network"
    and "genes" of PRECISE have signs and operons. "original" is the challenge's file, where a user has it.
    """
    import polars as pl

    one_of("name", name, TABLES)
    one_of("which", which, TABLES[name])
    path = locate(TABLES[name][which], data_dir)
    found = pl.read_csv(path, separator="," if ".csv" in path.name else "\t")
    if name == "precise:ecoli":
        return _precise_names(found, which, data_dir)
    names = gene_names(locate(FILES[name.removeprefix("dream5:")][1], data_dir))
    if which == "original":  # samples × genes
        found = found.transpose(include_header=True, header_name="gene")
    texts = [column for column in ("gene", "source", "target") if column in found.columns]
    found = found.with_columns(pl.col(texts).replace(names))
    return found.rename({column: names[column] for column in found.columns if column in names})


def precise(data_dir: str | os.PathLike | None = None) -> DiGraph:
    """The regulatory network of E. coli that goes with PRECISE, regulators and genes by name."""
    rows = table("precise:ecoli", "network", data_dir)
    names = sorted({*rows["regulator"], *rows["gene"]})
    number = {name: i for i, name in enumerate(names)}
    s, t = ([number[x] for x in rows[end]] for end in ("regulator", "gene"))
    return DiGraph.from_arrays(s, t, names=names)


def _precise_names(found: pl.DataFrame, which: str, data_dir: str | os.PathLike | None) -> pl.DataFrame:
    """Names of genes for their b-numbers; regulators are proteins, written like their genes (Fur: fur)."""
    import polars as pl

    genes = pl.read_csv(locate(TABLES["precise:ecoli"]["genes"], data_dir))
    genes = genes.rename({genes.columns[0]: "b_number", "gene_name": "gene"})
    if which == "genes":
        return genes.select("gene", "b_number", "operon")
    names = dict(zip(genes["b_number"], genes["gene"], strict=True))
    if which == "expression":
        return found.with_columns(pl.col("gene").replace(names))
    known = {*genes["gene"]}
    small = {x: x[:1].lower() + x[1:] for x in found["regulator"].unique()}
    written = {x: gene for x, gene in small.items() if gene in known}
    return found.select(
        pl.col("regulator").replace(written), pl.col("gene_id").replace(names).alias("gene"), sign="effect"
    )
