"""Both sides of the soft margin in one pass over blocks, against fractions: on ordinary tables and on nasty numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from block_margin_oracle import answer_of, exact_sides, exact_slope, facts_of, problem_of, table_of, weights_of
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from maxmargin.certificates import block_duality, exact_blocks
from maxmargin.certificates.block_duality import BothSums, ClassSums, both_sides, slopes_of
from maxmargin.data.labelled import row_ids
from maxmargin.problems.block_margin import ListedRows, Rule, Weights
from maxmargin.problems.losses import HINGE, HUBER_HINGE, LOSSES, MODIFIED_HUBER, SQUARED_HINGE, Loss

STEEP = Loss("steep", 3.0, 0.0)


def judged(table, problem, w, b, weights, matters=0.0):
    return answer_of(table, problem, both_sides(problem, facts_of(table), w, b, weights, matters=matters))


def rows_of(n=300, d=6, seed=0, offset=0.0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) + offset
    y = np.where(X[:, 0] - offset + 0.5 * random.normal(size=n) > 0.2, 1, 0)
    return X, y


def listed(table, problem, random, chance=0.1):
    """Some rows of each block, with shares of their own."""
    blocks = [problem.of(table.block(k)) for k in range(table.n_blocks)]
    ids = np.concatenate([block.ids(np.flatnonzero(random.random(len(block.rows)) < chance)) for block in blocks])
    return ListedRows(ids, random.random(len(ids)))


def close_to(exact, value, error, *, above=1):
    exact, value, error = (Fraction(number) for number in (exact, value, error))
    return value - error <= exact <= (value + above * error) * (1 + Fraction(above - 1, 10**9))


@pytest.mark.parametrize("loss", [HINGE, STEEP, SQUARED_HINGE, HUBER_HINGE, MODIFIED_HUBER], ids=lambda loss: loss.name)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_array])
def test_both_sides_are_what_fractions_say(loss, bias, form):
    random = np.random.default_rng(5)
    X, y = rows_of(60)
    table = table_of(form(X), y, [14, 0, 25, 1, 20], sample_weight=random.random(60) * (random.random(60) < 0.9))
    problem = problem_of(loss, prices=[0.7, 1.9], fit_intercept=bias)
    w, b = random.normal(size=6), 0.3 * bias
    for width in (0.0, 0.4):
        own = listed(table, problem, random) if loss.is_bounded else ListedRows.nobody()
        weights = Weights(Rule(w + 0.1, b, width), own)
        found = judged(table, problem, w, b, weights)
        primal, dual = exact_sides(table, problem, w, b, weights)
        assert close_to(primal, *found.primal)
        assert close_to(dual, found.dual.value, found.dual.error, above=2)
        assert found.primal.error <= 1e-12 * found.primal.value
        assert 0.0 < found.dual.error <= 1e-10 * found.dual.value
        assert primal <= found.primal.upper <= primal * (1 + Fraction(1, 10**11))
        assert dual * (1 - Fraction(1, 10**9)) <= found.dual.lower <= dual


@pytest.mark.parametrize("heights", [[300], [1] * 300, [150, 150], [0, 299, 0, 1], [37] * 8 + [4]])
def test_other_blocks_say_the_same_within_their_errors(heights):
    X, y = rows_of()
    w, b = np.full(6, 0.3), 0.1
    problem, weights = problem_of(HINGE), weights_of(w, b, 0.3)
    one = judged(table_of(X, y, [300]), problem, w, b, weights)
    other = judged(table_of(X, y, heights), problem, w, b, weights)
    assert abs(one.primal.value - other.primal.value) <= one.primal.error
    assert abs(one.dual.value - other.dual.value) <= one.dual.error
    assert other.primal.value + other.primal.error <= one.primal.upper
    assert other.dual.value - other.dual.error >= one.dual.lower


def test_the_plane_alone():
    X, y = rows_of()
    table, problem, w = table_of(X, y, [100] * 3), problem_of(HINGE), np.full(6, 0.3)
    alone = judged(table, problem, w, 0.1, None)
    assert alone.primal.value == judged(table, problem, w, 0.1, weights_of(w, 0.1, 0.3)).primal.value
    assert (alone.dual.value, alone.dual.lower) == (0.0, 0.0)


def test_a_pair_of_classes_leaves_the_others_out():
    X, y = rows_of()
    y[::3] = 2
    w, weights = np.full(6, 0.3), weights_of(np.full(6, 0.2), 0.1, 0.5)
    prices = np.array([0.5, 1.0, 7.0])
    pair = problem_of(HINGE, prices=prices, positive=1, negative=0)
    found = judged(table_of(X, y, [100] * 3), pair, w, 0.1, weights)
    two = judged(table_of(X[y < 2], y[y < 2], [200]), problem_of(HINGE, prices=prices[:2]), w, 0.1, weights)
    assert found.primal.value == pytest.approx(two.primal.value, rel=1e-13, abs=0.0)
    assert found.dual.value == pytest.approx(two.dual.value, rel=1e-12, abs=0.0)


# ---------------------------------------------------------------------------------------------------- at the jump


def test_a_row_at_the_jump_costs_what_it_could_weigh():
    """f = 0 for the first row at the rule's plane: without a width it may have any weight; listed, it has its own."""
    X, y = np.array([[1.0], [0.5], [0.25], [-1.5], [-0.5], [0.5]]), np.array([1, 1, 1, 0, 0, 0])
    table, problem = table_of(X, y, [3, 3]), problem_of(HINGE)
    jump = judged(table, problem, np.ones(1), 0.0, weights_of([1.0], 0.0))
    assert math.isinf(jump.dual.error)
    assert jump.dual.lower == 0.0
    own = judged(table, problem, np.ones(1), 0.0, weights_of([1.0], 0.0, ids=[0], shares=[0.25]))
    assert own.dual.value == 292 / 81  # a' = 8/9 (1/4, 1, 1), (0, 1, 1)
    assert own.dual.error < 1e-13
    wide = judged(table, problem, np.ones(1), 0.0, weights_of([1.0], 0.0, 1e-3))
    assert 1e-16 < wide.dual.error < 1e-11


@pytest.mark.parametrize("width", [1e-13, 1e-6, 1e-2])
def test_the_width_tells_how_much_rounding_of_f_moves_the_weights(width):
    """Every row is at f = 0 +- 1e-16: a_i moves by up to 1/4 off / width of its box."""
    X, y = np.array([[1.0]] * 8 + [[-1.0]] * 8), np.array([1] * 8 + [0] * 8)
    table, problem = table_of(X, y, [4] * 4), problem_of(HINGE, C=0.01)
    found = judged(table, problem, np.ones(1), 0.0, weights_of([1.0], 0.0, width))
    off = 1.01 * 5 * 2.0**-53 * 2.0  # (1 + 4) roundings of |w|.|x| + 1
    moved = 0.08 * 0.25 * off / width
    assert 2.0 * moved < found.dual.error < 2.0 * moved * 1.5 + 1e-14
    assert found.dual.value == pytest.approx(0.08 - 0.5 * 0.08**2, rel=1e-14, abs=0.0)


def test_a_row_far_from_the_edge_hardly_moves():
    """Its weight is 1e-14 / 1.5 of its box, or as much less than all of it; rounding of f moves that by 1e-30."""
    X, y = np.array([[2.5], [0.0], [-2.5], [0.0]]), np.array([1, 1, 0, 0])
    table, problem = table_of(X, y, [4]), problem_of(HINGE, C=0.01)
    found = judged(table, problem, np.ones(1), 0.0, weights_of([1.0], 0.0, 1e-14))
    assert found.dual.value == pytest.approx(0.02, rel=1e-12, abs=0.0)
    assert found.dual.error < 5e-16


# ------------------------------------------------------------------------------------------------- long doubles


def passes_of(run, table, problem):
    """The result, and how many passes it took."""

    def counted():
        ask, passes = next(run), 0
        while True:
            passes += 1
            answer = yield ask
            try:
                ask = run.send(answer)
            except StopIteration as end:
                return end.value, passes

    return answer_of(table, problem, counted())


@pytest.mark.skipif(not block_duality.LONGER, reason="this machine has no long doubles")
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_columns_far_from_zero_are_measured_in_a_second_pass(form):
    X, y = rows_of(offset=1e6)
    table, problem = table_of(form(X), y, [100] * 3), problem_of(HINGE, C=0.01)
    w, b = np.array([0.7, 0.0, 0.0, 0.0, 0.0, 0.0]), -0.7e6 - 0.1
    weights = weights_of(w, b, 0.5)
    plain = judged(table, problem, w, b, weights)
    between = (plain.primal.value - plain.dual.value) / plain.primal.value
    stated = (plain.primal.upper - plain.dual.lower) / plain.primal.upper
    assert stated > between + 1e-9
    for matters, passes in ((0.0, 1), (0.99 * between, 1), (0.5 * (between + stated), 2), (1.01 * stated, 1)):
        run = both_sides(problem, facts_of(table), w, b, weights, matters=matters)
        closer, counted = passes_of(run, table, problem)
        assert counted == passes
        if passes == 2:
            primal, dual = exact_sides(table, problem, w, b, weights)
            assert close_to(primal, *closer.primal)
            assert close_to(dual, closer.dual.value, closer.dual.error, above=2)
            assert closer.primal.error < 0.01 * plain.primal.error
            assert closer.dual.error < 0.01 * plain.dual.error


# ------------------------------------------------------------------------------------------------- what is refused


def test_shares_outside_of_their_box_are_refused():
    X, y = rows_of(20)
    table, problem, w = table_of(X, y, [10, 10]), problem_of(HINGE), np.ones(6)
    for share in (-1e-300, math.nextafter(1.0, 2.0), math.nan, math.inf):
        with pytest.raises(ValueError, match="block 1, row 3 has the share"):
            judged(table, problem, w, 0.0, weights_of(w, 0.0, 0.0, [2**32 + 3], [share]))


@pytest.mark.parametrize(("ids", "words"), [([10], "block 0 has no such row"), ([2 * 2**32], "there are 2 blocks")])
def test_rows_that_do_not_exist_are_refused(ids, words):
    X, y = rows_of(20)
    table, problem, w = table_of(X, y, [10, 10]), problem_of(HINGE), np.ones(6)
    with pytest.raises(ValueError, match=words):
        judged(table, problem, w, 0.0, weights_of(w, 0.0, 0.0, ids, [0.5]))


def test_the_squared_hinge_lists_no_rows():
    X, y = rows_of(20)
    with pytest.raises(ValueError, match="the squared hinge has no largest weight"):
        judged(
            table_of(X, y, [20]), problem_of(SQUARED_HINGE), np.ones(6), 0.0, weights_of(np.ones(6), 0, 0, [3], [0.5])
        )


def test_numbers_that_overflow_prove_nothing():
    X, y = np.array([[1e300], [-1e300]]), np.array([1, 0])
    found = judged(table_of(X, y, [2]), problem_of(HINGE), np.array([1e300]), 0.0, weights_of([1e300], 0.0, 1.0))
    assert math.isinf(found.primal.value)
    assert math.isinf(found.primal.upper)
    assert found.dual.lower == 0.0


# -------------------------------------------------------------------------------------------------- nasty numbers

ODD = [Loss("odd", 0.3, 0.7), Loss("narrow", 3.0, 1e-9), Loss("wide", 1e9, 1e9), Loss("flat", math.inf, 1e9), STEEP]
powers = st.sampled_from([0, 0, 0, 1, -3, 20, -40, 100, -100, 300, -300, 500, -500, 900, -900, -1022, -1060])
few = st.sampled_from([0.0, 1.0, -1.0, 3.0, -2.0, 0.1, -1 / 3])


@st.composite
def cases(draw):
    n, d = draw(st.integers(2, 7)), draw(st.integers(1, 3))
    gentle = draw(st.booleans())
    exponents = st.sampled_from([0, 0, 1, -3]) if gentle else powers
    numbers = lambda size: np.ldexp(draw(hnp.arrays(np.float64, size, elements=few)), draw(exponents))  # noqa: E731
    X = numbers((n, d)) + draw(st.sampled_from([0.0, 0.0, 1e5 if gentle else 0.0]))
    y = np.array([0, 1] + [draw(st.integers(0, 1)) for _ in range(n - 2)])
    cut = draw(st.integers(0, n))
    scale = np.ldexp(1.0, draw(exponents))
    sample = None if draw(st.booleans()) else np.array([1.0, 0.3] + [draw(st.sampled_from([1.0, 0.5])) for _ in y[2:]])
    table = table_of(sparse.csr_array(X) if draw(st.booleans()) else X, y, [cut, n - cut], sample)
    loss = draw(st.sampled_from([*LOSSES.values(), *ODD]))
    prices = np.maximum(scale * np.array([1.0, draw(st.sampled_from([1.0, 0.7, 3.0]))]), 1e-320)
    problem = problem_of(loss, prices=prices, fit_intercept=draw(st.booleans()))
    w, b = numbers(d), float(numbers(1)[0]) * problem.fit_intercept
    width = draw(st.sampled_from([0.0, 1e-300, 1e-17, 1e-8, 0.5, 1.0, 1e8]))
    rule = (
        Rule(w, b, width) if draw(st.booleans()) else Rule(numbers(d), float(numbers(1)[0]), width, draw(st.booleans()))
    )
    own = ListedRows.nobody()
    if loss.is_bounded and draw(st.booleans()):
        ids = np.concatenate([row_ids(0, np.arange(cut)), row_ids(1, np.arange(n - cut))])
        taken = np.array([draw(st.booleans()) for _ in range(n)])
        own = ListedRows(ids[taken], np.array([draw(st.sampled_from([0.0, 1.0, 0.3, 1e-9])) for _ in ids[taken]]))
    return table, problem, w, b, Weights(rule, own)


@settings(max_examples=60, deadline=None)
@given(case=cases())
def test_errors_hold_for_real_numbers_at_any_scale(case):
    table, problem, w, b, weights = case
    primal, dual = exact_sides(table, problem, w, b, weights)
    ask = block_duality.measurement(problem, table.n_blocks, w, b, weights)
    for closely in (False, True):
        sums = answer_of(table, problem, asked_once(ask._replace(part=ask.part._replace(closely=closely))))
        found = block_duality.judged(problem, w, sums)
        if math.isfinite(found.primal.value):
            assert close_to(primal, *found.primal)
        if math.isfinite(found.primal.upper):
            assert primal <= Fraction(found.primal.upper)
        assert dual >= Fraction(found.dual.lower)
        if math.isfinite(found.dual.error):
            assert Fraction(found.dual.value) - Fraction(found.dual.error) <= dual
        sure = block_duality.sure(found.dual)
        if math.isfinite(sure.error):
            assert close_to(dual, sure.value, sure.error, above=2)


def asked_once(ask):
    return (yield ask)


# ------------------------------------------------------------------------------------------- one thing at a time


@pytest.mark.parametrize("loss", [HINGE, STEEP, HUBER_HINGE, MODIFIED_HUBER, SQUARED_HINGE], ids=lambda loss: loss.name)
@pytest.mark.parametrize("width", [0.0, 1e-9, 1e-3, 0.7, 30.0])
def test_slopes_are_as_near_to_the_real_ones_as_they_say(loss, width):
    """Where f is known exactly, and where it is known within off: the farthest that it can be."""
    rule = Rule(np.zeros(1), 0.0, width)
    f = np.array([-2.0, -0.3, -1e-9, -1e-17, 0.0, 1e-17, 1e-9, 0.1, 0.3, 0.7, 1.3, 2.0, 5.0])
    for off in (0.0, 1e-16, 1e-8, 0.2):
        slopes, errors = slopes_of(rule, loss, f, np.full(len(f), off))
        assert np.all((slopes >= 0.0) & (slopes <= loss.box))
        largest = 0.0
        for value, slope, error in zip(f.tolist(), slopes.tolist(), errors.tolist(), strict=True):
            moved = [Fraction(value) + step * Fraction(off) for step in (-1, 0, 1)]
            apart = max(abs(exact_slope(rule, loss, one) - Fraction(slope)) for one in moved)
            share = (
                0 if not loss.is_smooth else Fraction(slope) * Fraction(1, 2**52)
            )  # of the quotient: counted elsewhere
            assert apart <= Fraction(error) + share
            gap = exact_slope(rule, loss, moved[1]) - exact_blocks.exact_slope(rule, loss, moved[1])
            assert 0 <= gap <= Fraction(4, 2**1400)
            largest = max(largest, float(apart))
        if off >= 1e-8 and width >= 1e-3:
            assert errors.max() <= 1.5 * largest + 1e-14
    nothing, errors = slopes_of(rule._replace(used=False), loss, f, np.ones(len(f)))
    assert not np.any(nothing)
    assert not np.any(errors)


def test_weights_of_one_class_alone_prove_nothing_and_that_is_exact():
    X, y = np.array([[0.5], [0.25], [-3.0], [-4.0]]), np.array([1, 1, 0, 0])
    table = table_of(X, y, [2, 2])
    found = judged(table, problem_of(HINGE), np.ones(1), 0.0, weights_of([1.0], 0.0)).dual
    assert (found.value, found.error, found.lower) == (0.0, 0.0, 0.0)
    alone = judged(table, problem_of(HINGE, fit_intercept=False), np.ones(1), 0.0, weights_of([1.0], 0.0)).dual
    assert alone.value == 2.0 - 0.5 * 0.75**2
    for bias in (True, False):
        nobody = weights_of([0.0], 0.0, used=False)
        nothing = judged(table, problem_of(HINGE, fit_intercept=bias), np.ones(1), 0.0, nobody).dual
        assert (nothing.value, nothing.error) == (0.0, 0.0)


def test_the_widest_rule():
    X, y = rows_of(20)
    table, problem, w = table_of(X, y, [20]), problem_of(HINGE), np.ones(6)
    found = judged(table, problem, w, 0.0, weights_of(w, 0.0, 1e100)).dual
    assert found.value > 0.0
    for width in (math.nextafter(1e100, math.inf), -5e-324, math.nan):
        with pytest.raises(ValueError, match="the width of the rule must be from 0 to 1e\\+100"):
            judged(table, problem, w, 0.0, weights_of(w, 0.0, width))


@pytest.mark.parametrize("rows", [10, 1000])
def test_what_vanished_is_counted_where_nothing_else_is_left(rows):
    """Sums so small that only roundings to 0 can have moved them: 2 (rows + 2) of the gain, half of 8 (rows + 1) + 4 of
    the square, and 4 + 4 at the end, each the least number of all."""
    least = math.ulp(0.0)
    own = ClassSums(rows // 2, np.float64(2.0**-1041), np.zeros(2), *map(np.float64, (0.0, 0.0, 0.0, 0.0, 0.0)))
    found = block_duality.dual_from(HINGE, False, BothSums(rows, 0.0, 0.0, 1, own, own, 1, 0.0, 0))
    assert found.value == 2.0**-1040
    assert found.error / least == 6 * rows + 18


def test_rounding_of_sums_that_cancel_is_counted_once():
    """Both classes have the same point, so that w = 0, and what is left is 1.01 (1.01 gamma(8) + 4 gamma(1)) of each
    moment: the sums, and their scale, which is 1."""
    own = ClassSums(1, np.float64(1.0), np.full(2, 0.5), *map(np.float64, (3.0, 0.0, 0.0, 0.0, 0.0)))
    found = block_duality.dual_from(HINGE, False, BothSums(2, 0.0, 0.0, 1, own, own, 0, 1.0, 0))
    assert (found.value, found.w.tolist()) == (2.0, [0.0, 0.0])
    gamma = {terms: terms * 2.0**-53 / (1.0 - terms * 2.0**-53) for terms in (1, 8)}
    assert found.w_error == pytest.approx(1.01 * (1.01 * gamma[8] + 4.0 * gamma[1]) * 6.0, rel=1e-9, abs=0.0)
