"""A page in the browser over one or two models: the spacetime, a node's light cone, its likely edges.

`shown_model` is what the page may see of a model, `answers` what it may ask, `server` who answers, `page` the
same as one file without a server. `assets` are the page itself, written by hand: no build, no network. May
import: _util, core, likelihoods, manifolds, graphs, evaluation, io, embedding, training, plot.
"""
