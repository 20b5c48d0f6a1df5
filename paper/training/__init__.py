"""The training runs behind the tables, written with `timelike.sweep` and `timelike.train`."""
