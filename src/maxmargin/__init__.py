"""Large-margin classification that proves its answers.

Every public name is loaded when it is first used, so that `import maxmargin` costs almost nothing
and the compiler is imported by the first `fit`, never before. Their table is `__init__.pyi`: a line
`from module import name as name` for each.
"""

import importlib
from importlib.machinery import ModuleSpec

from maxmargin._version import __version__ as __version__


def homes_of(package: ModuleSpec) -> dict[str, str]:
    """Of a package's spec: where each of its public names lives."""
    table = package.loader.get_data(package.origin + "i").decode()
    return {words[3]: words[1] for line in table.splitlines() if (words := line.split())[:1] == ["from"]}


_HOMES = homes_of(__spec__)

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'maxmargin' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
