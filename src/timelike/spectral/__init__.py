"""Points in closed form: the singular vectors of a mixture of paths, learned on held-out edges.

May import: _util, graphs, core, evaluation, baselines, embedding.
"""

from timelike.spectral.spectral_embedding import embed_paths

__all__ = ["embed_paths"]
