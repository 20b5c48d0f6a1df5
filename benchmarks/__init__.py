"""Speed and memory of the training engine. Start it with `python -m benchmarks`; see README.md."""
