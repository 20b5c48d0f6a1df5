"""The command line: results on stdout, mistakes in one line on stderr with exit code 2."""

import json
import subprocess
import sys

import pytest

from timelike import __version__
from timelike.cli import main


def test_version(capsys):
    main(["--version"])
    assert capsys.readouterr().out == f"timelike {__version__}\n"


def test_help_lists_the_commands(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert not stop.value.code
    assert "demo" in capsys.readouterr().out


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
        (["demo", "--out", "no-such-folder/demo.png"], "there is no folder no-such-folder"),
        (["demo", "--out", "demo.what"], "what"),
        (["fit", "bad.txt", "--out", "model"], "the text is 'c' (--skip-bad-rows leaves such rows out)"),
        (["fit", "data_dir/bad.txt", "--out", "model"], "timelike: data_dir/bad.txt, line 2: 1 of 2 fields"),
        (["datasets", "export", "cycle:5", "--out", "x.jpg"], "--out is x.jpg; its ending must be"),
        (["--print-completion", "powershell"], "powershell"),
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


def test_command_starts_without_jax_and_matplotlib():
    program = "import sys, timelike.cli; assert not {'jax', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion(shell, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--print-completion", shell])
    assert not stop.value.code
    script = capsys.readouterr().out
    assert "predict" in script
    assert "cylindrical-minkowski" in script
