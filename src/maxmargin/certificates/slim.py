"""What a certificate says, without the rows and weights that prove it: for models that are kept by the thousand.

A claim needs no proof to be shown, only to be believed. So a slim certificate has the statement, the verdict and the
bounds, and refuses to be verified.
"""

from __future__ import annotations

import dataclasses
import html
from typing import Any

from maxmargin.certificates.report import Verification

LEFT_OUT = (
    "the rows and weights that prove it were left out by slim(): verify the certificate before, keep a model with its "
    "proof, or fit again"
)
PROOF = ("rows", "weights", "shares", "kkt", "to_dict", "to_json")  # what would tell of the rows


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class SlimCertificate:
    """A claim that was proven once. All attributes are those of the certificate, but for its rows and weights."""

    claim: Any
    n_support: int
    text: str

    def verify(self, X: Any, y: Any, *, exact: bool = False, sample_weight: Any = None, kernel: Any = None) -> Any:
        """False, and what would be needed.

        Parameters
        ----------
        X, y, sample_weight, kernel : as of the certificate
            Not looked at.
        exact : bool, default=False
            Whether rational arithmetic was asked for.

        Returns
        -------
        Verification
            With the reason.
        """
        return Verification(False, exact, (LEFT_OUT,))

    @property
    def parts(self) -> tuple[SlimCertificate]:
        """Itself."""
        return (self,)

    def slim(self) -> SlimCertificate:
        """Itself.

        Returns
        -------
        SlimCertificate
            There is nothing left to leave out.
        """
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in self.__dataclass_fields__:
            raise AttributeError(name)
        if name in PROOF:
            raise AttributeError(f"a slim certificate has no {name}: {LEFT_OUT}")
        return getattr(self.claim, name)

    def __bool__(self) -> bool:
        return bool(self.claim)  # which raises: it is neither true nor false

    def __repr__(self) -> str:
        return f"{self.text} without its proof"

    def __str__(self) -> str:
        return self.report()

    def report(self) -> str:
        """What is said, and that nothing proves it any more.

        Returns
        -------
        str
            What `print` shows.
        """
        return f"{self!r}:\n  {LEFT_OUT}"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.report())}</pre>"


def without_proof(certificate: Any) -> SlimCertificate:
    """The certificate without its rows."""
    fields = {field.name for field in dataclasses.fields(certificate)}
    empty: dict[str, Any] = {name: getattr(certificate, name)[:0] for name in fields & {"rows", "weights", "shares"}}
    empty |= {"kkt": None} if "kkt" in fields else {}
    return SlimCertificate(dataclasses.replace(certificate, **empty), certificate.n_support, repr(certificate))
