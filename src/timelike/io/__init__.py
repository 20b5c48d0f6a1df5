"""Read graphs from files and from other libraries' objects into a `DiGraph` or `EdgeShards`.

`formats` lists the file formats. Files are untrusted: every reader bounds its memory and names the line of an
error. May import: _util, graphs, datasets.
"""

from timelike.graphs.reading_notes import ReadSummary
from timelike.io.formats import FORMATS
from timelike.io.reading import names_in, read

__all__ = ["FORMATS", "ReadSummary", "names_in", "read"]
