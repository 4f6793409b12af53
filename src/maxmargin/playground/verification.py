"""The proof of a state once more, in exact rational arithmetic, by the code that judges certificates.

"verify" (state)
    holds    true or false: the certificate is what the points say, or it is refused; null where it could not be decided
    exact    whether rational arithmetic decided; a kernel without rational values is checked in float64
    words    the sentences of the verification, with the bounds that it confirms
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from maxmargin.certificates.report import name_of
from maxmargin.data.executor import interruptible
from maxmargin.playground.fits import Stopped, fit_state
from maxmargin.playground.many_classes import title_of
from maxmargin.playground.messages import State


def verify(state: State, is_stopped: Callable[[], bool] = lambda: False) -> dict[str, Any]:
    """Fit, and check the certificate as a reader of a file would: from the points, the labels and its numbers alone."""

    def check() -> None:
        if is_stopped():
            raise Stopped

    certificate, labels = fit_state(state, is_stopped).certificate, state.labels
    words = []
    with interruptible(check):
        try:
            found = certificate.verify(state.points, labels, exact=True)
        except ValueError as why:  # a kernel that has no rational values
            found = certificate.verify(state.points, labels)
            first = str(why).split(". ")[0].rstrip(".")
            words.append(f"{first[:1].upper()}{first[1:]}.")
    return {
        "holds": found.holds,
        "exact": found.exact,
        "words": [in_names_of_the_page(str(found), certificate), *words],
    }


def in_names_of_the_page(text: str, certificate: Any) -> str:
    """With the shapes of the page in the place of labels, where there are many planes."""
    for part in certificate.parts if len(certificate.parts) > 1 else ():
        text = text.replace(name_of(part), title_of(part))
    return text
