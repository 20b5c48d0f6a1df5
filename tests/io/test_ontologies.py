"""Ontologies in every syntax: the same terms, labels and edges, and a remark for everything unusual."""

import sys

import pytest

from timelike import read

HEAD = """@prefix : <http://example.org/zoo#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix obo: <http://purl.obolibrary.org/obo/> .
"""
ZOO = (
    HEAD
    + """
<http://example.org/zoo> a owl:Ontology ; owl:imports <http://example.org/base.owl> .
obo:BFO_0000050 a owl:ObjectProperty ; rdfs:label "part of" .
:animal a owl:Class ; rdfs:label "Tier"@de, "the animal"@en ; rdfs:subClassOf owl:Thing .
:dog a owl:Class ; rdfs:label "a dog" ; rdfs:subClassOf :animal, :pet .
:pet a owl:Class ; rdfs:subClassOf :animal .
:tail a owl:Class ; rdfs:label "tail" ;
  rdfs:subClassOf [ a owl:Restriction ; owl:onProperty obo:BFO_0000050 ; owl:someValuesFrom :animal ] .
:puppy a owl:Class ; rdfs:label "puppy" ;
  owl:equivalentClass [ a owl:Class ; owl:intersectionOf ( :dog
    [ a owl:Restriction ; owl:onProperty :isYoungOf ; owl:someValuesFrom :dog ] ) ] .
:unicorn a owl:Class ; owl:deprecated true ; rdfs:subClassOf :animal .
:foal a owl:Class ; rdfs:label "foal" ; rdfs:subClassOf :unicorn .
"""
)
IS_A = {("dog", "animal"), ("dog", "pet"), ("pet", "animal"), ("puppy", "dog")}
PARTS = {("tail", "animal")}


def edges(graph) -> set[tuple]:
    return {(graph.name(s), graph.name(t)) for s, t in graph.pairs}


@pytest.fixture(params=["owl", "ttl", "nt", "owl.gz"])
def zoo(request, tmp_path):
    """The same ontology in each syntax."""
    import gzip

    import rdflib

    graph = rdflib.Graph().parse(data=ZOO, format="turtle")
    syntax = {"owl": "xml", "ttl": "turtle", "nt": "nt", "owl.gz": "xml"}[request.param]
    path = tmp_path / f"zoo.{request.param}"
    data = graph.serialize(format=syntax).encode()
    path.write_bytes(gzip.compress(data) if request.param.endswith("gz") else data)
    return path


def test_every_syntax(zoo):
    graph = read(zoo)
    assert edges(graph) == IS_A | PARTS
    assert set(graph.names) == {"animal", "dog", "pet", "tail", "puppy", "foal"}
    notes = "\n".join(graph.notes.lines())
    assert "1 obsolete term left out" in notes
    assert "1 edge to obsolete terms left out" in notes
    assert "1 imports not read (http://example.org/base.owl)" in notes
    assert "1 term with several parents" in notes


def test_relations_apart_and_together(zoo):
    assert edges(read(zoo, relations=["is_a"])) == IS_A
    assert edges(read(zoo, relations=["part_of"])) == PARTS
    assert edges(read(zoo, relations=["is_young_of"])) == {("puppy", "dog")}
    with pytest.raises(ValueError, match="no relation 'has_a'; the file has is_a, is_young_of, part_of"):
        read(zoo, relations=["has_a"])


def test_labels(zoo):
    graph = read(zoo, labels=True)
    named = {"dog": "a dog", "animal": "the animal"}  # other labels are as the ids
    assert edges(graph) == {(named.get(a, a), named.get(b, b)) for a, b in IS_A | PARTS}
    assert "1 term without a label, known by id" in graph.notes.lines()


def test_the_beginning_tells_the_syntax(tmp_path):
    import rdflib

    for syntax in ("xml", "turtle", "nt"):
        path = tmp_path / f"{syntax}.txt"
        rdflib.Graph().parse(data=ZOO, format="turtle").serialize(path, format=syntax, encoding="utf-8")
        assert edges(read(path)) == IS_A | PARTS


def test_thesauri(tmp_path):
    path = tmp_path / "thesaurus.ttl"
    path.write_text(
        HEAD
        + """
:a a skos:Concept ; skos:prefLabel "cats"@en, "Katzen"@de ; skos:broader :b .
:b a skos:Concept ; skos:prefLabel "animals"@en ; skos:narrower :a, :c .
:c a skos:Concept ; skos:prefLabel "animals"@en .
"""
    )
    assert edges(read(path)) == {("a", "b"), ("c", "b")}
    assert edges(read(path, labels=True)) == {("cats", "animals (b)"), ("animals (c)", "animals (b)")}


def test_ids_of_the_obo_foundry_and_equal_names(tmp_path):
    """GO:1 as in OBO files; two terms whose addresses end alike keep the whole address."""
    path = tmp_path / "go.ttl"
    path.write_text(
        HEAD
        + """
obo:GO_0000001 rdfs:subClassOf obo:GO_0000002 .
<http://a.org/x> rdfs:subClassOf <http://b.org/x> .
"""
    )
    assert edges(read(path)) == {("GO:0000001", "GO:0000002"), ("http://a.org/x", "http://b.org/x")}


def test_cycles_are_counted(tmp_path):
    path = tmp_path / "cycle.ttl"
    path.write_text(HEAD + ":a rdfs:subClassOf :b . :b rdfs:subClassOf :a . :c rdfs:subClassOf :a .")
    graph = read(path)
    assert graph.num_edges == 3
    assert any("2 terms on cycles" in line for line in graph.notes.lines())
    path = tmp_path / "cycle.obo"
    path.write_text("[Term]\nid: a\nis_a: b\n\n[Term]\nid: b\nis_a: a\n")
    assert any("2 terms on cycles" in line for line in read(path).notes.lines())


def test_expressions_that_contain_themselves_end(tmp_path):
    path = tmp_path / "loop.ttl"
    path.write_text(
        HEAD
        + """
:a rdfs:subClassOf :b, _:x .
_:x owl:intersectionOf _:l . _:l rdf:first _:x ; rdf:rest _:l .
""".replace("rdf:", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#")
        .replace("#first", "#first>")
        .replace("#rest", "#rest>")
    )
    assert edges(read(path)) == {("a", "b")}


def test_without_rdflib_the_error_names_the_extra(tmp_path, monkeypatch):
    path = tmp_path / "zoo.ttl"
    path.write_text(ZOO)
    monkeypatch.setitem(sys.modules, "rdflib", None)
    with pytest.raises(ImportError, match=r"zoo.ttl.*timelike\[ontology\]"):
        read(path)


NOUNS = """  1 This software and database is being provided to you, the LICENSEE
00000010 03 n 01 entity 0 002 ~ 00000020 n 0000 ~ 00000030 n 0000 | that which is
00000020 05 n 03 dog 0 domestic_dog 0 Canis_familiaris 0 002 @ 00000010 n 0000 #m 00000040 n 0000 | a pet
00000030 05 n 01 dog 1 001 @i 00000010 n 0000 | a fellow
00000040 05 n 01 Pack 0 002 @ 00000010 n 0000 + 00000020 v 0101 | of hounds
"""
SENSES = """  1 This software and database is being provided to you, the LICENSEE
dog n 2 1 @ 2 1 00000020 00000030
entity n 1 1 ~ 1 1 00000010
pack n 1 1 @ 1 0 00000040
"""


def test_wordnet(tmp_path):
    data = tmp_path / "data.noun"
    data.write_text(NOUNS)
    (tmp_path / "index.noun").write_text(SENSES)
    is_a = {("dog.n.01", "entity.n.01"), ("dog.n.02", "entity.n.01"), ("pack.n.01", "entity.n.01")}
    assert edges(read(data)) == is_a
    assert edges(read(data, relations=["member_of"])) == {("dog.n.01", "pack.n.01")}
    assert edges(read(data, relations=["is_a", "member_of"])) == is_a | {("dog.n.01", "pack.n.01")}
    labels = {a for a, _ in edges(read(data, labels=True))}
    assert labels == {"dog, domestic dog, Canis familiaris", "dog", "Pack"}
    (tmp_path / "index.noun").write_text(SENSES.replace("dog n", "cat n"))
    with pytest.raises(ValueError, match=r"line 3: .*no sense of 'dog'"):
        read(data)
