"""`python -m maxmargin`: the command line where the script is not on the path."""

import sys

from maxmargin.cli import main

if __name__ == "__main__":
    sys.exit(main())
