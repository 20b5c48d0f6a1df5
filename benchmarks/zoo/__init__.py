"""A zoo of generated and real directed graphs: how a default fit compares with simple methods on each.

Start it with `python -m benchmarks.zoo`; see README.md in this folder.
"""
