"""The paper, reproduced with public names of `timelike` alone.

`rows` holds the published tables as data, `groups` the experiments, `training` the runs behind them,
`reports` tables and pictures, `runner` the processes and files, `studies` measurements that are not in the
paper, and `results` the stored results that the documentation quotes.
"""
