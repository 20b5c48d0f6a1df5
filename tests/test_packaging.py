"""What is published agrees with the package: version, dependencies, wheel, container."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from timelike import __version__

ROOT = Path(__file__).parents[1]
#: Programs of this environment come first, also where it is not active.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def engine() -> bool:
    """Whether containers can be built here."""
    return (
        bool(shutil.which("docker"))
        and not subprocess.run(["docker", "info"], capture_output=True).returncode
    )


def test_the_citation_and_the_recipe_have_the_version_of_the_package():
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n  version: {__version__}\n" in (ROOT / "packaging" / "recipe.yaml").read_text()


def test_the_recipe_needs_what_the_package_needs():
    recipe = (ROOT / "packaging" / "recipe.yaml").read_text()
    needed = re.search(r"^  run:\n(.*?)^\w", recipe, re.MULTILINE | re.DOTALL)[1]
    listed = [line.strip(" -").replace(" ", "") for line in needed.splitlines()]
    assert listed[0] == "python>=${{python_min}}"
    assert listed[1:] == sorted(PROJECT["dependencies"])
    assert f'python_min: "{PROJECT["requires-python"].lstrip(">=")}"' in recipe


def test_the_container_installs_the_package_and_drops_all_rights():
    lines = (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line.strip() and not line.startswith("#")]
    froms = [rest.split()[0] for step, rest in steps if step == "FROM"]
    assert all(":" in image and not image.endswith(":latest") for image in froms)
    assert ["USER", "10001"] in steps
    copied = [
        one for step, rest in steps if step == "COPY" and "--from" not in rest for one in rest.split()[:-1]
    ]
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert all((ROOT / one).exists() and f"!{one}" in ignored for one in copied)


@pytest.mark.long
@pytest.mark.skipif(
    find_spec("hatchling") is None or shutil.which("twine") is None, reason="needs hatchling, twine"
)
def test_wheel_and_sdist_are_fit_for_upload(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    files = sorted(tmp_path.iterdir())
    assert [file.suffix for file in files] == [".whl", ".gz"]
    checked = subprocess.run(["twine", "check", "--strict", *files], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.long
@pytest.mark.skipif(shutil.which("hadolint") is None, reason="hadolint is not installed")
def test_hadolint_finds_nothing():
    said = subprocess.run(["hadolint", ROOT / "Dockerfile"], capture_output=True, text=True)
    assert said.returncode == 0, said.stdout


@pytest.mark.long
@pytest.mark.skipif(not engine(), reason="there is no container engine")
def test_the_container_builds_and_answers():
    subprocess.run(["docker", "build", "-t", "timelike-test", "."], cwd=ROOT, check=True, capture_output=True)
    said = subprocess.run(
        ["docker", "run", "--rm", "timelike-test", "--help"], capture_output=True, text=True
    )
    assert "timelike serve" in said.stdout
