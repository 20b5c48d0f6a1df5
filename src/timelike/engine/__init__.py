"""The compiled epoch: negative sampling, steps on the rows of a batch, and kernels for CPU and GPU.

`epoch` is the whole program. `passes` visits the edges in blocks. `sampling` draws negatives from an
`EdgeSource`: an `EdgeTable`, `padded_edges` if graphs share a program, or `filtered_edges` with a Bloom
filter on a GPU and for streamed edges.
`batch_step` differentiates the loss and moves rows with `optimizers`; `table_rows` sums the gradients
of a node that is in several pairs. `gpu_step` holds the GPU kernels for long steps, built from `gpu_tiles`.
Users write a `config` with `negatives`. May import: _util, core, likelihoods, manifolds, graphs, evaluation.
"""
