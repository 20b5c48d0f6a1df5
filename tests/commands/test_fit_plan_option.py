"""`timelike fit --plan`: the plan that the fit then carries out, without a trace on disk."""

import json

import pytest
from small_files import BRIEF

from timelike import Embedding
from timelike.embedding.plain_json import from_plain
from timelike.estimator.spacetime_embedding import SpacetimeEmbedding

ALONE = ("--evidence", "none")
OPTIONS = {
    "a recipe": BRIEF,
    "auto": ("--dim", "3", "--epochs", "2", "--batch-size", "64", *ALONE),
    "validation edges": (*BRIEF, *ALONE, "--valid", "test.tsv"),
    "an ensemble": (*BRIEF, *ALONE, "--members", "2", "--negatives", "same_source=2,reversed=1"),
    "streamed": (*BRIEF, "--stream", "--seed", "2"),
    "streamed, with a preset": ("--preset", "general", "--epochs", "2", "--stream", *ALONE),
}


@pytest.fixture
def plan(run, tmp_path, monkeypatch):
    """Print a plan as JSON; nothing may be trained or written."""

    def call(*options):
        before = sorted(tmp_path.rglob("*"))
        with monkeypatch.context() as patch:
            patch.setattr(SpacetimeEmbedding, "carry_out", lambda *_: pytest.fail("the plan was carried out"))
            code, out, err = run(
                "fit", "edges.tsv", "--out", tmp_path / "model", "--plan", "--json", *options
            )
        assert code == 0, err
        assert out.count("\n") == 1
        assert sorted(tmp_path.rglob("*")) == before
        return json.loads(out)

    return call


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_fit_follows_the_plan(plan, run, tmp_path, options):
    planned = plan(*options)
    code, _, err = run("fit", "edges.tsv", "--out", tmp_path / "model", *options)
    assert code == 0, err
    assert Embedding.load(tmp_path / "model").info["plan"] == from_plain(planned)
    assert json.loads((tmp_path / "model" / "model.json").read_text())["info"]["plan"] == planned


@pytest.mark.parametrize("stream", [(), ("--stream",)], ids=["whole", "streamed"])
def test_an_interrupted_run_is_left_alone(plan, tmp_path, stream):
    kept = tmp_path / "model.checkpoint" / "run.safetensors"
    kept.parent.mkdir()
    kept.write_text("half")
    plan(*BRIEF, *stream)
    assert kept.read_text() == "half"


def test_text_gives_reasons(run, tmp_path):
    code, out, _ = run("fit", "edges.tsv", "--out", tmp_path / "model", "--plan")
    assert code == 0
    rows = dict(line.split(maxsplit=1) for line in out.splitlines() if not line.startswith("training edges"))
    assert {"validation", "geometry", "model", "runs", "negatives", "score", "calibration", "refit"} <= {
        *rows
    }
    assert "20 edges; uniform negatives" in rows["validation"]
    assert not list(tmp_path.iterdir())


def test_a_search_cannot_be_planned(mistake, tmp_path):
    line = mistake("fit", "edges.tsv", "--out", tmp_path / "model", "--plan", "--tune")
    assert "--plan cannot be combined with --tune" in line
