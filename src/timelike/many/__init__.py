"""One run on many processes: tables and edges are spread over them, and steps exchange rows.

Every process runs the same program (JAX's multi-controller runtime). Nodes are dealt to processes
(`dealing`), each with its row of the tables and the edges that leave it (`shards`). A block of examples
is drawn, then its steps are taken (`steps`); what a process needs of another it asks for (`exchange`).
The arithmetic is that of one process: on the dealt graph `timelike.train` gives the same points.
"""
