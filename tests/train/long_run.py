"""A run in its own process, for tests that stop and kill it: `python long_run.py CHECKPOINT RESULT`."""

import sys

import numpy as np

import timelike as tl

graph = tl.datasets.cycle(30)
model = tl.Model(tl.manifolds.AntiDeSitter(3), tl.likelihoods.TripleFermiDirac())
config = tl.Config(epochs=300, batch_size=4, optimizer="adam", learning_rate=0.01, burn_in=2)


def main(path: str, result: str) -> None:
    checkpoint = tl.Checkpointing(path, every_epochs=1)
    print("started", flush=True)
    try:
        embedding = tl.train(graph, model, config, checkpoint=checkpoint)
    except tl.InterruptedTraining as stopped:
        print(stopped, file=sys.stderr)
        raise SystemExit(130) from None
    np.save(result, embedding.points)


if __name__ == "__main__":
    main(*sys.argv[1:])
