"""A small graph and short runs, the same in every process."""

import dataclasses

import numpy as np

import timelike as tl

MODEL = tl.Model(tl.manifolds.Minkowski(4), tl.likelihoods.TripleFermiDirac())
KINDS = tl.Negatives(uniform=2, target=1, reversed=1)


def split_of(weighted=False):
    split = tl.split_edges(tl.datasets.duplication_divergence(17), valid=0.1, test=0)
    if weighted:
        weights = np.linspace(0.5, 2, split.train.num_edges, dtype=np.float32)
        split = dataclasses.replace(split, train=dataclasses.replace(split.train, weights=weights))
    return split


def config_of(**changes):
    settings = {"epochs": 4, "burn_in": 0, "batch_size": 18, "learning_rate": 0.02, "negatives": KINDS}
    return tl.Config(**settings | changes)
