"""A kind of certificate from outside of the library: a record and an evaluator, and nothing else is told of it.

    min  |w|_1 + sum_i C_i max(0, 1 - y_i w.x_i)   =   max  sum_i a_i,   0 <= a_i <= C_i,   |sum_i a_i y_i x_i|_max <= 1

Weights that are in their box are divided by what they exceed the second condition. All of it is decided in fractions.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from maxmargin import MulticlassCertificate
from maxmargin.certificates.proof import KKT, TheoremBound, Violation
from maxmargin.certificates.record import KINDS, Record
from maxmargin.certificates.soft_margin import SoftVerdict, soft_gap
from maxmargin.certificates.verify import EVALUATORS, Bound, Evaluator, register
from maxmargin.data.table import Vector
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.record import read_certificate, write_certificate
from maxmargin.persistence.schema import Reader

X, Y = np.array([[0.5, 1.0], [2.0, -1.0], [-1.0, 0.5], [-0.25, -2.0]]), np.array(["a", "a", "b", "b"])


def declared():
    @dataclass(frozen=True, eq=False, repr=False)
    class SparseCertificate(Record):
        kind: ClassVar[str] = "sparse soft margin"
        recognised_by: ClassVar[set[str]] = {"sparse"}
        verdicts: ClassVar[type[StrEnum]] = SoftVerdict
        question: ClassVar[str] = "is_optimal"

        verdict: SoftVerdict
        sparse: bool
        C: float
        fit_intercept: bool
        class_weight: tuple[tuple[Any, float], ...]
        positive: Any
        negative: Any
        n_rows: int
        n_columns: int
        w: Vector
        b: float
        rows: NDArray[np.intp]
        weights: Vector
        primal: float
        dual: float
        tol: float
        kkt: KKT | None = None
        theorems: tuple[TheoremBound, ...] = ()

        @property
        def relative_gap(self):
            return soft_gap(self.primal, self.dual)

    @register(SparseCertificate.kind)
    class SparseEvaluator(Evaluator):
        def bounds(self):
            c, rows = self.c, [[Fraction(value) for value in row] for row in self.data.X.tolist()]
            signs, costs, a = (
                list(map(Fraction, side.tolist())) for side in (self.data.signs, self.data.costs, self.a)
            )
            w = list(map(Fraction, c.w.tolist()))
            slack = [1 - s * sum(map(Fraction.__mul__, w, x)) for s, x in zip(signs, rows, strict=True)]
            above = sum(map(abs, w)) + sum(cost * max(Fraction(0), one) for cost, one in zip(costs, slack, strict=True))
            p = [sum(t * s * x[j] for t, s, x in zip(a, signs, rows, strict=True)) for j in range(len(w))]
            below = sum(a) / max(Fraction(1), *map(abs, p))
            words = f"the plane costs {float(above)}, not {c.primal}"
            yield Bound(c.primal, math.inf, -math.inf, words, lambda: Fraction(c.primal) >= above, is_lower=False)
            words = f"the weights prove {float(below)}, not {c.dual}"
            yield Bound(c.dual, -math.inf, math.inf, words, lambda: Fraction(c.dual) <= below, is_lower=True)

    return SparseCertificate


@pytest.fixture
def kind():
    made = declared()
    yield made
    del KINDS[made.kind], EVALUATORS[made.kind]


def certificate(kind, **changes):
    fields = {
        "verdict": SoftVerdict.BOUNDED, "sparse": True, "C": 2.0, "fit_intercept": False, "class_weight": (),
        "positive": "a", "negative": "b", "n_rows": 4, "n_columns": 2, "w": np.array([1.0, 0.25]), "b": 0.0,
        "rows": np.array([0, 2]), "weights": np.array([0.5, 0.75]), "primal": 3.0, "dual": 1.25, "tol": 0.01,
    }  # fmt: skip
    return kind(**(fields | changes))


@pytest.mark.parametrize("exact", [False, True])
def test_it_is_verified_and_refused_like_every_other(kind, exact):
    c = certificate(kind)
    answer = c.verify(X, Y, exact=exact)
    assert answer, answer
    assert answer.reasons == ("the least objective lies between 1.25 and 3",)
    for change, words in (
        ({"primal": 2.25}, "the plane costs 2.5, not 2.25"),
        ({"dual": math.nextafter(1.25, 2.0)}, "the weights prove 1.25, not 1.25"),
        ({"weights": np.array([0.5, 2.5])}, "the weight 2.5 of row 2 is not between 0 and its cost 2"),
        ({"weights": np.array([0.5, math.nan])}, "the weight nan of row 2"),
        ({"verdict": SoftVerdict.OPTIMAL}, "above the tol of 1.0e-02: not optimal"),
        ({"verdict": "OPTIMAL"}, "the verdict 'OPTIMAL' is not known"),
        ({"b": 1.0}, "the plane should pass through the origin"),
        ({"w": np.ones(3)}, "the plane is not finite or has the wrong length"),
        ({"rows": np.array([0, 4])}, "row 4 is not part of this problem"),
        ({"n_rows": 5}, "the certificate is about 5 rows"),
        ({"tol": 1.0}, "tol must be above 0 and below 1"),
        ({"sparse": 1}, "sparse must be True or False"),
        ({"C": 0.0}, "C times the weights must be positive"),
        ({"class_weight": (("c", 1.0),)}, "class_weight names 'c'"),
        ({"kkt": KKT(*[Violation(0.0)] * 5)}, "conditions of optimality are reported that nobody measures"),
        ({"theorems": (TheoremBound("Murphy", 1.0, 1.0),)}, "there is no theorem 'Murphy'"),
        ({"primal": math.nan}, "a bound is NaN"),
    ):
        answer = dataclasses.replace(c, **change).verify(X, Y, exact=exact)
        assert not answer
        assert words in str(answer), (words, str(answer))


def test_an_evaluator_that_measures_less_than_is_claimed_proves_nothing(kind, monkeypatch):
    c, evaluator = certificate(kind), EVALUATORS[kind.kind]
    both = evaluator.bounds
    for measured in (
        lambda self: iter(()),
        lambda self: list(both(self))[:1],
        lambda self: list(both(self))[1:],
        lambda self: [bound._replace(claimed=0.0, exactly=lambda: True) for bound in both(self)],
        lambda self: [bound._replace(is_lower=True, exactly=lambda: True) for bound in both(self)],
    ):
        monkeypatch.setattr(evaluator, "bounds", measured)
        assert c.verify(X, Y).reasons == ("a bound is claimed that nobody measures",)
    monkeypatch.setattr(evaluator, "bounds", lambda self: (one._replace(exactly=None) for one in both(self)))
    assert "exact arithmetic has no way to decide" in str(c.verify(X, Y, exact=True))


def test_it_is_printed_shown_and_written_like_every_other(kind):
    c = certificate(kind)
    assert repr(c).startswith("SparseCertificate(BOUNDED, objective in [1.25, 3], relative gap 0.59")
    assert "  least objective: between 1.25 and 3" in c.report().splitlines()
    assert "C = 2" in c.report()
    assert "least objective between 1.25 and 3" in c._repr_html_()
    again = kind.from_json(c.to_json())
    assert again.to_json() == c.to_json()
    assert again.verify(X, Y)
    many = MulticlassCertificate.from_json(MulticlassCertificate((c,)).to_json())
    assert type(many[0]) is kind
    with pytest.raises(ValueError, match=r"missing \['sparse'\]"):
        kind.from_dict({name: value for name, value in c.to_dict().items() if name != "sparse"})


def test_it_is_in_a_model_file_where_the_process_knows_it(kind):
    c, arrays = certificate(kind), {}
    document = write_certificate(c, arrays)
    assert document["kind"] == "sparse soft margin"
    again = read_certificate(Reader(dict(arrays)), document, [("a", "b")], 2)
    assert again.to_json() == c.to_json()
    del KINDS[kind.kind]
    with pytest.raises(Refusal, match="one of 'separation', "):
        read_certificate(Reader(dict(arrays)), document, [("a", "b")], 2)
    KINDS[kind.kind] = kind
