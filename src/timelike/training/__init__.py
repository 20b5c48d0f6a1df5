"""Runs: one, many side by side, streamed, shared between workers; with checkpoints and a model of their cost.

May import: _util, core, graphs, evaluation, io, engine, embedding.
"""
