"""The service: trained models behind a documented JSON API over HTTP, for other programs.

`served_model` answers by name, `batching` lets requests share a program, `service` has the routes,
`openapi` describes them, and `running` starts the server. It reads models and never writes.
May import: embedding, evidence, explore, graphs.
"""
