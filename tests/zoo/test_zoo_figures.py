"""The zoo's questions and the arithmetic of its summary, on numbers that can be checked by hand."""

import numpy as np
import pytest

import timelike as tl
from benchmarks.zoo import fits, results, summary
from benchmarks.zoo.absent import _Bar, _Placeholder
from benchmarks.zoo.combiners import WAYS, judged, table
from benchmarks.zoo.page import page, summarised
from benchmarks.zoo.questions import QUESTIONS, answer, hide
from timelike.evidence.combiner import Lesson, Sample, Table

MODEL = {
    ("a", 0): {"uniform": 0.50, "reversed": 0.90},
    ("a", 1): {"uniform": 0.60, "reversed": 0.90},
    ("b", 0): {"uniform": 0.70},
}
SIMPLE = {
    "one": {
        ("a", 0): {"uniform": 0.52, "reversed": 0.5},
        ("a", 1): {"uniform": 0.50, "reversed": 0.5},
        ("b", 0): {"uniform": 0.8},
    },
    "two": {("a", 0): {"uniform": 0.99}, ("b", 0): {"uniform": 0.2}},
}


def test_a_cell_is_a_mean_over_seeds_beside_the_best_method():
    cells = summary.cells_of(MODEL, SIMPLE, ("uniform", "reversed"))
    assert [(cell.graph, cell.question, cell.method, cell.seeds) for cell in cells] == [
        ("a", "uniform", "one", 2),  # "two" has no answer for the second seed
        ("a", "reversed", "one", 2),
        ("b", "uniform", "one", 1),
    ]
    assert [cell.margin for cell in cells] == pytest.approx([0.04, 0.4, -0.1])
    found = summary.tallies(cells, ("uniform", "reversed"))
    assert (found["all"].cells, found["all"].good) == (3, 2)
    assert found["uniform"].share == 0.5
    assert found["all"].margin == pytest.approx(0.34 / 3)


def test_each_seed_makes_cells_of_its_own():
    each = [
        cell for one in summary.one_seed_each(MODEL) for cell in summary.cells_of(one, SIMPLE, ("uniform",))
    ]
    assert [cell.method for cell in each] == ["two", "one", "one"]


def test_the_best_method_can_be_chosen_on_other_seeds():
    seeds = [("a", 0), ("a", 1)]
    simple = {
        "first": {key: {"uniform": value} for key, value in zip(seeds, (0.9, 0.1), strict=True)},
        "second": {key: {"uniform": value} for key, value in zip(seeds, (0.4, 0.3), strict=True)},
    }
    model = {key: MODEL[key] for key in seeds}
    (kind,), (fair,) = (summary.cells_of(model, simple, ("uniform",), other) for other in (False, True))
    assert (kind.best, kind.method) == (pytest.approx(0.5), "first")
    assert (fair.best, fair.method) == (pytest.approx((0.4 + 0.1) / 2), "second, first")
    assert not summary.cells_of({("b", 0): {"uniform": 1.0}}, SIMPLE, ("uniform",), True)


def test_half_a_point_below_is_as_good():
    assert summary.Cell("a", "uniform", 0.6951, 0.7, "L3", 1).good
    assert not summary.Cell("a", "uniform", 0.694, 0.7, "L3", 1).good
    assert np.isnan(summary.tally([]).margin)
    assert summary.means([{"x": 1.0}, {"x": 3.0}, {}], ("x", "y")) == {"x": 2.0, "y": None}


def test_questions_are_asked_against_the_whole_graph():
    graph = tl.datasets.random_dag(60, 400, seed=3)
    hidden = hide(graph, 0)
    assert len(hidden.edges) == 60
    assert hidden.train.num_edges == 340
    assert set(hidden.asked) == set(QUESTIONS)
    for kind, pairs in hidden.asked.items():
        assert not graph.has_edges(*pairs.negatives.T).any()
        assert len(pairs.negatives) == (60 if kind == "reversed" else 240)
    found = answer(lambda s, t: graph.has_edges(s, t).astype(float), hidden)
    assert found == dict.fromkeys([*QUESTIONS, "direction"], 1.0)
    assert answer(lambda s, t: np.zeros(len(s)), hidden)["direction"] == 0.5


def test_a_question_that_cannot_be_asked_is_named():
    ring = tl.datasets.cycle(40)
    both = ring.with_edges(ring.pairs[:, ::-1])
    assert "reversed" in hide(both, 0).not_asked


def test_calibration_error():
    labels, weights = np.array([1, 0, 0, 0]), np.array([1.0, 1, 1, 1])
    assert fits.calibration_error(np.full(4, np.log(1 / 3)), labels, weights) == pytest.approx(0)
    assert fits.calibration_error(np.full(4, 0.0), labels, weights) == pytest.approx(0.25)
    assert fits.calibration_error(np.full(4, 0.0), labels, np.array([3.0, 1, 1, 1])) == pytest.approx(0)


def test_arms_are_options():
    assert fits.options_of("default") == {}
    assert fits.options_of("evidence=none,dim=32") == {"evidence": "none", "dim": 32}
    with pytest.raises(ValueError, match="fast"):
        fits.options_of("fast")


def test_results_become_a_page(tmp_path):
    task = results.Task("tree-closure", 0, results.SIMPLE, ("L3", "degree product"), None, tmp_path)
    assert not task.is_done()
    results.compute(task)
    assert task.is_done()
    assert not task._replace(methods=("L3", "SVD")).is_done()
    stored = results.read(task.file)
    fake = {**stored, "arm": "default", "answers": stored["methods"]["L3"]["answers"], "seconds": 1.0}
    (tmp_path / "default").mkdir()
    (tmp_path / "default" / task.file.name).write_text(results.json.dumps(fake))
    text = page(results.read_all(tmp_path), ["tree-closure", "ring-lattice"], "command")
    assert "| best simple method | " in text
    assert "- ring-lattice: no result" in text
    packed = tmp_path / "zoo.json"
    results.pack(tmp_path, packed)
    results.pack(tmp_path, packed)  # the same results replace themselves
    assert page(results.unpack(packed), ["tree-closure", "ring-lattice"], "command") == text


def test_the_summary_names_where_a_fit_loses():
    """Two graphs, two questions: means over the graphs, and the cell below the best simple method."""

    def result(arm, graph, **more):
        return {
            "arm": arm,
            "graph": graph,
            "seed": 0,
            "facts": {"digest": graph},
            "date": "2026-01-02",
            **more,
        }

    arms = {"default": {}, results.ALONE: {}, results.SIMPLE: {}}
    for graph, uniform, best in (("ring-lattice", 0.9, 0.8), ("scale-free", 0.5, 0.6)):
        found = {
            "default": {"answers": {"uniform": uniform, "reversed": 0.9}},
            results.ALONE: {"answers": {"uniform": 0.4, "reversed": 0.5}},
            results.SIMPLE: {"methods": {"L3": {"answers": {"uniform": best, "reversed": 0.7}}}},
        }
        for arm, more in found.items():
            arms[arm][graph, 0] = result(arm, graph, **more)
    text = summarised(arms)
    assert "| any two nodes | 70.0 | 70.0 | 40.0 | 1 of 2 |" in text
    assert "| turned round | 90.0 | 70.0 | 50.0 | 2 of 2 |" in text
    assert "| all | 80.0 | 70.0 | 45.0 | 3 of 4 |" in text
    assert "Below: scale-free, any two nodes (-10.0 to L3)." in text
    assert "Made 2026-01-02." in text
    assert summarised({}) == ""


def test_placeholders_satisfy_hints_and_loops():
    module = _Placeholder("absent")
    assert module.Float[module.Array, "n"] | None
    assert issubclass(module.Schema, object)
    assert list(_Bar([1, 2], desc="x")) == [1, 2]
    with _Bar(total=3) as bar:
        assert bar.format_dict["rate"] is None
        bar.update(1)


def test_every_way_to_combine_finds_what_one_number_says():
    rng = np.random.default_rng(0)

    def rows(count: int, mean: float) -> Table:
        x = np.stack([rng.normal(mean, 0.5, count), rng.normal(size=count)], axis=1)
        return Table(x.astype(np.float32), np.arange(count) % 2)

    edges, others = rows(200, 2.0), rows(400, 0.0)
    lesson = Lesson({"uniform": others}, Sample(edges, others, np.ones(400)), None)
    aps = {way: judged(lesson, ["geometry", "order"], learn)["uniform"] for way, learn in WAYS.items()}
    assert min(aps.values()) > 0.95
    graphs = {"one": {way: {"uniform": ap} for way, ap in aps.items()}}
    assert "| trees | " in table(graphs)
