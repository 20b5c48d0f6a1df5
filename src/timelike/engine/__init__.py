"""What an epoch compiles to: draws, steps on the rows of a batch, and kernels for CPU and GPU.

`epoch` is the whole program. `passes` go over the edges in blocks, `sampling` draws negatives from a table of
edges (`filtered_edges` with a `bloom_filter` on a GPU and in a stream), `batch_step` takes gradients of the
`objective` and moves rows by `optimizers`; `table_rows`, `hubs` and `gpu_linking` add up what a node gets
from several pairs. `gpu_step` holds the kernels of long steps on a GPU, made of `gpu_tiles`; `opaque_calls`
keep short steps of a CPU in one kernel. An `epoch_plan` holds what is static about a run; `config` and
`negatives` are what users say about it. May import: _util, core, likelihoods, manifolds, graphs, evaluation.
"""
