"""The result of training: points with names, and every prediction that needs no further training.

Probabilities, calibration, top-k lists, folding in new nodes, model folders on disk, exports. May import:
_util, core, likelihoods, manifolds, graphs, evaluation, io, baselines, engine.
"""
