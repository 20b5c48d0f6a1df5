"""The command `timelike`, also as `python -m timelike`: light, so that Ctrl-C is minded from the start."""

from __future__ import annotations

import sys
import warnings

from timelike._util.interrupts import INTERRUPTED, minded_interrupts


def main() -> None:
    """Run the command line; what a signal stops while it is imported is one line, and so is a warning."""
    warnings.formatwarning = _note
    with minded_interrupts():
        try:
            from timelike.cli import main
        except KeyboardInterrupt:
            print("timelike: interrupted", file=sys.stderr)
            raise SystemExit(INTERRUPTED) from None
        main.main()


def _note(message: Warning | str, *_: object, **__: object) -> str:
    return f"note: {message}\n"


if __name__ == "__main__":
    main()
