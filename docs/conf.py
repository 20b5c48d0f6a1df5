"""Sphinx settings; build with `make docs`."""

import re
import sys
from pathlib import Path

import jax

from timelike import __version__
from timelike.core import numerics

project = "timelike"
author = "The timelike authors"
copyright = author
release = __version__

sys.path.insert(0, str(Path(__file__).parent))
extensions = ["myst_parser", "sphinx.ext.autodoc", "mathml"]
html_math_renderer = "mathml"
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
default_role = "code"

autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
autodoc_type_aliases = {
    name: name
    for name in (
        "Axes", "Chart", "Covector", "Extent", "Figure", "LogProb", "Number", "Point", "Scalar", "Tangent",
    )
}  # fmt: skip

html_theme = "furo"
html_title = f"timelike {release}"
html_static_path = ["_static"]
html_css_files = ["wrap.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#b2182b", "color-brand-content": "#2166ac"},
    "dark_css_variables": {"color-brand-primary": "#f4a582", "color-brand-content": "#92c5de"},
}


def definitions(lines):
    """Lines `name   what it is`, as in the docstrings of records, become a list of definitions."""
    inside = False
    for line in lines:
        entry = re.fullmatch(r"(\w[\w, ]*?) {2,}(\S.*)", line)
        inside = bool(line) and (inside or entry is not None)
        if entry:
            yield from (entry[1], f"    {entry[2]}")
        else:
            yield f"    {line.strip()}" if inside and line.startswith(" " * 8) else line


def clean(app, what, name, obj, options, lines):
    """|x| is a length in our docstrings, not a substitution; fields of named tuples speak for themselves."""
    lines[:] = definitions(lines)
    if lines and lines[0].startswith("Alias for field number"):  # what Python says of every named tuple
        lines.clear()
    code = re.compile(r"(`[^`]*`)")
    for i, line in enumerate(lines):
        parts = code.split(line)
        lines[i] = "".join(p if p.startswith("`") else p.replace("|", r"\|") for p in parts)


def shorten_types(app, what, name, obj, options, signature, returns):
    """Aliases by their name, arrays without the module that JAX keeps them in."""

    def short(text):
        return text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text).replace(
            "jaxlib._jax.Array", "Array"
        )

    return short(signature), short(returns)


# A function with its own derivative rule is an object, which autodoc would pass over.
for function in [f for f in vars(numerics).values() if isinstance(f, jax.custom_jvp)]:
    setattr(numerics, function.__name__, function.__wrapped__)


def setup(app):
    app.connect("autodoc-process-docstring", clean)
    app.connect("autodoc-process-signature", shorten_types)
