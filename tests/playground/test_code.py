"""The program and the command that the page shows give what the page shows."""

import contextlib
import io
import json
import shlex

import numpy as np
import pytest
from play_states import BENT, LINEAR, STRAIGHTENED, fitted, name_of, state_of, view_of

from maxmargin.cli import main
from maxmargin.playground.code import code
from maxmargin.playground.shown import answer

CASES = [(case, "separable") for case in [*LINEAR, *STRAIGHTENED]] + [(case, "rings") for case in BENT]
CASES += [(case, "xor") for case in [("hard_margin", {}), ("linear_svm", {"C": "inf"}), ("perceptron", {})]]
CASES += [((name, {"normalize_rows": True}), "separable") for name in ("perceptron", "hard_margin")]
EXIT_CODES = {"OPTIMAL": 0, "SEPARABLE": 0, "NOT_SEPARABLE": 3}
each_case = pytest.mark.parametrize(("case", "preset"), CASES, ids=[f"{name_of(case)}-{data}" for case, data in CASES])


@each_case
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # which the program gives, as it should
def test_the_program_prints_the_certificate_that_is_seen(case, preset):
    state = state_of(case, preset)
    told, names, printed = answer(state, view_of(state)), {}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code(state)["python"], names)
    assert told["certificate"]["words"][0] in printed.getvalue()
    if told["plane"] is not None and hasattr(names["model"], "coef_"):
        np.testing.assert_allclose(names["model"].coef_[0], told["plane"]["w"], rtol=1e-12)
        np.testing.assert_allclose(names["model"].intercept_[0], told["plane"]["b"], rtol=1e-12)
    if told["margin"] is not None:
        assert names["model"].margin_ == pytest.approx(told["margin"], rel=1e-12)
        assert names["model"].n_updates_ == told["updates"]


@each_case
def test_the_command_proves_what_is_seen(case, preset, tmp_path, monkeypatch, capsys):
    state = state_of(case, preset)
    shown, told = code(state), answer(state, view_of(state))
    (tmp_path / shown["file"]).write_text(shown["csv"])
    monkeypatch.chdir(tmp_path)
    name, *arguments = shlex.split(shown["command"])
    assert name == "maxmargin"
    exit_code = main([*arguments, "--json"])
    found = json.loads(capsys.readouterr().out)
    proof = told["certificate"]
    assert exit_code == EXIT_CODES.get(proof["verdict"], 2)
    certificate = found["certificate"]
    assert certificate["verdict"] == proof["verdict"]
    if proof["verdict"] != "NOT_SEPARABLE":
        np.testing.assert_allclose(
            [certificate["primal"], certificate["dual"]], primal_and_dual(told, state), rtol=1e-9
        )


def primal_and_dual(told, state):
    fit = fitted(state).certificate_
    proof = told["certificate"]
    bounds = (fit.dual, fit.primal) if proof["quantity"] == "objective" else (fit.margin_lower, fit.margin_upper)
    np.testing.assert_allclose([proof["lower"], proof["upper"]], bounds, rtol=1e-12)
    return fit.primal, fit.dual


def test_the_table_holds_every_digit():
    state = state_of(("hard_margin", {}))
    lines = code(state)["csv"].splitlines()[1:]
    assert [[float(cell) for cell in line.split(",")] for line in lines] == [
        [x, y, label] for (x, y), label in zip(state.points.tolist(), state.signs.tolist(), strict=True)
    ]
