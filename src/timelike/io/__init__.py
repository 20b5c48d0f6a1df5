"""Graphs in and out: files of many formats and objects of other libraries become a `DiGraph` or `EdgeShards`.

`formats` is the one list of file formats. Files come from strangers: every reader bounds its memory and names
the line of a mistake. May import: _util, graphs, datasets.
"""

from timelike.graphs.reading_notes import ReadSummary
from timelike.io.formats import FORMATS
from timelike.io.reading import names_in, read

__all__ = ["FORMATS", "ReadSummary", "names_in", "read"]
