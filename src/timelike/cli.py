"""The `timelike` command: thin, one class per subcommand; a user's mistake is one line and exit code 2."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol

import tyro

from timelike._version import __version__

ABOUT = "Directed graph embeddings in spacetimes. `timelike --version` prints the version."


class Command(Protocol):
    """What a subcommand is: a dataclass of options that can be run."""

    def run(self) -> None:
        """Do it, and print the result to stdout."""


@dataclasses.dataclass(frozen=True)
class Demo:
    """Draw the probability of an edge around an event, in the near future and elsewhere."""

    out: Path = Path("demo.png")
    """The picture to write; its ending (.png, .pdf, .svg) is the format."""

    json: bool = False
    """Print the result as JSON."""

    def run(self) -> None:
        """Write the heat maps and print a few probabilities."""
        from timelike.plot import tfd_heatmaps

        tfd_heatmaps().savefig(self.out, dpi=160)
        probabilities = _probabilities()
        if self.json:
            result = {"version": __version__, "probability": probabilities, "picture": str(self.out)}
            print(json.dumps(result))
            return
        print("Probability of an edge from p, Minkowski spacetime, triple Fermi-Dirac:")
        for where, probability in probabilities.items():
            print(f"  {where:<16}{probability:.3f}")
        print(f"The landscape around p: {self.out}")


def _probabilities() -> dict[str, float]:
    """The edge probability from the origin to an event in each part of spacetime."""
    import jax.numpy as jnp

    import timelike as tl

    model = tl.Model(tl.manifolds.Minkowski(2), tl.likelihoods.TripleFermiDirac())
    events = {
        "near future": (0.5, 0.0),
        "far future": (5.0, 0.0),
        "past": (-0.5, 0.0),
        "elsewhere": (0.0, 1.0),
    }
    p = model.manifold.origin()
    return {where: round(float(model.prob(p, jnp.asarray(q))), 6) for where, q in events.items()}


#: The one list of subcommands: name → class.
COMMANDS: dict[str, type[Command]] = {"demo": Demo}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments == ["--version"]:
        print(f"timelike {__version__}")
        return
    command = _parse(arguments)
    try:
        command.run()
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except (ImportError, ValueError) as error:
        _fail(" ".join(str(error).split()))


def _parse(arguments: Sequence[str]) -> Command:
    """The command that the arguments ask for; tyro's boxed complaint becomes one line."""
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            return _read(arguments)
    except SystemExit as stop:
        if not stop.code:
            raise
        _fail(_one_line(complaint.getvalue()))


def _read(arguments: Sequence[str]) -> Any:
    return tyro.extras.subcommand_cli_from_dict(
        dict(COMMANDS),
        prog="timelike",
        description=ABOUT,
        args=list(arguments),
        config=(tyro.conf.FlagCreatePairsOff,),
    )


def _one_line(box: str) -> str:
    """The text inside a box of lines: its parts, between rules, joined by semicolons."""
    lines = [line.strip("│╭╮╰╯ ") for line in box.splitlines() if line[:1] not in "╭╰"]
    parts = "\n".join(";" if set(line) == {"─"} else line for line in lines if line).split(";")
    return "; ".join(" ".join(part.split()).rstrip(".") for part in parts)


def _fail(message: str) -> NoReturn:
    print(f"timelike: {message}", file=sys.stderr)
    raise SystemExit(2)


if __name__ == "__main__":
    main()
