"""Write the table of public names at the top of the reference: `python docs/api_table.py`.

The rest of that page is made when the documentation is built; the table can be read without a build.
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import timelike as tl

PAGE = Path(__file__).with_name("api.md")
TABLE = re.compile(r"(<!-- names -->\n).*?(<!-- end -->)", re.DOTALL)


def rows() -> Iterator[tuple[str, str]]:
    """Each function and class that is public, with the first sentence of its docstring."""
    rooms = {f"{name}.": getattr(tl, name) for name in tl.__all__ if inspect.ismodule(getattr(tl, name))}
    for prefix, module in {"": tl, **rooms}.items():
        for name in module.__all__:
            x = getattr(module, name)
            if inspect.isclass(x) or inspect.isroutine(x):
                text = re.split(r"\n\n|(?<!eq.)(?<=[.:;])\s", inspect.getdoc(x) or "")[0]
                yield f"{prefix}{name}", " ".join(text.split()).rstrip(".:;").replace("|", "\\|")


def table() -> str:
    """The table in Markdown."""
    lines = [f"| `{name}` | {text} |" for name, text in rows()]
    return "\n".join(["| `timelike.` | |", "|---|---|", *lines]) + "\n"


def with_table(page: str) -> str:
    """The page with the table of now."""
    return TABLE.sub(lambda found: found[1] + table() + found[2], page)


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
