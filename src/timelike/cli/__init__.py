"""The command `timelike`: one module per subcommand, `…_command`, and the code that they share.

Parsing and `--help` load neither JAX nor polars: commands import the library when they run. May import: every
other room.
"""
