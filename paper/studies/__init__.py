"""Studies that are not in the paper: costs, defaults, ensembles and one extension of the model."""
