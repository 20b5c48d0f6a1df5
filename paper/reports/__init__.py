"""Markdown tables and the figures of the paper."""
