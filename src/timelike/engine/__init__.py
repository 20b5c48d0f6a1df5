"""What an epoch compiles to: draws, steps on the rows of a batch, and kernels for CPU and GPU.

`epoch` is the whole of it. `passes` go over the edges in blocks, `sampling` draws negatives from a table of
edges (`filtered` by `bloom` on a GPU and in a stream), `steps` take gradients of the `objective` and move
rows by `optimizers`; `tables`, `hubs` and `meeting` add up what nodes get from several pairs. `fused` are the
kernels of long steps on a GPU, made of `tiles`; `calls` keep short steps of a CPU in one. A `plan` says what
is static about a run.
"""
