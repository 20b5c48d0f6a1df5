"""One run on many processes: tables and edges are spread over them, and steps exchange rows.

Every process runs the same program (JAX's multi-controller runtime). `node_dealing` assigns nodes to
processes; each has its rows of the tables and the edges that leave its nodes (`sharded_edges`). A block of
examples is drawn, then its steps are taken (`sharded_steps`); processes exchange rows by `all_to_all`. The
arithmetic is that of one process: on the dealt graph `timelike.train` gives the same points. May import:
_util, core, graphs, evaluation, io, engine, embedding, training, estimator.
"""
