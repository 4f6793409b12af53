"""A loss is two numbers: what follows from them, for every loss that is registered, and for one from outside."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.problems.losses import HINGE, HUBER_HINGE, LOSSES, MODIFIED_HUBER, Loss, loss_named, register, width_of
from maxmargin.problems.statement import SoftMargin, best_bias, slack, total_loss

each_loss = pytest.mark.parametrize("loss", list(LOSSES.values()), ids=lambda loss: loss.name)
HARD = Loss("hard", math.inf, 0.0)


@each_loss
@given(t=st.floats(-5, 5), share=st.floats(0, 1), C=st.floats(1e-3, 1e3))
def test_fenchel_and_young(loss, t, share, C):
    """C loss(t) is at least a t - (bend / C) a^2 / 2 for every a in the box, and equal to it for the slope."""

    def gap(a):
        return C * loss.value(t) + 0.5 * (loss.bend / C) * a * a - a * t

    assert gap(share * min(loss.box, 10.0) * C) >= -1e-9 * (1.0 + C)
    assert abs(gap(C * loss.share(t))) <= 1e-9 * (1.0 + C)


@each_loss
@given(t=st.floats(-5, 5), step=st.floats(1e-3, 1.0))
def test_the_share_is_the_slope(loss, t, step):
    """A convex function is above its tangents."""
    assert loss.value(t + step) >= loss.value(t) + step * loss.share(t) - 1e-12
    assert 0.0 <= loss.share(t) <= loss.share(t + step) <= loss.box


@each_loss
def test_the_knee(loss):
    assert loss.value(0.0) == loss.value(-1.0) == loss.share(-1.0) == 0.0
    assert loss.is_bounded == (loss.knee < math.inf)
    if loss.is_bounded:
        for beyond in (0.25, 1.0, 3.0):
            assert loss.share(loss.knee + beyond) == loss.box
            straight = loss.value(loss.knee) + loss.box * beyond
            assert loss.value(loss.knee + beyond) == pytest.approx(straight, rel=1e-14)
    if loss.is_smooth:
        assert loss.share(0.5 * min(1.0, loss.knee)) == 0.5 * min(1.0, loss.knee) / loss.bend < loss.box


def test_the_four_by_hand():
    t = np.array([-1.0, 0.25, 0.5, 1.0, 2.0, 3.0])
    wanted = {
        "hinge": [0.0, 0.25, 0.5, 1.0, 2.0, 3.0],
        "squared_hinge": [0.0, 0.0625, 0.25, 1.0, 4.0, 9.0],
        "huber_hinge": [0.0, 0.0625, 0.25, 0.75, 1.75, 2.75],
        "modified_huber": [0.0, 0.0625, 0.25, 1.0, 4.0, 8.0],
    }
    for name, values in wanted.items():
        assert LOSSES[name].value(t).tolist() == values


def test_modified_huber_is_that_of_scikit_learn():
    from sklearn.linear_model._sgd_fast import ModifiedHuber

    theirs = ModifiedHuber()
    for margin in (-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0):
        assert MODIFIED_HUBER.value(1.0 - margin) == pytest.approx(theirs.py_loss(margin, 1.0), abs=1e-12)


def test_the_hard_margin_has_no_knee():
    assert HARD.knee == math.inf
    assert not HARD.is_bounded
    assert not HARD.is_smooth


@each_loss
def test_bounds_are_never_above_the_real_ones(loss):
    from fractions import Fraction

    costs = np.random.default_rng(0).uniform(1e-3, 1e3, 200)
    for box in (1.0, 4.0, 3.0, 0.1, 1e-9):
        bounds = Loss("other", box, loss.bend).bounds(costs)
        assert all(Fraction(u) <= Fraction(box) * Fraction(c) for u, c in zip(bounds, costs, strict=True))
        assert np.allclose(bounds, box * costs, rtol=1e-15)
    assert HINGE.bounds(costs) is costs


@pytest.mark.parametrize(
    ("loss", "sentence"),
    [
        (Loss("hinge", 2.0, 0.0), "there is a loss 'hinge' already"),
        (Loss("two words", 1.0, 0.0), "a name of letters"),
        (Loss("", 1.0, 0.0), "a name of letters"),
        (Loss(3, 1.0, 0.0), "a name of letters"),
        (HARD, "or infinite beside a bend"),
        (Loss("empty", 0.0, 0.0), "the box of empty must be"),
        (Loss("negative", -1.0, 0.0), "the box of negative must be"),
        (Loss("nothing", math.nan, 0.0), "the box of nothing must be"),
        (Loss("backwards", 1.0, -0.5), "the bend of backwards must be"),
        (Loss("bent", 1.0, math.nan), "the bend of bent must be"),
        (Loss("flat", 1.0, math.inf), "the bend of flat must be"),
        (Loss("tiny", 1.0, 1e-12), "the bend of tiny must be"),
    ],
)
def test_what_is_no_loss_is_not_registered(loss, sentence):
    known = dict(LOSSES)
    with pytest.raises(ValueError, match=sentence):
        register(loss)
    assert known == LOSSES


def test_the_same_loss_may_be_registered_twice():
    assert register(Loss("hinge", 1.0, 0.0)) is not None
    assert LOSSES["hinge"] is HINGE


def test_width():
    assert loss_named("huber_hinge") == HUBER_HINGE
    assert loss_named("huber_hinge", np.float64(2.0)).knee == 2.0
    assert width_of(loss_named("huber_hinge", 3)) == 3.0
    assert [width_of(loss) for loss in (HINGE, MODIFIED_HUBER)] == [None, None]
    for width in (0.0, -1.0, math.nan, math.inf, "wide", True, [0.5], 1e-12):
        with pytest.raises(ValueError, match="huber_width must be a number between 1e-09 and 1e\\+09, not"):
            loss_named("huber_hinge", width)
    with pytest.raises(ValueError, match=r'huber_width=0.5 is for loss="huber_hinge": the squared hinge has no'):
        loss_named("squared_hinge", 0.5)
    with pytest.raises(ValueError, match="loss=\\['hinge'\\] is not known; it can be 'hinge', 'squared_hinge'"):
        loss_named(["hinge"])


@each_loss
def test_the_best_bias_where_all_rows_are_beyond_the_knee(loss):
    """The slope is flat there: 40 rows of the one class and 60 of the other, 1000 apart on the wrong sides."""
    values = np.repeat([-500.0, 500.0], [40, 60])
    signs = -np.sign(values) * -np.where(np.arange(100) % 7 == 0, -1.0, 1.0)
    problem = SoftMargin(values[:, None], signs, np.linspace(1.0, 2.0, 100), loss, True)
    best = best_bias(problem, values)
    least = total_loss(problem, slack(problem, values, best))
    for b in np.linspace(-1100.0, 1100.0, 2201):
        assert least <= total_loss(problem, slack(problem, values, float(b))) * (1.0 + 1e-12)
