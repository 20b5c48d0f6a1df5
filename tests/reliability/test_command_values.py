"""Random words on a command line: help, or one line and exit code 2."""

import contextlib
import io
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from timelike.cli.main import COMMANDS, main

SOURCE = Path(__file__).parents[2] / "src" / "timelike"
#: Every option, from the fields in the sources of the commands.
OPTIONS = sorted(
    {
        f"--{name.replace('_', '-')}"
        for path in (SOURCE / "cli").glob("*.py")
        for name in re.findall(r"^    ([a-z_]+): ", path.read_text(encoding="utf-8"), re.M)
    }
    - {"--out"}  # which may name a file that exists
)
VALUES = [
    "",
    "-",
    "--",
    "nan",
    "inf",
    "-1",
    "0",
    "1e400",
    "9" * 400,
    "\0",
    "é",
    "../..",
    "no/such",
    "*",
    "a=b",
]
VALUES += ["None", "True", "[1]", "{}", "tau1=", "=1", "tau1=x,y", "model.json", "\n", "\ud800", "x" * 10_000]
WORDS = st.sampled_from(OPTIONS) | st.sampled_from(VALUES) | st.text(max_size=8)
LINES = st.tuples(st.sampled_from([*COMMANDS, "", "fitt"]), st.lists(WORDS, min_size=1, max_size=5))


def run(command: str, words: list[str]) -> None:
    """The input file does not exist, so every command ends quickly."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([command, "missing.tsv", *words])
        except SystemExit as stop:
            code = stop.code or 0
    said = err.getvalue()
    assert code in (0, 2), (command, words, said)
    if code:
        lines = [line for line in said.splitlines() if not line.startswith("note: ")]
        assert lines[0].startswith("timelike: "), (command, words, said)
        assert len(lines) == 1, (command, words, said)
        assert "Traceback" not in said


@pytest.mark.long
@given(LINES)
@settings(max_examples=30, derandomize=True, suppress_health_check=list(HealthCheck))
def test_some_command_lines(line):
    run(*line)


@pytest.mark.slow
@given(LINES)
@settings(max_examples=3000, suppress_health_check=list(HealthCheck))
def test_many_command_lines(line):
    run(*line)
