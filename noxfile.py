"""The quick tests on every Python and with the oldest and newest dependencies: `nox` (needs nox and uv)."""

import nox

nox.options.default_venv_backend = "uv"
nox.options.sessions = ["tests", "oldest", "wheel"]
PYTHONS = ["3.11", "3.12", "3.13"]
QUICK = ("pytest", "-n", "2", "--dist", "loadfile", "-q", "-m", "not slow and not long")


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The newest dependencies that are allowed."""
    session.install(".[test]")
    session.run(*QUICK, *session.posargs)


@nox.session(python=PYTHONS[0])
def oldest(session: nox.Session) -> None:
    """The oldest ones that pyproject.toml names."""
    oldest = ("--resolution", "lowest-direct", "-r", "pyproject.toml", "--extra", "test")
    session.install("--compile-bytecode", *oldest)  # old libraries warn then, not in a test
    session.install("--no-deps", ".")
    session.run(*QUICK, *session.posargs)


@nox.session(python=PYTHONS)
def wheel(session: nox.Session) -> None:
    """Build sdist and wheel, install the wheel where nothing else is, and run the demo there."""
    session.install("build")
    folder = session.create_tmp()
    session.run("python", "-m", "build", "--outdir", folder, ".")
    version = session.run(
        "python", "-c", "from src.timelike._version import __version__ as v; print(v)", silent=True
    )
    session.install(f"{folder}/timelike-{str(version).strip()}-py3-none-any.whl[plot]")
    session.chdir(folder)
    session.run("timelike", "demo", "--out", "demo.png")
