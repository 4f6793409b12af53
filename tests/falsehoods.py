"""Judge the judge: a table of falsehoods, each told about several honest certificates.

    falsehood = Falsehoods()

    @falsehood([one, another], "a reason")     # told about the cases that one() and another() make
    def margin_raised(case): ...               # from an honest case to a false one

    @falsehood.each
    def test_falsehood_is_refused(told, make, exact):
        refuse(told, make, exact)

Every falsehood must be refused in float64 and in fractions, and for the right reason.
"""

import dataclasses
import functools
import re
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sparse


class Case(NamedTuple):
    """A certificate and the data that it is about."""

    certificate: Any
    X: Any
    y: Any
    sample_weight: Any = None

    def verify(self, exact):
        return self.certificate.verify(self.X, self.y, exact=exact, sample_weight=self.sample_weight)


class Falsehood(NamedTuple):
    name: str
    tell: Any
    about: list
    reason: str


class Falsehoods:
    """Those of one file."""

    def __init__(self):
        self.told = []

    def __call__(self, about, reason, name=None):
        """Register a function from an honest case to a false one; its name is the falsehood's, if it has no other."""

        def register(tell):
            self.told.append(Falsehood(name or tell.__name__, tell, about, reason))
            return tell

        return register

    def each_case(self, test):
        """Run the test with every falsehood about every case."""
        pairs = [(told, make) for told in self.told for make in told.about]
        names = [f"{told.name}-{make.__name__}" for told, make in pairs]
        return pytest.mark.parametrize(("told", "make"), pairs, ids=names)(test)

    def each(self, test):
        """Run the test with every falsehood about every case, in both arithmetics."""
        return pytest.mark.parametrize("exact", [False, True], ids=["float64", "exact"])(self.each_case(test))

    def fields(self):
        """The fields of the certificates that some falsehood changes."""
        found = set()
        for told in self.told:
            for make in told.about:
                one, other = honest(make).certificate, told.tell(honest(make)).certificate
                names = [field.name for field in dataclasses.fields(one)]
                found |= {name for name in names if getattr(one, name) is not getattr(other, name)}
        return found

    def have_names_of_their_own(self):
        assert len({told.name for told in self.told}) == len(self.told)
        assert all(told.about for told in self.told)
        return True


@functools.cache
def honest(make):
    return make()


def refuse(told, make, exact):
    """The falsehood is refused, for the reason that it names."""
    refuse_in(told.tell(honest(make)), told.reason, exact)


def refuse_in(case, reason, exact):
    answer = case.verify(exact)
    assert not answer
    assert answer.reasons
    assert str(answer).startswith("Refused (in ")
    assert re.search(reason, "; ".join(answer.reasons)), answer.reasons


def changed(array, place, value):
    copy = np.array(array, dtype=np.result_type(array, type(value)) if not isinstance(value, str) else object)
    copy[place] = value
    return copy


def dense(X):
    return X.toarray() if sparse.issparse(X) else np.array(X, dtype=float)
