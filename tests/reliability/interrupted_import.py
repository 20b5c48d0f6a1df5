"""The command `timelike`, with a Ctrl-C in the middle of the import of a module: `MODULE ARGUMENTS…`."""

import os
import signal
import sys

from timelike.__main__ import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts with & ignores it


class Finder:
    """Finds nothing; sends the signal when the module is looked up."""

    def find_spec(self, name, path=None, target=None):
        if name == module:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)


module = sys.argv.pop(1)
sys.meta_path.insert(0, Finder())
main()
