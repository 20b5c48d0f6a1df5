"""Subcommands of `timelike`, one module each."""
