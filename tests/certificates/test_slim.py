"""A certificate without its proof says what was proven, and is not believed."""

import copy
import pickle

import pytest

from maxmargin import HardMarginSVM, LinearSVM
from maxmargin.certificates.slim import LEFT_OUT, PROOF, without_proof

X, Y = [[0.0, 0.0], [0.0, 2.0], [3.0, 0.0], [5.0, 1.0]], [-1, -1, 1, 1]


@pytest.mark.parametrize(
    "svm", [HardMarginSVM(), LinearSVM(), LinearSVM(memory="10MB")], ids=["hard", "soft", "blocks"]
)
def test_it_says_what_was_proven_and_proves_nothing(svm):
    whole = svm.fit(X, Y).certificate_
    slim = without_proof(whole)
    for name in ("verdict", "primal", "dual", "relative_gap", "is_separable", "positive", "n_rows", "n_support"):
        assert getattr(slim, name) == getattr(whole, name)
    assert slim.w.tolist() == whole.w.tolist()
    for exact in (False, True):
        answer = slim.verify(X, Y, exact=exact)
        assert (answer.holds, answer.exact, answer.reasons) == (False, exact, (LEFT_OUT,))
    for name in PROOF:
        with pytest.raises(AttributeError, match=f"a slim certificate has no {name}: the rows and weights"):
            getattr(slim, name)
    for name in ("__len__", "claims"):
        with pytest.raises(AttributeError, match=name):
            getattr(slim, name)
    assert slim.slim() is slim
    assert repr(slim) == f"{whole!r} without its proof"
    assert str(slim) == slim.report() == f"{slim!r}:\n  {LEFT_OUT}"
    assert slim._repr_html_().startswith("<pre>")
    with pytest.raises(TypeError):
        bool(slim)


def test_its_rows_are_gone():
    slim = without_proof(LinearSVM().fit(X, Y).certificate_)
    assert (len(slim.claim.rows), len(slim.claim.weights), slim.claim.kkt) == (0, 0, None)


def test_of_many_classes_each_part():
    slim = LinearSVM().fit(X, ["a", "b", "c", "c"]).certificate_.slim()
    assert all(part.verify(X, Y).reasons == (LEFT_OUT,) for part in slim.parts)
    assert slim.is_optimal


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda slim: pickle.loads(pickle.dumps(slim))])
def test_it_can_be_copied_and_kept(again):
    slim = LinearSVM().fit(X, Y).certificate_.slim()
    found = again(slim)
    assert (found.text, found.n_support, found.primal) == (slim.text, slim.n_support, slim.primal)
    assert "__array__" not in dir(found)
    assert not hasattr(found, "__array__")
    assert not hasattr(object.__new__(type(slim)), "claim")
