"""5,000 broken files: each quickly gives a graph or a one-line error."""

import random
import time

import pytest
import writers
from broken_files import COUNTED, broken, good_files

from timelike import read

FILES, PARTS = 5000, 10


@pytest.fixture(scope="module")
def valid(tmp_path_factory) -> list[tuple[str, bytes]]:
    return good_files(tmp_path_factory.mktemp("valid"))


@pytest.mark.parametrize("part", range(PARTS))
def test_broken_files(part, valid, tmp_path, capfd):
    rng = random.Random(part)
    graphs = 0
    for _ in range(FILES // PARTS):
        name, data = rng.choice(valid)
        junk = rng.random() < 0.1
        data = rng.randbytes(rng.randint(0, 300)) if junk else broken(rng, data, rng.choice(valid)[1])
        folder = writers.ogb(tmp_path / "ogb", COUNTED, 12) if name == "edge.csv.gz" else tmp_path
        path = folder / name
        path.write_bytes(data)
        begin, complaint = time.process_time(), str(folder)
        try:
            graph = read(folder if folder != tmp_path else path, skip_bad_rows=rng.random() < 0.5)
            assert graph.num_edges == len(graph.sources) > 0
            assert str(graph.notes)
            graphs += 1
        except ValueError as error:
            complaint = str(error)
        assert time.process_time() - begin < 2, data
        assert str(folder) in complaint
        assert "\n" not in complaint
        assert len(complaint) < 500
        if folder != tmp_path:
            [file.unlink() for file in folder.iterdir()]
            folder.rmdir()
    assert FILES // PARTS // 20 < graphs < FILES // PARTS
    assert capfd.readouterr() == ("", "")
