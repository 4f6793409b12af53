"""python -m maxmargin.sklearn program.py [arguments]: run a program with the classes of `maxmargin.sklearn`.

python -m maxmargin.sklearn -m module [arguments] runs a module.
"""

import runpy
import sys
from pathlib import Path


def main(arguments: list[str]) -> None:
    is_module = arguments[:1] == ["-m"]
    rest = arguments[1:] if is_module else arguments
    if not rest or rest[0] in ("-h", "--help"):
        sys.exit(__doc__)
    from maxmargin.sklearn.patching import patch_sklearn

    patch_sklearn()
    sys.argv = rest
    if is_module:
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        return
    sys.path[0] = str(Path(rest[0]).resolve().parent)  # as python program.py has it
    runpy.run_path(rest[0], run_name="__main__")


main(sys.argv[1:])
