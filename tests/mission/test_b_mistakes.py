"""B. Learning by mistakes: perceptrons, Winnow, and their runs on record."""

import itertools
import json

import numpy as np
import pytest
from mission_points import POINTS, X, Y

from maxmargin import HardMarginSVM, MarginPerceptron, Perceptron, Trace, Winnow
from maxmargin.cli import main

LIFTED = np.column_stack([X, np.ones(4)])
R = np.sqrt(np.max(np.sum(LIFTED**2, axis=1)))
G = float(HardMarginSVM(fit_intercept=False).fit(LIFTED, Y).margin_)  # the best margin of the lifted rows


def perceptron_by_hand():
    """Rows in turn, until a whole sweep is right: the rows that were mistakes, and w."""
    w, rows, right = np.zeros(3), [], 0
    while right < 4:
        for i in range(4):
            if Y[i] * (LIFTED[i] @ w) <= 0:
                w, right = w + Y[i] * LIFTED[i], 0
                rows.append(i)
            else:
                right += 1
            if right == 4:
                break
    return rows, w


def test_B1_python_update_for_update():
    rows, w = perceptron_by_hand()
    model = Perceptron(record=True).fit(X, Y)
    assert model.trace_.to_arrays()["row"].tolist() == rows
    np.testing.assert_allclose([*model.coef_[0], model.intercept_[0]], w)
    assert len(rows) <= R**2 / G**2
    drawn = Perceptron(order="drawn", random_state=1).fit(X, Y)
    assert np.all(Y * (X @ drawn.coef_[0] + drawn.intercept_[0]) > 0)
    assert drawn.n_updates_ <= R**2 / G**2


def test_B1_command_update_for_update(command, four):
    told = command("fit", four, "--algorithm", "perceptron", "--scale", "none")
    assert told["certificate"]["theorems"][0]["measured"] == len(perceptron_by_hand()[0])
    drawn = command("fit", four, "--algorithm", "perceptron", "--scale", "none", "--set", "order=drawn")
    assert drawn["accuracy"] == 1.0


def test_B1_page_update_for_update(page):
    steps = page("steps", POINTS, "perceptron")["steps"]
    assert [step["row"] for step in steps] == perceptron_by_hand()[0]
    assert page("answer", POINTS, "perceptron", order="drawn")["mistakes"] == []


def test_B2_python_half_of_a_guess():
    model = MarginPerceptron(guess=G).fit(X, Y)
    w = np.append(model.coef_[0], model.intercept_[0])
    assert np.min(Y * (LIFTED @ w)) / np.linalg.norm(w) >= G / 2
    assert model.n_updates_ <= 12 * R**2 / G**2


def test_B2_command_half_of_a_guess(command, four):
    told = command("fit", four, "--algorithm", "margin-perceptron", "--scale", "none", "--set", f"guess={G}")
    certificate = told["certificate"]
    w = np.array([*certificate["w"], certificate["b"]])
    signs = Y if certificate["positive"] == "high" else -Y
    assert np.min(signs * (LIFTED @ w)) / np.linalg.norm(w) >= G / 2 * (1 - 1e-12)


def test_B2_page_half_of_a_guess(page):
    answer = page("answer", POINTS, "margin_perceptron", guess=0.2)
    w = np.array([*answer["plane"]["w"], answer["plane"]["b"]])
    assert np.min(Y * (LIFTED @ w)) / np.linalg.norm(w) >= 0.1


def test_B3_python_a_quarter_of_the_best_without_a_guess():
    model = MarginPerceptron(record=True).fit(X, Y)
    w = np.append(model.coef_[0], model.intercept_[0])
    assert np.min(Y * (LIFTED @ w)) / np.linalg.norm(w) >= G / 4
    guesses = [phase.tried for phase in model.trace_.phases]
    np.testing.assert_allclose(guesses, guesses[0] * 0.5 ** np.arange(len(guesses)))


def test_B3_command_a_quarter_of_the_best_without_a_guess(command, four):
    told = command("fit", four, "--algorithm", "margin-perceptron", "--scale", "none")["certificate"]
    assert told["margin_lower"] >= 0.5 / 4
    assert told["margin_lower"] <= 0.5 <= told["margin_upper"]


def test_B3_page_a_quarter_of_the_best_without_a_guess(page):
    answer = page("answer", POINTS, "margin_perceptron")
    assert 0.5 / 4 <= answer["certificate"]["lower"] <= 0.5 <= answer["certificate"]["upper"]


def test_B5_python_a_run_on_record(tmp_path):
    trace = Perceptron(record=True).fit(X, Y).trace_
    again = Trace.from_json(trace.to_json())
    assert again.to_arrays()["row"].tolist() == perceptron_by_hand()[0]
    text = trace.to_html()
    assert len(text.encode()) < 50_000
    assert len(trace.to_csv().strip().splitlines()) == 1 + 5


def test_B5_command_a_run_on_record(four, tmp_path):
    record, picture = tmp_path / "run.json", tmp_path / "run.png"
    assert main(["fit", four, "--algorithm", "perceptron", "--scale", "none", "--record", str(record)]) == 0
    assert json.loads(record.read_text())
    assert Trace.from_json(record.read_text()).to_arrays()["row"].tolist() == perceptron_by_hand()[0]
    assert main(["plot", str(record), "-o", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_B5_page_a_run_step_by_step(page):
    steps = page("steps", POINTS, "perceptron")["steps"]
    _, w = perceptron_by_hand()
    assert [*steps[-1]["w"], steps[-1]["b"]] == pytest.approx(w.tolist())
    for before, after in itertools.pairwise(steps):
        assert after["before"]["w"] == before["w"]


def l1_value():
    """The value of the game: the best l1 margin of the lifted rows, the largest number of which is 1."""
    scale = np.abs(X).max()
    rows = np.column_stack([X / scale, np.ones(4)])
    return float(HardMarginSVM("l1", fit_intercept=False).fit(rows, Y).margin_)


def test_B4_python_the_value_of_the_game():
    model = Winnow(record=True).fit(X, Y)
    game, value = model.game_, l1_value()
    assert game.value_lower <= value * (1 + 1e-9)
    assert game.value_upper >= value * (1 - 1e-9)
    assert game.strategy.sum() == pytest.approx(1.0)
    assert game.regret <= game.regret_bound


def test_B4_command_the_mistakes_of_winnow(command, four):
    told = command("fit", four, "--algorithm", "winnow", "--scale", "none")
    rigorous, leading = told["certificate"]["theorems"]
    assert leading["bound"] == pytest.approx(16 / 3 * np.log(6) / l1_value() ** 2, rel=1e-3)
    assert rigorous["bound"] == pytest.approx(2 * leading["bound"])
    assert rigorous["measured"] <= rigorous["bound"]


def test_B4_page_the_mistakes_of_winnow(page):
    answer = page("answer", POINTS, "winnow")
    best = HardMarginSVM("l1").fit(X, Y).certificate_
    assert answer["space"] == "l1"
    assert answer["certificate"]["lower"] <= best.margin_upper
    assert answer["certificate"]["upper"] >= best.margin_lower
    assert all(theorem["holds"] for theorem in answer["theorems"])
