"""The command line: results on stdout, mistakes in one line on stderr with exit code 2."""

import json
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest

from timelike import __version__
from timelike.cli.command_options import explain
from timelike.cli.main import COMMANDS, carry_out, main


def test_version(monkeypatch, capsys):
    main(["--version"])
    assert capsys.readouterr().out == f"timelike {__version__}\n"
    monkeypatch.setattr(sys, "argv", ["timelike", "--version"])
    runpy.run_module("timelike", run_name="__main__")
    assert capsys.readouterr().out == f"timelike {__version__}\n"


def test_too_little_memory_is_one_line(capsys):
    """Of an array that no machine holds, on the host or on the device."""
    for allocate in (lambda: np.empty(2**58), lambda: jnp.zeros((2**20, 2**25)).block_until_ready()):
        with pytest.raises(SystemExit) as stop:
            carry_out(None, allocate)
        assert stop.value.code == 2
        assert capsys.readouterr().err.startswith("timelike: out of memory; ")


@pytest.mark.parametrize("arguments", [["--help"], ["plan", "--help"]])
def test_help_that_nobody_reads_on_says_nothing(arguments):
    """As by `timelike fit --help | head`."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "timelike", *arguments]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, timeout=120)
    os.close(write)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


def test_help_lists_the_commands_on_one_screen(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    main(["--help"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 45
    assert max(map(len, lines)) <= 80
    named = [line.split()[0] for line in lines if re.match(r"  \w+ +[A-Z]", line)]
    assert named == list(COMMANDS)


@pytest.mark.long
def test_demo_draws_and_prints(tmp_path, capsys):
    picture = tmp_path / "demo.png"
    main(["demo", "--out", str(picture), "--json", "--seeds", "2"])
    result = json.loads(capsys.readouterr().out)
    assert result["picture"] == str(picture)
    assert picture.stat().st_size > 10_000
    spacetime, euclidean = result["average_precision"].values()
    assert spacetime > euclidean + 0.1 > result["random"] + 0.1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "demo"),
        (["dmo"], "dmo"),
        (["demo", "--outt", "x"], "--outt"),
        (["demo", "--out"], "--out"),
        (["demo", "--out", "no-such-folder/demo.png"], "no-such-folder"),
        (["demo", "--out", "demo.what"], "what"),
        (["fit", "bad.txt", "--out", "model"], "(--skip-bad-rows"),
        (["fit", "data_dir/bad.txt", "--out", "model"], "timelike: data_dir/bad.txt, line 2"),
        (["datasets", "export", "cycle:5", "--out", "x.jpg"], "--out is x.jpg"),
        (["datasets"], "datasets needs a command: list, info, get, export"),
        (["datasets", "lst"], "perhaps you mean list"),
        (["datasets", "get"], "datasets get needs NAME"),
        (["datasets", "info", "cycle:5", "--jsn"], "perhaps you mean --json"),
        (["--print-completion", "powershell"], "powershell"),
        (["fit"], "EDGES is missing"),
        (["fit", "e", "model"], "fit needs --out MODEL"),
        (["fit", "e", "--out", "m", "--dim", "x"], "--dim is 'x'; it must be a whole number"),
        (
            ["fit", "e", "--out", "m", "--likelihood", "x"],
            "one of cone, fermi-dirac, law-lucas, triple-fermi-dirac\n",
        ),
        (["fit", "e", "-o", "m"], "-o is not an option of fit"),
        (["fit", "e", "--out"], "--out needs a value"),
        (["fit", "e", "--out", "m", "--json=3"], "--json takes no value"),
        (["fit", "e", "--out=m", "--dim=x"], "--dim is 'x'"),
        (["fit", "e", "--out", "m", "--batch_size", "x"], "--batch-size is 'x'"),
        (["fitt", "e"], "'fitt' is not a command; commands are demo, fit, "),
        (["fitt", "e"], "; perhaps you mean fit"),
        (["fit", "e", "--out", "m", "--geometry", "minkowsky"], "; perhaps you mean minkowski"),
        (
            ["plan", "--nodes", "3", "--edges", "4", "--dims", "4"],
            "--dims is not an option of plan; perhaps you mean --dim",
        ),
        (
            ["fit", "e", "--out", "m", "--budgt", "3"],
            "--budgt is not an option of fit; perhaps you mean --budget",
        ),
        (["fit", "e", "--out", "m", "--budget", "3"], "--budget needs --tune"),
        (["predict", "m", "--tune"], "--tune is not an option of predict; `timelike predict --help`"),
        (["predict", "m", "x"], "'x' is unexpected"),
        (["tune", "e", "--protocol", "unform"], "--protocol is 'unform'; it must be one of active_source, "),
        (["predict", "m", "--each", "x"], "--each is 'x'; it must be a whole number\n"),
        (["reproduce", "x"], "timelike: WHAT is 'x'; it must be one of ablation, "),
        (["plan", "--nodes", "9", "--edges", "9", "--geometry", "order-embedding"], "--geometry is 'order"),
        (["plan", "--nodes", "9", "--edges", "x"], "--edges is 'x'; it must be a number\n"),
        (
            ["plan", "--nodes", "1e300", "--edges", "9"],
            "--nodes is 1e+300; it must be a whole number between 1 and 1e+15\n",
        ),
        (
            ["plan", "--nodes", "9", "--edges", "9", "--epochs", "9" * 20],
            "99; it must be a whole number ≥ 1 and",
        ),
        (
            ["sweep", "cycle:9", "--grid", "epochs=1"],
            "--grid: 'epochs' cannot vary; allowed are learn",
        ),
        (
            ["sweep", "cycle:9", "--grid", "learning_rate=0"],
            "timelike: --grid: learning_rate is 0.0; it must be",
        ),
        (["sweep", "cycle:9", "--learning-rate", "0"], "timelike: --learning-rate is 0.0; it must be"),
        (["fit", "cycle:9", "--out", "m", "--seeds", "0"], "timelike: --seeds is 0; it must be"),
        (["fit", "cycle:9", "--out", "m", "--dim", "0"], "timelike: --dim is 0; it must be"),
    ],
)
def test_mistakes_are_one_line(arguments, says, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("bad.txt", "data_dir/bad.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("a b\nc\n")
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("timelike: ")
    assert error.count("\n") == 1
    assert says in error


def test_interrupted_while_options_are_read(monkeypatch, capsys):
    def stop(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("timelike.cli.main._read", stop)
    with pytest.raises(SystemExit) as left:
        main(["demo"])
    assert (left.value.code, *capsys.readouterr()) == (130, "", "timelike: interrupted\n")


def test_a_rejection_without_a_known_cause_is_passed_on():
    box = "╭─ Parsing error ──╮\n│ strange │\n╰──╯\n"
    assert explain(["demo"], COMMANDS, box).split() == ["Parsing", "error", "strange"]


def test_command_starts_without_jax_and_matplotlib():
    program = "import sys, timelike.cli; assert not {'jax', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell, capsys):
    main(["--print-completion", shell])
    script = capsys.readouterr().out
    assert "predict" in script
    assert "cylindrical-minkowski" in script


def test_fish_completes_choices_and_options_of_groups(capsys):
    main(["--print-completion", "fish"])
    lines = capsys.readouterr().out.splitlines()
    within = "complete -c timelike -n '__fish_seen_subcommand_from {}' -l {}".format
    assert (
        f"{within('plot', 'kind')} -x -a 'auto diagram rolled polar disk landscape adjacency training balls'"
        in lines
    )
    assert f"{within('fit', 'valid')} -r" in lines
    assert within("fit", "json") in lines
    assert f"{within('fit', 'learning-rate')} -r" in lines
    assert f"{within('datasets', 'data-dir')} -r" in lines


ASK = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
$(complete -p timelike | sed 's/.*-F \\([^ ]*\\) .*/\\1/') timelike "${COMP_WORDS[COMP_CWORD]}"
echo "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes(tmp_path, capsys):
    """In the shell itself; where there is nothing to offer, bash goes on to files."""
    main(["--print-completion", "bash"])
    script = capsys.readouterr().out
    assert "complete -o default -F" in script
    (tmp_path / "script").write_text(script)
    for words, found in {
        ("timelike", "ev"): {"evaluate"},
        ("timelike", "datasets", "in"): {"info"},
        ("timelike", "fit", "e.tsv", "--geometry", "cyl"): {"cylindrical-minkowski", "cylindrical-euclidean"},
        ("timelike", "fit", "edges"): set(),
    }.items():
        command = ["bash", "-c", ASK, "bash", str(tmp_path / "script"), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert set(done.stdout.split()) == found
