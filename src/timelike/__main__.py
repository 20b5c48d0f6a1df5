"""`python -m timelike`: the command `timelike`, where that is not on the path."""

from timelike.cli import main

if __name__ == "__main__":
    main()
