"""Rows far from zero for their distances, as timestamps are: decided, by a certificate of the rows as they are."""

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin import HardMarginSVM, NotSeparableError, separability
from maxmargin.certificates.exact import margins_in_floats
from maxmargin.cli import main
from maxmargin.problems.choices import Norm
from maxmargin.problems.statement import Separation
from maxmargin.solve.separation import moved_exactly

TIMES = 1.7e18 + 256.0 * np.arange(4)  # neighbouring doubles
LABELS = [0, 0, 1, 1]


def tables():
    other = np.array([0.1, 0.4, 0.3, 0.2])
    yield TIMES[:, None]
    yield np.column_stack([TIMES, other])
    yield np.column_stack([other, TIMES - 1.8e18, 1e8 + 1e-7 * other])
    yield sparse.csr_array(np.column_stack([TIMES, other]))
    yield TIMES[:, None] * 2.0**-60  # the same in other units
    yield np.array([[1.0, 0.0], [1.0, 1.0], [np.nextafter(1.0, 2.0), 0.5], [np.nextafter(1.0, 2.0), 0.2]])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("X", list(tables()), ids=lambda X: str(X.shape))
def test_neighbouring_doubles_are_told_apart(X):
    c = separability(X, LABELS)
    assert c.is_separable is True
    assert 0.0 < c.margin_lower <= c.margin_upper
    assert c.verify(X, LABELS)
    assert c.verify(X, LABELS, exact=True)
    assert type(c).from_json(c.to_json()).verify(X, LABELS, exact=True)
    svm = HardMarginSVM().fit(X, LABELS)
    assert svm.certificate_.is_separable is True
    assert svm.certificate_.verify(X, LABELS, exact=True)


def test_the_margin_of_timestamps_is_as_good_as_a_bias_of_53_bits_lets_it_be():
    c = separability(TIMES[:, None], LABELS)
    assert 0.95 * 128.0 < c.margin_lower <= 128.0 <= c.margin_upper
    with pytest.raises(NotSeparableError):
        HardMarginSVM().fit(TIMES[:, None], [0, 1, 0, 1])
    witness = separability(TIMES[:, None], [0, 1, 0, 1])
    assert witness.is_separable is False
    assert witness.verify(TIMES[:, None], [0, 1, 0, 1], exact=True)


def test_a_forged_margin_of_timestamps_is_refused():
    X = TIMES[:, None]
    c = separability(X, LABELS)
    for change in ({"margin_lower": 1.001 * c.margin_lower}, {"b": c.b + 512.0}, {"w": -c.w}):
        forged = type(c).from_dict({**c.to_dict(), **change})
        assert not forged.verify(X, LABELS)
        assert not forged.verify(X, LABELS, exact=True)


def test_whole_numbers_that_float64_cannot_hold_are_refused():
    whole = TIMES[:, None].astype(np.int64)
    assert separability(whole, LABELS).is_separable is True
    with pytest.raises(
        ValueError, match="row 0, column 0 holds 1700000000000000001, which float64 cannot hold exactly"
    ):
        separability(whole + 1, LABELS)


def test_the_command_decides_them(tmp_path, capsys):
    file = tmp_path / "times.csv"
    file.write_text(
        "time,label\n" + "".join(f"{time:.1f},{label}\n" for time, label in zip(TIMES, LABELS, strict=True))
    )
    assert main(["check", str(file)]) == 0
    assert "Separable" in capsys.readouterr().out


def test_columns_are_moved_only_where_nothing_is_lost():
    X = np.column_stack([TIMES, [0.1, 1e8, 0.3, 0.2], [1.0, 2.0, -3.0, 0.0], [1e300, 1.0, -1e300, 0.0]])
    moved, origin = moved_exactly(Separation(X, np.array([-1.0, -1.0, 1.0, 1.0]), Norm.L2, True))
    assert origin.tolist() == [TIMES[0], 0.0, 1.0, 0.0]
    assert moved.X[:, 0].tolist() == [0.0, 256.0, 512.0, 768.0]
    assert moved.X[:, 2].tolist() == [0.0, 1.0, -4.0, -1.0]
    assert np.array_equal(moved.X[:, [1, 3]], X[:, [1, 3]])
    still, origin = moved_exactly(Separation(X, np.ones(4), Norm.L2, False))
    assert np.array_equal(still.X, X)
    assert not origin.any()


def test_the_least_numbers_are_not_rounded_up():
    X = np.array([[4.0], [-2.0]]) * np.nextafter(0.0, 1.0)
    for table in (X, 3.0 * X, X * np.array([[1.0], [2.0]])):
        c = separability(table, [1, -1])
        assert c.verify(table, [1, -1], exact=True)


def test_margins_are_rounded_once():
    found = margins_in_floats(TIMES[:, None], np.array([-1.0, -1.0, 1.0, 1.0]), np.array([3.0]), -3.0 * 1.7e18 - 1024.0)
    bias = -3.0 * 1.7e18 - 1024.0
    expected = [sign * (3 * int(time) + int(bias)) for sign, time in zip((-1, -1, 1, 1), TIMES, strict=True)]
    assert found.tolist() == [float(value) for value in expected]
    assert margins_in_floats(np.array([[1e308]]), np.ones(1), np.array([1e308]), 0.0) is None
