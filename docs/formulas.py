r"""Formulas of docstrings, which are written to be read in a terminal, as TeX for the site.

    >>> print(tex("min 1/2 |w|^2   subject to   y_i (w.x_i + b) >= 1"))
    \min \tfrac12 \lvert w\rvert^2 \qquad \text{subject to} \qquad y_i (w \cdot x_i + b) \ge 1
    >>> print(tex("c_i += 1 for that row"))
    c_i \mathrel{{+}{=}} 1\text{ for that row}
    >>> print(tex("on a mistake   v_j *= (1 - epsilon)^(-a_j)"))
    \text{on a mistake} \qquad v_j \mathrel{{\times}{=}} (1 - \varepsilon)^{-a_j}

Words are text, but for those that are mathematics: min, sum, Greek letters, `loss`. Three spaces are a wide one.
"""

from __future__ import annotations

import re

NAMES = {
    "epsilon": r"\varepsilon",
    "eta": r"\eta",
    "inf": r"\infty",
    "lambda": r"\lambda",
    "loss": r"\operatorname{loss}",
    "max": r"\max",
    "min": r"\min",
    "phi": r"\varphi",
    "sum": r"\sum",
    "xi": r"\xi",
}
SIGNS = {"<=": r"\le", ">=": r"\ge", "<-": r"\leftarrow", "+=": r"\mathrel{{+}{=}}", "*=": r"\mathrel{{\times}{=}}"}
TOKEN = re.compile(
    r"""(?P<quoted>"[^"]*")
      | (?P<wide>\ {3,})
      | (?P<half>\b1/2\b)
      | (?P<length>\|(?P<inside>[^|]*)\|)
      | (?P<power>\^\((?P<exponent>[^()]*)\))
      | (?P<sign><=|>=|<-|\+=|\*=)
      | (?P<word>[A-Za-z]+(?:_[A-Za-z0-9]+)*)
      | (?P<dot>(?<=\w)\.(?=[A-Za-z]))""",
    re.VERBOSE,
)


def tex(line: str) -> str:
    """The formula as TeX."""
    written, end = "", 0
    for found in TOKEN.finditer(line.strip()):
        written += line.strip()[end : found.start()] + _token(found, line.strip())
        end = found.end()
    written += line.strip()[end:]
    while (joined := re.sub(r"(\\text\{[^{}]*)\} \\text\{", r"\1 ", written)) != written:
        written = joined  # words that follow each other are one text
    written = re.sub(r" {2,}", r" \\quad ", written)
    written = re.sub(r"(?<!quad) \\text\{", r"\\text{ ", written)  # spaces beside a text are seen within it alone
    return re.sub(r"(\\text\{[^{}]*)\} (?!\\q?quad)", r"\1 }", written)


def _token(found: re.Match[str], line: str) -> str:
    if found["quoted"]:
        return rf"\text{{{found['quoted']}}}"
    if found["wide"]:
        return r" \qquad "
    if found["half"]:
        return r"\tfrac12"
    if found["length"]:
        return rf"\lvert {tex(found['inside'])}\rvert"
    if found["power"]:
        return f"^{{{tex(found['exponent'])}}}"
    if found["sign"]:
        return SIGNS[found["sign"]]
    if found["dot"]:
        return r" \cdot "
    return _word(found, line)


def _word(found: re.Match[str], line: str) -> str:
    """A variable, a name that is mathematics, or text."""
    name, _, index = found["word"].partition("_")
    if name in NAMES and len(index) <= 2:
        return NAMES[name] + (f"_{{{index}}}" if len(index) > 1 else f"_{index}" if index else "")
    is_article = name == "a" and not index and re.match(r" [a-z]{2,}(?!\w*[_(.])", line[found.end() :])
    if len(name) == 1 and not is_article:
        return name + (f"_{{{index}}}" if len(index) > 1 else f"_{index}" if index else "")
    return rf"\text{{{found['word'].replace('_', chr(92) + '_')}}}"
