"""Winnow as a repeated game: its value is the l1 margin, and regret keeps to its bound; witnesses of a kernel."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin import HardMarginSVM, KernelPerceptron, MarginPerceptron, Perceptron, Trace, TraceDisplay, Winnow
from maxmargin.run.control import Status


def clouds(seed, n=50, d=3):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    X = X[np.abs(X @ np.arange(1.0, d + 1.0) - 0.3) > 0.4]
    return X, (X @ np.arange(1.0, d + 1.0) > 0.3).astype(int)


@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"epsilon": 0.1}, {"normalize_rows": True}], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_the_value_is_the_l1_margin(seed, options):
    X, y = clouds(seed)
    bias, normalized = options.get("fit_intercept", True), options.get("normalize_rows", False)
    if not bias:
        y = (X @ [1.0, 2.0, 3.0] > 0.0).astype(int)
    model = Winnow(record=True, **options).fit(X, y)
    game, signs = model.game_, 2.0 * y - 1.0
    scale = np.maximum(np.abs(X).max(axis=1), 1.0)[:, None] if normalized else np.abs(X).max()
    rows = np.column_stack([X / scale, np.ones((len(X), 1)) / (scale if normalized else 1.0)]) if bias else X / scale
    value = HardMarginSVM("l1", fit_intercept=False).fit(rows, y).margin_  # the linear program
    assert 0.0 < game.value_lower <= value * (1.0 + 1e-9)
    assert value * (1.0 - 1e-9) <= game.value_upper
    assert game.regret <= game.regret_bound
    assert game.payoff <= 0.0
    assert game.rounds == model.trace_.phases[-1].updates
    m = 2 * rows.shape[1]
    eta = -math.log1p(-model.trace_.phases[-1].tried)
    assert game.regret_bound == pytest.approx(math.log(m) / eta + game.rounds * eta / 2.0)
    # The strategies: mixtures, which have these values on the rows.
    assert game.strategy.sum() == pytest.approx(1.0)
    assert game.choices.sum() == pytest.approx(1.0)
    signed = (game.strategy[:4] - game.strategy[4:])[: rows.shape[1]]
    assert np.min(signs * (rows @ signed)) >= game.value_lower * np.abs(signed).sum() * (1.0 - 1e-9)
    assert np.max(np.abs((game.choices * signs) @ rows)) == pytest.approx(game.value_upper)
    times = game.choices * game.rounds
    np.testing.assert_allclose(times, np.round(times), atol=1e-9)
    # The payoffs are those of the rounds.
    columns = model.trace_.to_arrays()
    own = columns["update"] >= model.trace_.phases[-1].first
    assert columns["violation"][own].sum() == pytest.approx(game.payoff)
    assert game.regret == pytest.approx(game.rounds * game.value_upper - game.payoff)


def test_a_value_below_zero_is_not_bounded_by_zero():
    """Without opposites and without a bias every mixture loses 1 in every round."""
    model = Winnow(0.5, balanced=False, fit_intercept=False, record=True, max_updates=50)
    with pytest.warns(ConvergenceWarning):
        game = model.fit([[1.0], [-1.0]], [0, 1]).game_
    assert game.value_lower <= -1.0 <= game.value_upper < 0.0


def test_no_game_without_a_record():
    X, y = clouds(0)
    model = Winnow(record=True).fit(X, y)
    assert not hasattr(model.set_params(record=False).fit(X, y), "game_")
    three = Winnow(record=True, max_updates=50).fit([[0.0], [5.0], [10.0]], [0, 1, 2])
    assert len(three.game_) == 3


def test_pictures_of_the_search_and_of_the_game():
    X, y = clouds(1)
    model = MarginPerceptron(record=True).fit(X, y)
    display = TraceDisplay.from_estimator(model, X, y, kind="schedule")
    heights = [line.get_ydata()[0] for line in display.ax_.lines[: len(model.trace_.phases)]]
    assert heights == [phase.tried for phase in model.trace_.phases]
    winnow = Winnow(record=True).fit(X, y)
    display = TraceDisplay.from_trace(Trace.from_json(winnow.trace_.to_json()), kind="game")
    bound, value, mean = (line.get_ydata() for line in display.ax_.lines[:3])
    assert np.all(value <= bound)
    assert np.all(mean <= value)
    assert mean[-1] == pytest.approx(winnow.game_.payoff / winnow.game_.rounds)
    assert value[-1] == pytest.approx(winnow.game_.value_upper)
    TraceDisplay.from_estimator(winnow, X, y, kind="schedule")
    with pytest.raises(ValueError, match="this run searched for no number"):
        TraceDisplay.from_estimator(Perceptron(record=True).fit(X, y), X, y, kind="schedule")
    with pytest.raises(ValueError, match="the repeated game is Winnow's"):
        TraceDisplay.from_estimator(model, X, y, kind="game")
    with pytest.raises(ValueError, match="were left out of this record"):
        TraceDisplay.from_estimator(Winnow(record=Trace(limit=3)).fit(X, y), X, y, kind="game")
    plt.close("all")


XOR, LABELS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [3.0, 3.0]]), np.array([0, 1, 1, 0, 1])


@pytest.mark.parametrize("bias", [True, False])
def test_a_kernel_that_does_not_separate_ends_with_a_witness(bias):
    model = KernelPerceptron("linear", fit_intercept=bias, max_iter=100_000).fit(XOR, LABELS)
    assert model.status_ is Status.WITNESS
    assert model.n_iter_ == 20
    assert model.certificate_.is_separable is False
    assert model.certificate_.verify(XOR, LABELS, exact=True)
    assert model.certificate_.rows.tolist() == ([1, 2, 3, 4] if bias else [0])  # without a bias a row of zeros is one
    assert bool(model.certificate_.verify(XOR + 1.0, LABELS, exact=True)) is bias
    assert bool(model.certificate_.verify(XOR, LABELS[[0, 1, 3, 2, 4]], exact=True)) is not bias
    table = XOR @ XOR.T
    given = KernelPerceptron("precomputed", fit_intercept=bias, max_iter=100_000).fit(table, LABELS)
    assert given.certificate_.verify(table, LABELS, exact=True)


def test_equal_rows_are_a_certificate_for_every_kernel():
    X, y = np.vstack([XOR, XOR[:1]]), np.append(LABELS, 1)
    model = KernelPerceptron(max_iter=100_000).fit(X, y)
    assert model.status_ is Status.WITNESS
    assert sorted(model.certificate_.rows) == [0, 5]
    assert model.certificate_.verify(X, y)
    short = KernelPerceptron(max_iter=3).fit(X, y)  # asked when the sweeps are spent
    assert short.certificate_.verify(X, y)


def test_no_certificate_where_a_plane_exists():
    model = KernelPerceptron("poly", gamma=1.0, coef0=1.0, degree=3).fit(XOR, LABELS)
    assert model.certificate_.is_separable
