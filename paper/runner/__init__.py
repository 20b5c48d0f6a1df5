"""Run tasks in several processes, store each result in a file, and write the reports."""
