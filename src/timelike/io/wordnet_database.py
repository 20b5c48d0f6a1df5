"""WordNet's own database: `data.noun` or `data.verb`, as Debian's package wordnet-base installs them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from timelike.datasets.wordnet import senses, synsets
from timelike.io.byte_streams import File
from timelike.io.graph_builder import Builder
from timelike.io.ontology_terms import Term, add_terms

#: Pointers to parents (wninput(5WN)) → relation. Holonyms are what a synset is a part of.
POINTERS = {
    "@": "is_a",
    "@i": "is_a",
    "#p": "part_of",
    "#m": "member_of",
    "#s": "substance_of",
}
LETTERS = {"noun": "n", "verb": "v"}


def collect(file: File, builder: Builder, relations: Sequence[str] = ("is_a",), labels: bool = False) -> None:
    """Add an edge from each synset to its hypernyms; nodes are named as in NLTK, or by their words.

    The name dog.n.01 needs the number of the sense, from the file `index.noun` in the same folder.
    """
    kind = "" if file.path is None else file.path.suffix.removeprefix(".")
    if file.path is None or kind not in LETTERS:
        known = " or ".join(f"data.{kind}" for kind in LETTERS)
        raise ValueError(f"{file.name}: a WordNet database must be the file {known}, uncompressed")
    index = Path(file.path).with_name(f"index.{kind}")
    if not index.exists():
        raise ValueError(f"{file.name}: {index} is missing; it numbers the senses, so keep both together")
    number = dict(senses(index))
    terms, ids = [], {}
    for line, synset in synsets(file.path):
        word = synset.words[0].lower()
        if (word, synset.offset) not in number:
            raise ValueError(f"{file.name}, line {line}: {index} has no sense of {word!r}")
        ids[synset.offset] = f"{word}.{LETTERS[kind]}.{number[word, synset.offset]:02d}"
        parents = [(POINTERS[how], at, f"line {line}") for how, at in synset.pointers if how in POINTERS]
        label = ", ".join(synset.words).replace("_", " ")
        terms.append(Term(ids[synset.offset], label, parents=parents))
    for term in terms:
        term.parents = [(how, ids.get(at, at), where) for how, at, where in term.parents]
    add_terms({term.id: term for term in terms}, builder, relations, labels, {*POINTERS.values()})
