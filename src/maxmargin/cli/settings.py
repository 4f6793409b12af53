"""`--set NAME=VALUE`: any parameter of an estimator that has no option of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maxmargin.cli.console import UserError

WORDS = {"true": True, "false": False, "none": None}


def read_settings(pairs: Sequence[str] | None, kind: Any) -> dict[str, Any]:
    """The parameters by name: numbers, true, false, none, or words.

    >>> from maxmargin import Perceptron
    >>> read_settings(["order=shuffled", "rate=0.5", "average=true"], Perceptron)
    {'order': 'shuffled', 'rate': 0.5, 'average': True}
    """
    known = kind().get_params()
    found = {}
    for pair in pairs or ():
        name, equals, text = pair.partition("=")
        if not equals:
            raise UserError(f"--set {pair}: write NAME=VALUE, for example --set {next(iter(known))}=...")
        if name not in known:
            raise UserError(f"--set {pair}: {kind.__name__} has no parameter {name!r}; it has {', '.join(known)}")
        found[name] = value_in(text)
    return found


def value_in(text: str) -> Any:
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return text
