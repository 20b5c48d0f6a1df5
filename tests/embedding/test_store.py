"""Saved models load with the same bits; errors about damaged folders name the file."""

import dataclasses
import json
import math
import shutil
import subprocess
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import polars as pl
import pytest
from embeddings import MODELS, make, make_model
from safetensors.numpy import load_file, save_file

import timelike as tl
from timelike import Embedding, Model
from timelike._util.checksums import SUMS
from timelike.embedding import model_folder
from timelike.embedding.calibration import Calibration
from timelike.evaluation.negative_kinds import KIND_ENDS
from timelike.graphs import node_names
from timelike.graphs.node_names import NameColumn, NameTuple, NumberColumn
from timelike.likelihoods import FermiDirac, TripleFermiDirac
from timelike.manifolds import AntiDeSitter, Cylinder, Flat, Minkowski, PseudoHyperboloid

FIXTURE = Path(__file__).parent / "model-schema-1"
HISTORY = {"loss": np.array([3.5, 2.25], np.float32), "rejected": np.array([1, 0], np.int32)}


def assert_equal(found: Embedding, expected: Embedding) -> None:
    assert found.model == expected.model
    assert found.points.dtype == expected.points.dtype
    assert found.points.tobytes() == expected.points.tobytes()
    assert found.names == expected.names
    assert found.info == expected.info
    assert found.calibration == expected.calibration
    assert found.history.keys() == expected.history.keys()
    for name, column in expected.history.items():
        assert found.history[name].dtype == column.dtype
        np.testing.assert_array_equal(found.history[name], column)


@pytest.mark.parametrize(("manifold", "likelihood"), MODELS)
def test_every_model_comes_back(manifold, likelihood, tmp_path):
    embedding = dataclasses.replace(make(make_model(manifold, likelihood), nodes=5), history=HISTORY)
    embedding.save(tmp_path / "model")
    assert_equal(Embedding.load(tmp_path / "model"), embedding)
    assert [x.name for x in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize(
    "model",
    [
        Model(Cylinder(Flat(2, 3), 7.5, 0), FermiDirac(0.1 + 0.2, -1e-30, 0.0)),
        Model(PseudoHyperboloid(3, 4, 1 / 3, 4), TripleFermiDirac(1e-7, 0.3, 1.0, -2.0, 0.7)),
        Model(AntiDeSitter(3, arc=0), TripleFermiDirac()),
    ],
    ids=str,
)
def test_numbers_and_counts_come_back(model, tmp_path):
    embedding = make(model, nodes=4)
    embedding.save(tmp_path / "model")
    assert_equal(Embedding.load(tmp_path / "model"), embedding)


def test_learned_numbers_come_back(tmp_path):
    model = tl.core.from_real(tl.core.to_real(make_model("cylindrical-minkowski")))
    embedding = make(model, nodes=6)
    embedding.save(tmp_path / "model")
    again = Embedding.load(tmp_path / "model")
    assert again.model.likelihood.tau1 == float(model.likelihood.tau1)
    pairs = np.divmod(np.arange(36), 6)
    np.testing.assert_array_equal(again.log_prob(*pairs), embedding.log_prob(*pairs))


@pytest.mark.long
def test_a_trained_model_comes_back(tmp_path):
    graph = tl.datasets.duplication_divergence(1, nodes=20)
    embedding = tl.train(graph, make_model(), tl.Config(epochs=2), progress=False)
    assert len(embedding.info["checksum"]) == 16
    embedding.save(tmp_path / "model")
    again = Embedding.load(str(tmp_path / "model"))
    assert again.info["config"]["clip"] == math.inf
    assert_equal(again, embedding)
    json.loads((tmp_path / "model" / "model.json").read_text(), parse_constant=pytest.fail)


@pytest.mark.parametrize(
    "names",
    [
        ("b", "a", "Ω λ\t'\"", ""),
        (5, -3, 2**60, 0),
        ("1", 1, 2.5, "2.5"),
        tuple(np.array([7, 8, 9, 10])),
        tuple(np.array(["x", "y", "z", "Δ"])),
        None,
    ],
    ids=str,
)
def test_names_keep_their_kind(names, tmp_path):
    make(nodes=4, names=names).save(tmp_path / "model")
    found = Embedding.load(tmp_path / "model").names
    assert found == names
    if names is not None:
        plain = [name.item() if isinstance(name, np.generic) else name for name in names]
        assert [type(name) for name in found] == [type(name) for name in plain]


@pytest.mark.parametrize(
    ("names", "kind"),
    [(("b", "a", "Ω", ""), NameColumn), ((-3, 0, 5, 2**60), NumberColumn), ((5, -3, 0, 1), NameTuple)],
    ids=str,
)
def test_many_names_stay_a_column(names, kind, tmp_path, monkeypatch):
    monkeypatch.setattr(node_names, "SMALL", 3)
    made = make(nodes=4, names=names)
    made.save(tmp_path / "model")
    found = Embedding.load(tmp_path / "model")
    assert type(found.names) is kind
    assert_equal(found, made)
    assert found.top_targets(names[2], 2) == made.top_targets(names[2], 2)
    twice = pl.read_parquet(tmp_path / "model" / "nodes.parquet").with_columns(name=pl.lit(names[0]))
    twice.write_parquet(tmp_path / "model" / "nodes.parquet")
    (tmp_path / "model" / SUMS).unlink()
    with pytest.raises(ValueError, match=r"nodes.parquet: name .*repeated"):
        Embedding.load(tmp_path / "model")


def test_calibration_and_odd_settings_come_back(tmp_path):
    calibration = Calibration(0.8, -1.25, 4.0, 100, 400)
    embedding = make(nodes=4, calibration=calibration)
    info = {"nested": {"a": [1, 2.5, None, True, -math.inf]}, "text": "Größe", "count": np.int64(3)}
    dataclasses.replace(embedding, info=info).save(tmp_path / "model")
    again = Embedding.load(tmp_path / "model")
    assert again.calibration == calibration
    assert again.info == info


def test_what_cannot_be_saved_says_so(tmp_path):
    for change, match in (
        ({"names": ("a", ("b", 1), "c", "d")}, r"node \('b', 1\) has a name of type tuple"),
        ({"info": {"x": {"y": object()}}}, r"info\['x'\]\['y'\] is <object"),
        ({"points": np.full((4, 3), np.nan, np.float32)}, "every coordinate must be finite"),
        ({"model": Model(Minkowski(3), FermiDirac(jnp.ones(3)))}, "FermiDirac: tau has shape"),
    ):
        with pytest.raises((TypeError, ValueError), match=match):
            dataclasses.replace(make(nodes=4), **change).save(tmp_path / "model")
        assert not list(tmp_path.iterdir())
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        make().save(tmp_path / "nowhere" / "model")


def test_overwriting_replaces_a_model_and_nothing_else(tmp_path):
    path = tmp_path / "model"
    make(nodes=4).save(path)
    make(nodes=5).save(path)
    assert len(Embedding.load(path).points) == 5
    (path / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=r"model .*notes\.txt"):
        make().save(path)
    assert (path / "notes.txt").read_text() == "mine"
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError, match="is a file"):
        make().save(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    make(nodes=3).save(tmp_path / "empty")
    assert len(Embedding.load(tmp_path / "empty").points) == 3


def test_a_failed_save_leaves_the_old_model(tmp_path):
    path = tmp_path / "model"
    make(nodes=4).save(path)
    with pytest.raises(TypeError):
        dataclasses.replace(make(nodes=5), info={"x": object()}).save(path)
    assert len(Embedding.load(path).points) == 4
    assert [x.name for x in tmp_path.iterdir()] == ["model"]


def test_a_crash_between_the_renames_leaves_the_old_model(tmp_path):
    make(nodes=4).save(tmp_path / ".model.old")  # what is on disk after the first rename
    make(nodes=5).save(tmp_path / ".model.new")
    assert len(Embedding.load(tmp_path / "model").points) == 4
    make(nodes=6).save(tmp_path / "model")
    assert len(Embedding.load(tmp_path / "model").points) == 6
    assert [x.name for x in tmp_path.iterdir()] == ["model"]


def edit_json(change):
    def edit(folder: Path) -> None:
        head = json.loads((folder / "model.json").read_text())
        change(head)
        (folder / "model.json").write_text(json.dumps(head))
        (folder / SUMS).unlink(missing_ok=True)

    return edit


def test_a_model_that_is_older_than_an_option_has_its_default(tmp_path):
    embedding = make(make_model("anti-de-sitter"), nodes=4)
    embedding.save(tmp_path / "model")
    edit_json(lambda head: head["manifold"].pop("arc"))(tmp_path / "model")
    assert_equal(Embedding.load(tmp_path / "model"), embedding)


def edit_points(change):
    def edit(folder: Path) -> None:
        save_file(change(load_file(folder / "points.safetensors")), folder / "points.safetensors")

    return edit


def edit_nodes(change):
    return lambda folder: change(pl.read_parquet(folder / "nodes.parquet")).write_parquet(
        folder / "nodes.parquet"
    )


def flip_last_bit(folder: Path) -> None:
    content = bytearray((folder / "points.safetensors").read_bytes())
    content[-1] ^= 1
    (folder / "points.safetensors").write_bytes(content)


def nan_point(tensors):
    points = tensors["points"].copy()
    points[2, 1] = np.nan
    return {"points": points}


WRONG = {
    "no head": (lambda f: (f / "model.json").unlink(), "model.json is missing"),
    "no points": (lambda f: (f / "points.safetensors").unlink(), "points.safetensors is missing"),
    "no nodes": (lambda f: (f / "nodes.parquet").unlink(), "nodes.parquet is missing"),
    "bad JSON": (lambda f: (f / "model.json").write_text("{"), "model.json: not readable as JSON"),
    "no text": (lambda f: (f / "model.json").write_bytes(b"\xff\xfe"), "model.json: not readable as JSON"),
    "a list": (
        lambda f: (f / "model.json").write_text("[]"),
        'model.json: .*"format" must be "timelike model"',
    ),
    "newer": (
        edit_json(lambda h: h.update(schema=3, timelike="9.0")),
        "model.json: .*schema 3 .*'9.0'.* 2: upgrade",
    ),
    "odd schema": (edit_json(lambda h: h.update(schema="1")), "model.json: \"schema\" is '1'"),
    "no schema": (edit_json(lambda h: h.pop("schema")), "model.json: there is no 'schema'"),
    "no manifold": (edit_json(lambda h: h.pop("manifold")), "model.json: there is no 'manifold'"),
    "no info": (edit_json(lambda h: h.pop("info")), "model.json: there is no 'info'"),
    "unknown manifold": (
        edit_json(lambda h: h["manifold"].update({"class": "Klein"})),
        "model.json: \"manifold\" is of class 'Klein'.*Cylinder, Flat, Quadric",
    ),
    "manifold a text": (edit_json(lambda h: h.update(manifold="x")), "\"manifold\" is of class 'x'"),
    "class a list": (
        edit_json(lambda h: h["likelihood"].update({"class": []})),
        '"likelihood" is of class \\[\\]',
    ),
    "negative temperature": (
        edit_json(lambda h: h["likelihood"].update(tau1=-1)),
        "model.json: TripleFermiDirac: tau1 is -1.0",
    ),
    "temperature a text": (edit_json(lambda h: h["likelihood"].update(tau1="1")), "tau1 is '1'"),
    "missing number": (edit_json(lambda h: h["likelihood"].pop("r")), "\"likelihood\" has no 'r'"),
    "extra number": (edit_json(lambda h: h["likelihood"].update(q=1)), "\"likelihood\" has an unknown 'q'"),
    "wrong dimension": (
        edit_json(lambda h: h["manifold"].update(positives=4)),
        r"points.safetensors: points has shape \(6, 4\).* 6\)",
    ),
    "wrong curvature": (edit_json(lambda h: h["manifold"].update(kappa=0)), "kappa is 0"),
    "bad calibration": (
        edit_json(lambda h: h.update(calibration={"slope": 1})),
        'model.json: "calibration" is .*slope',
    ),
    "negative slope": (
        edit_json(
            lambda h: h.update(calibration=dataclasses.asdict(Calibration(1, 0, 1, 9, 9)) | {"slope": -1})
        ),
        "model.json: Calibration: slope is -1",
    ),
    "truncated points": (
        lambda f: (f / "points.safetensors").write_bytes((f / "points.safetensors").read_bytes()[:-9]),
        "points.safetensors: not readable as safetensors",
    ),
    "a flipped bit": (flip_last_bit, r"points.safetensors: .*\(points is damaged"),
    "no table": (edit_points(lambda t: {"x": t["points"]}), "points.safetensors: there is no 'points'"),
    "NaN": (edit_points(nan_point), r"points.safetensors: points\[2\] is .*must be finite"),
    "off the surface": (
        edit_points(lambda t: {"points": t["points"] * 1.1}),
        r"points.safetensors: points\[0\] is .*off the surface",
    ),
    "odd history": (
        edit_points(lambda t: {**t, "history.loss": np.zeros((3, 2))}),
        r"points.safetensors: history.loss has shape \(3, 2\)",
    ),
    "odd epoch": (edit_json(lambda h: h["info"].update(best_epoch="x")), "\"info\": best_epoch is 'x'"),
    "integers": (edit_points(lambda t: {"points": t["points"].astype(np.int32)}), "points has dtype int32"),
    "not Parquet": (lambda f: (f / "nodes.parquet").write_text("id,name"), "nodes.parquet: not readable as"),
    "too few names": (edit_nodes(lambda t: t.head(3)), "nodes.parquet: 3 nodes.* 6 points"),
    "shuffled": (edit_nodes(lambda t: t.reverse()), "nodes.parquet: id is not 0, 1, 2"),
    "no ids": (edit_nodes(lambda t: t.drop("id")), "nodes.parquet: .*no column id.*name"),
    "twice": (
        edit_nodes(lambda t: t.with_columns(name=pl.lit("x"))),
        "nodes.parquet: name .*repeated",
    ),
    "odd kind": (
        edit_nodes(lambda t: t.with_columns(kind=pl.lit("date"))),
        "nodes.parquet: kind .*'date'",
    ),
    "not a number": (
        edit_nodes(lambda t: t.with_columns(kind=pl.lit("int"))),
        "nodes.parquet: invalid literal",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_folders_say_what_is_wrong_in_which_file(what, tmp_path):
    edit, match = WRONG[what]
    make(make_model("anti-de-sitter", dim=3), nodes=6, names=tuple("abcdef")).save(tmp_path / "model")
    (tmp_path / "model" / SUMS).unlink()  # as who edits by hand does
    edit(tmp_path / "model")
    with pytest.raises((ValueError, OSError), match=match) as caught:
        Embedding.load(tmp_path / "model")
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "model") in str(caught.value)


def test_any_flipped_byte_is_refused(tmp_path):
    """Also one that leaves a readable file, such as another digit of a temperature or letter of a name."""
    folder, rng = tmp_path / "model", np.random.default_rng(0)
    tl.SpacetimeEmbedding(epochs=1, evidence="none").fit(tl.datasets.cycle(30)).save(folder)
    Embedding.load(folder)
    files = sorted(file for file in folder.iterdir() if file.name != SUMS)
    assert {file.name for file in files} >= {"model.json", "nodes.parquet", "edges.parquet"}
    for file in files:
        whole = file.read_bytes()
        for place in rng.integers(0, len(whole), 10):
            file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            with pytest.raises(ValueError, match=f"{file.name} was changed or damaged"):
                Embedding.load(folder)
        file.write_bytes(whole)
    (folder / "edges.parquet").unlink()
    with pytest.raises(ValueError, match=r"edges\.parquet is missing"):
        Embedding.load(folder)


def test_a_list_of_checksums_that_is_cut_off_is_refused(tmp_path):
    folder = tmp_path / "model"
    make(make_model("minkowski", dim=3), nodes=6).save(folder)
    sums = (folder / SUMS).read_text().splitlines()
    for kept in range(len(sums)):
        (folder / SUMS).write_text("\n".join(sums[:kept]))
        with pytest.raises(ValueError, match="SHA256SUMS does not list"):
            Embedding.load(folder)
    (folder / SUMS).unlink()
    (folder / SUMS).mkdir()
    with pytest.raises(OSError, match="SHA256SUMS"):
        Embedding.load(folder)


def test_checksums_are_those_of_sha256sum(tmp_path):
    make(make_model("anti-de-sitter", dim=3), nodes=6).save(tmp_path / "model")
    command = ["sha256sum", "--check", "--strict", SUMS]
    if shutil.which("sha256sum") is None:
        pytest.skip("sha256sum is not installed")
    subprocess.run(command, cwd=tmp_path / "model", check=True, capture_output=True)


def test_there_is_no_model(tmp_path):
    with pytest.raises(FileNotFoundError, match="model: there is no such model folder"):
        Embedding.load(tmp_path / "model")
    (tmp_path / "edges.tsv").write_text("a\tb\n")
    with pytest.raises(NotADirectoryError, match=r"edges.tsv is a file"):
        Embedding.load(tmp_path / "edges.tsv")


def test_a_stored_model_of_schema_1_still_loads():
    """Made by `save` of version 0.1.0; `expected.json` beside it holds what it gave then."""
    embedding = Embedding.load(FIXTURE / "model")
    expected = json.loads((FIXTURE / "expected.json").read_text(encoding="utf-8"))
    assert list(embedding.names) == expected["names"]
    assert embedding.info["config"]["negatives"]["uniform"] == 4
    assert len(embedding.history["loss"]) == embedding.info["config"]["epochs"]
    sources, targets, probabilities = (list(x) for x in zip(*expected["pairs"], strict=True))
    np.testing.assert_allclose(embedding.prob(sources, targets), probabilities, rtol=1e-5)
    raw = dataclasses.replace(embedding, calibration=None).prob(sources, targets)
    np.testing.assert_allclose(raw, expected["raw"], rtol=1e-5)
    data = model_folder.load_trained_on(FIXTURE / "model", embedding)
    assert [*map(list, zip(data.graph.sources, data.graph.targets, data.graph.weights, strict=True))] == (
        expected["edges"]
    )
    valid = np.stack([data.valid.sources, data.valid.targets], axis=1)
    assert valid[np.asarray(data.valid.labels)].tolist() == expected["valid"]
    assert data.known.num_edges == len(expected["edges"]) + len(expected["valid"])


def test_a_stored_model_of_schema_2_still_loads():
    """With two more members; made by `save` of version 0.1.0."""
    folder = FIXTURE.with_name("model-schema-2")
    embedding = Embedding.load(folder / "model")
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    assert 1 + len(embedding.others) == expected["members"]
    sources, targets, probabilities = (list(x) for x in zip(*expected["pairs"], strict=True))
    np.testing.assert_allclose(embedding.prob(sources, targets), probabilities, rtol=1e-5)


def test_old_names_of_negatives_are_renamed_on_load(tmp_path):
    """Models saved before the kinds of negatives had one vocabulary load with the new names."""
    old = tmp_path / "old"
    shutil.copytree(FIXTURE / "model", old)
    drawn = {"uniform": 2, "target": 1, "hub": 3, "inner": 4, "outer": 5, "listed": 0}
    changes = {"protocol": "corrupt-target", "refit": {"edges": 7}}
    edit_json(lambda head: head["info"].update(changes))(old)
    edit_json(lambda head: head["info"]["config"].update(negatives={**drawn, "weights": {"inner": 2.0}}))(old)
    found, before = Embedding.load(old), Embedding.load(FIXTURE / "model")
    assert found.info["valid_negatives"] == "same_source"
    assert "protocol" not in found.info
    assert found.info["refit"] == {"edges": 7}
    assert found.info["config"]["negatives"] == {
        **{"uniform": 2, "same_source": 1, "popular_source": 3, "active_source": 4, "active_target": 5},
        **{"listed": 0, "weights": {"active_source": 2.0}},
    }
    config = tl.Config.from_dict(found.info["config"])
    assert dict(config.negatives.weights) == {"active_source": 2.0}
    assert found.points.tobytes() == before.points.tobytes()
    assert found.top_edges(20) == before.top_edges(20)
    found.save(tmp_path / "new")
    assert Embedding.load(tmp_path / "new").info == found.info


@pytest.mark.parametrize(("old", "new"), model_folder.RENAMED.items())
def test_every_old_name_becomes_a_kind_of_negatives(old, new):
    assert new in KIND_ENDS
    assert model_folder.renamed({"protocol": old}) == {"valid_negatives": new}
    assert model_folder.renamed({"config": {"negatives": {old: 1}}}) == {"config": {"negatives": {new: 1}}}
    assert model_folder.renamed({old: 1, "reason": old}) == {old: 1, "reason": old}
