"""One run on many processes, which share tables and edges and exchange rows in every step.

Every process runs the same program (JAX's multi-controller runtime). `node_dealing` assigns nodes to
processes; each holds its rows of the tables and the edges that leave its nodes (`sharded_edges`).
`sharded_run` draws a block of examples and takes its steps; processes exchange rows by `all_to_all`. The
arithmetic is that of one process: on the dealt graph, `timelike.train` gives the same points. One process can
take the place of many with `swapped_train`: partitions of the tables take turns in memory. May import:
_util, core, graphs, evaluation, io, engine, embedding, training, estimator.
"""
