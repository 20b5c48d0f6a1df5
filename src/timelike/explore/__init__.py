"""The explorer: a browser page that shows one or two models, light cones of nodes and their likely edges.

`shown_model` prepares the arrays of a model, `answers` computes replies, `server` serves them, and `page`
builds a page that needs no server. `assets` holds the hand-written page: no build step, no network.
May import: _util, core, likelihoods, manifolds, graphs, evaluation, io, baselines, embedding, evidence,
training, plot.
"""
