"""WordNet: a small database written here, and the real one and the published splits if present."""

import dataclasses
import shutil

import numpy as np
import pytest

from timelike.datasets import load, wordnet_split
from timelike.datasets.families import transitive_closure
from timelike.datasets.wordnet import FILES, read_nouns

LICENCE = "  1 This software and database is being provided to you\n  2 under a licence | with a bar\n"
DATA = (
    "00000100 03 n 01 entity 0 002 ~ 00000200 n 0000 ~ 00000400 n 0000 | all there is\n"
    "00000200 03 n 02 Animal 0 beast 0 002 @ 00000100 n 0000 ~ 00000300 n 0000 | an @ 00000400 n 0000 gloss\n"
    '00000300 05 n 01 dog 0 001 @ 00000200 n 0000 | "a | bar"\n'
    "00000400 03 n 01 dog 1 003 @ 00000100 n 0000 ! 00000300 n 0101 + 00000300 v 0101 | a support\n"
    "00000500 05 n 0a Laika 0 b 0 c 0 d 0 e 0 f 0 g 0 h 0 i 0 j 0 "
    "002 @i 00000300 n 0000 @ 00000400 n 0000 | one\n"
)
INDEX = (
    "animal n 1 2 @ ~ 1 0 00000200  \n"
    "beast n 1 2 @ ~ 1 0 00000200  \n"
    "dog n 2 3 @ ~ ! 2 1 00000400 00000300  \n"
    "entity n 1 1 ~ 1 1 00000100  \n"
    "laika n 1 1 @i 1 0 00000500  \n"
)


def write(folder, data: str = LICENCE + DATA, index: str = LICENCE + INDEX):
    (folder / "data.noun").write_text(data, encoding="utf-8")
    (folder / "index.noun").write_text(index, encoding="utf-8")
    return folder / "data.noun", folder / "index.noun"


def named_edges(graph) -> set[tuple]:
    return {(graph.names[s], graph.names[t]) for s, t in zip(graph.sources, graph.targets, strict=True)}


def test_parser(tmp_path):
    graph = read_nouns(*write(tmp_path))
    assert graph.names == ("entity.n.01", "animal.n.01", "dog.n.02", "dog.n.01", "laika.n.01")
    assert named_edges(graph) == {
        ("entity.n.01", "animal.n.01"),
        ("entity.n.01", "dog.n.01"),
        ("animal.n.01", "dog.n.02"),
        ("dog.n.02", "laika.n.01"),
        ("dog.n.01", "laika.n.01"),
    }
    assert named_edges(transitive_closure(graph)) - named_edges(graph) == {
        ("entity.n.01", "dog.n.02"),
        ("entity.n.01", "laika.n.01"),
        ("animal.n.01", "laika.n.01"),
    }


@pytest.mark.parametrize(
    ("data", "index", "says"),
    [
        (LICENCE + "junk\n", INDEX, "data.noun, line 3: .*'junk'"),
        (DATA.replace("002 ~ 00000200", "0x2 ~ 00000200"), INDEX, "data.noun, line 1: .*synset"),
        (DATA.replace(" 001 @ 00000200 n 0000", " 001 @"), INDEX, "data.noun, line 3: .*synset"),
        (DATA, "dog n\n", "index.noun, line 1: .*'dog n'"),
        (DATA, INDEX.replace("laika", "lassie"), "data.noun, line 5: .*'laika' .*00000500"),
        (DATA.replace("@i 00000300", "@i 00000900"), INDEX, "data.noun: .*00000900 .*laika.n.01"),
        ("\x00\xff\x00\n", INDEX, "data.noun, line 1: .*synset"),
    ],
)
def test_bad_lines(tmp_path, data, index, says):
    with pytest.raises(ValueError, match=says):
        read_nouns(*write(tmp_path, data, index))


def test_another_version_is_refused(tmp_path):
    write(tmp_path)
    with pytest.raises(ValueError, match=r"data\.noun has 5 .*82,115"):
        load("wordnet:nouns", tmp_path)


def test_splits_do_not_stand_in_for_the_database(data_dir, tmp_path, monkeypatch):
    shutil.copytree(data_dir / "wordnet", tmp_path / "wordnet", ignore=shutil.ignore_patterns("*.noun"))
    monkeypatch.setattr(
        "timelike.datasets.wordnet.FILES", tuple(dataclasses.replace(file, installed=None) for file in FILES)
    )
    with pytest.raises(FileNotFoundError, match=r"data\.noun .*is missing.*wordnet-base"):
        load("wordnet:nouns", tmp_path)


def test_counts(nouns, wordnet_dir):
    assert (nouns.num_nodes, nouns.num_edges) == (82_115, 743_241)
    for name, nodes, edges in (
        ("noun-hypernyms", 82_115, 84_427),
        ("nouns-without-root", 82_114, 661_127),
        ("mammals", 1_182, 6_542),
    ):
        graph = load(f"wordnet:{name}", wordnet_dir)
        assert (graph.num_nodes, graph.num_edges) == (nodes, edges), name


def test_edges_point_from_hypernym_to_hyponym(nouns):
    above, below = nouns.numbers(["feline.n.01", "entity.n.01"]), nouns.numbers(["cat.n.01", "cat.n.01"])
    assert nouns.has_edges(above, below).all()
    assert not nouns.has_edges(below, above).any()
    root = nouns.numbers("entity.n.01")[0]
    assert (nouns.sources == root).sum() == nouns.num_nodes - 1


def test_mammals_are_the_subtree(nouns, wordnet_dir):
    mammals = load("wordnet:mammals", wordnet_dir)
    top = nouns.numbers("mammal.n.01")[0]
    below = {nouns.names[i] for i in nouns.targets[nouns.sources == top]}
    assert set(mammals.names) == below | {"mammal.n.01"}
    place = nouns.numbers(list(mammals.names))
    assert nouns.has_edges(place[mammals.sources], place[mammals.targets]).all()
    assert mammals.num_edges == (np.isin(nouns.sources, place) & np.isin(nouns.targets, place)).sum()


SIZES = {0: 84_363, 10: 142_039, 25: 228_554, 50: 372_745}


@pytest.fixture(scope="session")
def split0(data_dir):
    return wordnet_split(0, data_dir)


def parts(split):
    return split.valid_edges, split.valid_negatives, split.test_edges, split.test_negatives


@pytest.mark.parametrize("percent", SIZES)
def test_split_counts(percent, data_dir):
    split = wordnet_split(percent, data_dir)
    assert (split.train.num_nodes, split.train.num_edges) == (82_114, SIZES[percent])
    assert [len(pairs) for pairs in parts(split)] == [28_838, 288_380, 28_838, 288_380]


def test_splits_share_no_edge(split0):
    train, valid, test = split0.train, split0.valid_edges, split0.test_edges
    assert not train.has_edges(*valid.T).any()
    assert not train.has_edges(*test.T).any()
    assert not {tuple(pair) for pair in valid} & {tuple(pair) for pair in test}


def test_basic_edges_close_to_the_published_number_of_pairs(split0):
    assert transitive_closure(split0.train).num_edges == 661_127


def test_splits_lie_in_the_closure(nouns, split0, wordnet_dir):
    direct = load("wordnet:noun-hypernyms", wordnet_dir)
    train = split0.train
    assert set(train.names) == set(nouns.names) - {"entity.n.01"}
    place = nouns.numbers(list(train.names))
    assert direct.has_edges(place[train.sources], place[train.targets]).all()
    for pairs, inside in zip(parts(split0), (True, False, True, False), strict=True):
        assert (nouns.has_edges(*place[pairs].T) == inside).all()


def test_split_errors(data_dir, tmp_path):
    with pytest.raises(ValueError, match=r"percent is 33; .*\(0, 10, 25, 50\)"):
        wordnet_split(33, data_dir)
    with pytest.raises(FileNotFoundError, match=r"vocab .*is missing.*dalab/hyperbolic_cones"):
        wordnet_split(10, tmp_path)
    for part in ("vocab", "valid"):
        shutil.copy(data_dir / "wordnet" / f"noun_closure.tsv.{part}", tmp_path)
    own = tmp_path / "noun_closure.tsv.train_50percent"
    with pytest.raises(FileNotFoundError, match="train_50percent is missing"):
        wordnet_split(50, tmp_path)
    for text in ("1\t82114\n", "1\t-1\n", "1\ta\n", "1\n", "1\t2\t3\n"):
        own.write_text(text)
        with pytest.raises(ValueError, match=r"train_50percent: .*node numbers"):
            wordnet_split(50, tmp_path)


def test_names_and_numbers_agree(split0, data_dir):
    with open(data_dir / "wordnet" / "noun_closure.tsv.vocab", encoding="utf-8") as lines:
        assert list(split0.train.names) == [line.rstrip("\n").split("\t")[1] for line in lines]
    assert split0.test_edges.dtype == np.int32
