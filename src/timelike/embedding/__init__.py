"""What training leaves: points with names, and everything one can ask of them without training again.

Probabilities, calibration, top-k lists, new nodes folded in, the model folder on disk, exports. May import:
_util, core, likelihoods, manifolds, graphs, evaluation, io, baselines, engine.
"""
