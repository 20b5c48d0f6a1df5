"""Training runs: one, many side by side, streamed or shared between workers; checkpoints and a cost model.

May import: _util, core, graphs, evaluation, io, engine, embedding.
"""
