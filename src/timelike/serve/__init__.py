"""The service: trained models behind a documented JSON API over HTTP, for other programs.

`served_model` answers by name, `block_ranking` ranks for several requests at once, `service` has the routes,
`openapi` describes them, and `running` starts the server. It reads models and never writes.
May import: core, embedding, evidence, explore, graphs, manifolds.
"""
