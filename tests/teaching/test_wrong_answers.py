"""A wrong answer is refused by the condition that fails, and by its row."""

import math

import numpy as np
import pytest
from teaching.library_answers import (
    ANSWERS,
    SEEDS,
    margin_perceptron,
    mistake_bound,
    multipliers,
    no_plane,
    plane,
    slack,
    soft_margin,
    xor,
)

from maxmargin import (
    LinearSVM,
    exercise,
)
from maxmargin.certificates import exact, measure


def refused(name, change, seed=0):
    """The grade of the library's answer after a change."""
    task = exercise(name, seed)
    answer = ANSWERS[name](task)
    answer = {key: np.array(value) for key, value in answer.items()} if isinstance(answer, dict) else np.array(answer)
    changed = change(answer, task)
    grade = task.check(answer if changed is None else changed)
    assert not grade.right
    return grade, task


def only(grade, condition, row=None):
    """The sentence of the failure with this condition; the row, where it is known beforehand."""
    [failure] = [failure for failure in grade.failures if failure.condition == condition]
    assert failure.sentence.endswith(".")
    if row is not None:
        assert failure.row == row
        assert f"row {row}" in failure.sentence
    return failure


def test_a_row_on_the_wrong_side_is_named():
    for seed in SEEDS:
        task = exercise("separate", seed)
        row = seed % len(task.y)
        grade = task.check(w=[1, 2], b=-float(task.X[row] @ [1, 2]))  # through the row
        assert not grade
        failure = next(failure for failure in grade.failures if failure.row == row)
        assert "which is not above 0" in failure.sentence
        assert grade.lower == -math.inf


def test_zero_is_no_plane():
    for name in ("separate", "widest street", "one column"):
        assert "no plane" in str(exercise(name).check(w=[0, 0], b=1))
    assert "no plane" in str(exercise("mistake bound").check([0, 0]))


def test_a_row_exactly_on_the_plane_is_not_separated():
    """By a plane through it in exact arithmetic, where float64 would leave a trace."""
    task = exercise("separate")
    w = np.array([0.1, 0.7])
    b = -float(task.X[0] @ w)
    wanted = bool(exact.exact_margins_positive(task.X[:1], task.y[:1], w, b))
    assert (0 not in [failure.row for failure in task.check(w=w, b=b).failures]) == wanted


def test_one_distance_that_is_off():
    def change(answer, task):
        answer["distances"][2] *= 1.01

    grade, task = refused("distance", change)
    failure = only(grade, "distance", 2)
    assert f"|w| = {np.linalg.norm(task.w):g}" in failure.sentence


def test_a_plane_that_is_not_canonical():
    def double(answer, task):
        return answer | {"canonical_w": 2 * answer["canonical_w"], "canonical_b": 2 * answer["canonical_b"]}

    grade, task = refused("distance", double)
    row = int(np.argmin(task.y * (task.X @ task.w + task.b)))
    assert "y (w.x + b) = 2, not 1" in only(grade, "canonical form", row).sentence
    grade, _ = refused("distance", lambda answer, task: answer | {"canonical_w": -answer["canonical_w"]})
    only(grade, "the same plane")


def test_a_lifted_row_and_both_margins():
    def change(answer, task):
        answer["lifted"][1] = -answer["lifted"][1]

    only(refused("lifting", change)[0], "lifted rows", 1)
    for name in ("l2", "l1"):
        grade, task = refused("lifting", lambda answer, task, name=name: answer | {name: 1.1 * answer[name]})
        assert only(grade, f"{name} margin").row in range(len(task.y))


def one_more(answer, task):
    return answer | {"mistakes": np.append(answer["mistakes"], answer["mistakes"][-1])}


@pytest.mark.parametrize("name", ["perceptron", "winnow"])
def test_a_run_is_followed_until_it_goes_wrong(name):
    for seed in SEEDS:
        part = "w" if name == "perceptron" else "v"
        grade, task = refused(name, lambda answer, task: answer | {"mistakes": answer["mistakes"][:-1]}, seed)
        last = int(ANSWERS[name](task)["mistakes"][-1])
        assert "the run goes on" in only(grade, "mistakes", last).sentence
        grade, task = refused(name, lambda answer, task: answer | {"mistakes": answer["mistakes"][1:]}, seed)
        assert only(grade, "mistakes").row >= 0
        grade, task = refused(name, one_more, seed)
        assert "is none, because" in only(grade, "mistakes", last).sentence
        grade, _ = refused(name, lambda answer, task, part=part: answer | {part: answer[part] + 1}, seed)
        only(grade, "weights")
        grade, _ = refused(name, lambda answer, task: answer | {"mistakes": [77]}, seed)
        assert "there is no row 77" in only(grade, "rows").sentence


def test_a_plane_that_proves_too_many_mistakes():
    for seed in SEEDS:
        task = exercise("mistake bound", seed)
        w = mistake_bound(task)
        turned = [w + t * np.array([-w[1], w[0]]) for t in np.linspace(-3, 3, 301)]
        kept = [v for v in turned if np.min(task.y * (task.X @ v)) > 1e-6]
        narrow = min(kept, key=lambda v: np.min(task.y * (task.X @ v)) / np.linalg.norm(v))
        grade = task.check(narrow)
        failure = only(grade, "bound")
        assert failure.row == np.argmin(task.y * (task.X @ narrow))
        assert grade.upper > task.mistakes
        assert "which is not above 0" in only(task.check(-w), "side").sentence


def test_violations_of_a_guess():
    grade, task = refused("margin perceptron", lambda answer, task: answer | {"rows": answer["rows"][1:]})
    first = int(margin_perceptron(task)["rows"][0])
    assert "is a violation" in only(grade, "violations", first).sentence
    grade, task = refused("margin perceptron", lambda answer, task: answer | {"rows": range(len(task.y))})
    assert all("is none" in failure.sentence for failure in grade.failures)
    grade, task = refused("margin perceptron", lambda answer, task: answer | {"w_after": task.w})
    only(grade, "update", first)


def test_guesses_that_are_not_halved_or_not_enough():
    grade, task = refused("halving", lambda answer, task: answer | {"guesses": answer["guesses"][:-1]})
    only(grade, "last guess", int(np.argmin(task.y * (task.X @ task.w))))
    grade, _ = refused(
        "halving", lambda answer, task: answer | {"guesses": [*answer["guesses"], answer["guesses"][-1] / 2]}
    )
    assert "must have ended" in only(grade, "last guess").sentence
    only(refused("halving", lambda answer, task: answer | {"guesses": answer["guesses"][1:]})[0], "first guess")
    only(refused("halving", lambda answer, task: answer | {"updates": 1 + answer["updates"] * 1.1})[0], "updates")
    grade, _ = refused("halving", lambda answer, task: answer | {"guesses": [answer["guesses"][0], 1.0]})
    assert "not half of" in only(grade, "halving").sentence
    assert not exercise("halving").check(guesses=[0, 0], updates=1)
    assert not exercise("halving").check(guesses=[], updates=1)


@pytest.mark.parametrize("name", ["widest street", "one column"])
def test_a_street_that_is_not_the_widest(name):
    norm = "l1" if name == "one column" else "l2"
    for seed in SEEDS:
        task = exercise(name, seed)
        best = plane(task, norm)
        grade = task.check(w=best["w"], b=best["b"] + 0.1)  # canonical: a tenth of the way to one edge
        failure = only(grade, "widest")
        found = measure.plane_margin(task.X, task.y, best["w"], best["b"] + 0.1, norm)
        assert failure.row == found.row
        assert grade.lower == pytest.approx(found.lower, rel=1e-8)
        assert exact.exact_margin_at_least(task.X, task.y, best["w"], best["b"] + 0.1, grade.lower, norm)
        assert grade.lower / grade.upper == pytest.approx(0.9)
        assert "% of the best margin" in failure.sentence


def test_a_margin_that_comes_out_even_is_proven_to_be_that():
    """Where one column is enough, no rounding is left between the bounds."""
    for seed in SEEDS:
        task = exercise("one column", seed)
        best = plane(task, "l1")
        size = np.abs(best["w"]).sum()
        grade = task.check(w=np.round(best["w"] / size, 9), b=np.round(best["b"] / size, 9))
        assert grade.lower == grade.upper
        assert "exactly" in grade.proven[0]


def test_multipliers_that_break_one_condition_each():
    for seed in SEEDS:
        task = exercise("multipliers", seed)
        answer = multipliers(task)
        support, others = np.flatnonzero(answer["a"]), np.flatnonzero(answer["a"] == 0)
        negative = answer["a"].copy()
        negative[support[0]] *= -1
        only(task.check(a=negative, b=answer["b"]), "dual feasibility", int(support[0]))
        heavy = answer["a"].copy()
        heavy[others[0]] = answer["a"].max()
        grade = task.check(a=heavy, b=answer["b"])
        assert "do not weigh the same" in only(grade, "balance").sentence
        short = task.check(a=0.9 * answer["a"], b=answer["b"])
        assert "is below 1" in only(short, "primal feasibility").sentence
        hulls = measure.hull_distance(task.X, task.y, answer["a"], "l2", True)
        assert short.upper == pytest.approx(hulls.upper)  # scaled multipliers are the same points of the hulls
        long = task.check(a=1.1 * answer["a"], b=1.1 * answer["b"])
        assert only(long, "complementary slackness").row in support
        for factor in (0.97, 1.03):
            assert not task.check(a=factor * answer["a"], b=answer["b"])
        assert "no plane" in str(task.check(a=0 * answer["a"], b=0))


def test_slack_that_is_wrong_in_one_row():
    def change(answer, task):
        answer["xi"][3] += 0.5

    only(refused("slack", change)[0], "slack", 3)
    grade, task = refused(
        "slack", lambda answer, task: answer | {"inside": answer["mistakes"], "mistakes": answer["inside"]}
    )
    rows = {failure.row for failure in grade.failures}
    assert rows == set(slack(task)["inside"]) | set(slack(task)["mistakes"])
    only(refused("slack", lambda answer, task: answer | {"objective": 1.1 * answer["objective"]})[0], "objective")
    assert "no row 9" in str(refused("slack", lambda answer, task: answer | {"inside": [*answer["inside"], 9]})[0])


def test_a_price_of_another_spelling():
    for seed in SEEDS:
        for number in range(3):

            def change(answer, task, number=number):
                answer[number] *= 2
                return answer.tolist()

            grade, _ = refused("spellings", change, seed)
            assert [failure.condition for failure in grade.failures] == [f"C_{number + 1}"]
    assert "a price is positive" in str(exercise("spellings").check([0, 1, -1]))


def test_soft_multipliers_that_break_one_condition_each():
    for seed in SEEDS:
        task = exercise("soft margin", seed)
        answer = soft_margin(task)
        row = int(np.argmax(answer["a"]))
        beyond = answer["a"].copy()
        beyond[row] = 2 * task.C
        grade = task.check(a=beyond, b=answer["b"])
        only(grade, "dual feasibility", row)
        assert grade.lower == 0.0
        unbalanced = answer["a"].copy()
        unbalanced[row] = 0.0
        only(task.check(a=unbalanced, b=answer["b"]), "balance")
        half = task.check(a=0.5 * answer["a"], b=answer["b"])
        assert only(half, "complementary slackness").row >= 0
        optimum = LinearSVM(C=task.C, tol=1e-9).fit(task.X, task.y).certificate_
        assert half.lower <= optimum.primal
        assert half.upper >= optimum.dual


def test_a_kernel_expansion_that_is_not_canonical():
    for seed in SEEDS:
        task = exercise("xor", seed)
        answer = xor(task)
        grade = task.check(a=2 * answer["a"], b=0)
        only(grade, "primal feasibility")
        assert grade.lower == pytest.approx(grade.upper)  # the same plane all the same
        assert "is negative" in only(task.check(a=-answer["a"], b=0), "dual feasibility").sentence
        a = answer["a"].copy()
        a[1] = 0.0
        only(task.check(a=a, b=0), "balance")


def test_one_variable_by_each_condition():
    task = exercise("one variable")  # x >= 5 with the multiplier 1
    assert task.check([5, 1]).right
    assert [failure.condition for failure in task.check(x=5, a=0).failures] == ["stationarity"]
    assert [failure.condition for failure in task.check(x=2.5, a=0).failures] == ["primal"]
    assert [failure.condition for failure in task.check(x=6, a=1.4).failures] == ["slackness"]
    assert "dual" in [failure.condition for failure in task.check(x=2, a=-0.2).failures]
    free = exercise("one variable", 1)  # x >= -3: the multiplier is 0
    assert free.check(x=2.5, a=0).right
    assert free.check(x="5/2", a=0).right
    partial = task.check(x=6, a=0.5)
    assert (partial.lower, partial.upper) == pytest.approx((0.6875, 2.2))
    assert task.check(x=5, a=-1).lower == -math.inf


def test_a_witness_that_fails():
    for seed in SEEDS:
        task = exercise("no plane", seed)
        weights = no_plane(task)
        carrying = np.flatnonzero(weights)
        negative = -weights
        assert "is negative" in only(task.check(negative), "weights").sentence
        fewer = weights.copy()
        fewer[carrying[0]] = 0.0
        grade = task.check(fewer)
        assert not grade
        assert {failure.condition for failure in grade.failures} & {"balance", "common point"}
        moved = weights.copy()
        moved[carrying[0]] *= 1.5
        grade = task.check(moved)
        assert "other weights of the rows" in " ".join(grade.proven)
        assert "whole numbers" not in str(grade)
        assert "proves nothing" in str(task.check(0 * weights))


def test_a_witness_without_the_right_rows_is_told_so():
    task = exercise("no plane")
    weights = no_plane(task)
    weights[np.flatnonzero(weights)[0]] = 0.0
    assert "a plane separates these" in only(task.check(weights), "rows").sentence
