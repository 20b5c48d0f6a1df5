"""Sphinx settings; build with `make docs`."""

import re
import sys
from pathlib import Path

from timelike import __version__

project = "timelike"
author = "The timelike authors"
copyright = author
release = __version__

sys.path.insert(0, str(Path(__file__).parent))
extensions = ["myst_nb", "sphinx.ext.autodoc", "mathml"]
html_math_renderer = "mathml"
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the notebooks keep what they showed; `python docs/run_notebooks.py` runs them
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
    """Turn lines `name   meaning`, as in the docstrings of records, into a definition list."""
    inside = False
    for line in lines:
        entry = re.fullmatch(r"(\w[\w, ]*?) {2,}(\S.*)", line)
        inside = bool(line) and (inside or entry is not None)
        if entry:
            yield from (entry[1], f"    {entry[2]}")
        else:
            yield f"    {line.strip()}" if inside and line.startswith(" " * 8) else line


def clean(app, what, name, obj, options, lines):
    """Drop the parts of a docstring that are for developers, and escape |x|, which is a length here."""
    if what == "module":  # the rooms that a room may import
        lines[:] = re.sub(r"\s*May\s+import:.*", "", "\n".join(lines), flags=re.DOTALL).split("\n")
    lines[:] = definitions(lines)
    if lines and lines[0].startswith("Alias for field number"):  # Python's docstring of a named tuple's field
        lines.clear()
    code = re.compile(r"(`[^`]*`)")
    for i, line in enumerate(lines):
        parts = code.split(line)
        lines[i] = "".join(p if p.startswith("`") else p.replace("|", r"\|") for p in parts)


def shorten_types(app, what, name, obj, options, signature, returns):
    """Show aliases by name, and arrays without JAX's internal module."""

    def short(text):
        return text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text).replace(
            "jaxlib._jax.Array", "Array"
        )

    return short(signature), short(returns)


def setup(app):
    app.connect("autodoc-process-docstring", clean)
    app.connect("autodoc-process-signature", shorten_types)
