"""Where nobody can tell whether a plane separates the classes, that is the answer: at every door, and never a "no"."""

import math
import pickle

import numpy as np
import pytest
from play_states import view_of

from maxmargin import (
    HardMarginSVM,
    KernelSVM,
    LinearSVM,
    MarginPerceptron,
    NotSeparableError,
    Perceptron,
    UndecidedError,
    Verdict,
    Winnow,
    audit,
    load,
    path,
    save,
    separability,
)
from maxmargin.cli import main
from maxmargin.estimators.no_plane import NoPlaneError, no_plane
from maxmargin.playground.messages import read_state
from maxmargin.playground.shown import answer
from maxmargin.run.control import Status

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # such fits end early

NARROW = np.array([[1.0, 1.0], [4.0, 2.0], [np.nextafter(2.5, 3.0), 1.5]]), np.array([0, 0, 1])  # no w is so precise
MEETING = np.array([[0.0, 0.0], [2.0, 2.0], [1.0, 1.0]]), np.array([0, 0, 1])


def narrow_third_class():
    X, y = NARROW
    return np.vstack([X, [[7.0, 3.0]]]), np.append(y, 2)


def far_away(offset=1e8):
    random = np.random.default_rng(0)
    y = np.where(np.arange(20) % 2, 1, -1)
    X = random.normal(size=(20, 2))
    X[:, 0] += 4 * y
    return X + offset, y


HARD = [
    HardMarginSVM(),
    HardMarginSVM(solver="hulls"),
    HardMarginSVM("l1"),
    LinearSVM(C=math.inf),
    KernelSVM(C=math.inf, kernel="linear"),
    KernelSVM(C=math.inf, kernel="poly", gamma=1.0, coef0=1.0, degree=2),
]


@pytest.mark.parametrize("svm", HARD, ids=repr)
@pytest.mark.parametrize("data", [NARROW, far_away(), far_away(1e12)], ids=["narrow", "1e8 away", "1e12 away"])
def test_a_hard_margin_has_a_plane_or_a_witness_or_is_undecided(svm, data):
    """All three tables are separable, so that "not separable" is false, and a witness against it cannot exist."""
    X, y = data
    try:
        certificate = svm.fit(X, y).certificate_
        assert certificate.is_separable
    except UndecidedError as undecided:
        certificate, sentence = undecided.certificate, str(undecided)
        assert certificate.is_separable is None
        assert "Undecided" in sentence
        assert "witness rows" not in sentence
    assert certificate.verify(X, y)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_undecided_among_many_classes(multi_class):
    X, y = narrow_third_class()
    with pytest.raises(UndecidedError):
        HardMarginSVM(multi_class=multi_class).fit(X, y)
    shown = HardMarginSVM(multi_class=multi_class, on_inseparable="return").fit(X, y)
    assert shown.certificate_.is_separable is None
    assert np.all(np.isfinite(shown.coef_))
    assert shown.certificate_.verify(X, y)


def test_a_plane_is_shown_on_demand_and_kept_in_a_file(tmp_path):
    X, y = NARROW
    shown = HardMarginSVM(on_inseparable="return").fit(X, y)
    assert shown.certificate_.verdict is Verdict.UNDECIDED
    assert np.any(shown.coef_)
    save(shown, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.certificate_.verdict is Verdict.UNDECIDED
    assert np.array_equal(again.predict(X), shown.predict(X))


def test_neither_answer_is_a_kind_of_the_other():
    undecided, witnessed = separability(*NARROW), separability(*MEETING)
    assert undecided.is_separable is None
    assert witnessed.is_separable is False
    assert isinstance(no_plane(undecided), UndecidedError)
    assert isinstance(no_plane(witnessed), NotSeparableError)
    for error in (no_plane(undecided), no_plane(witnessed)):
        assert isinstance(error, NoPlaneError)
        assert isinstance(error, ValueError)
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)


def test_no_refusal_without_a_witness():
    separable = HardMarginSVM().fit([[0.0], [1.0]], [0, 1]).certificate_
    for certificate in (separability(*NARROW), separable):
        with pytest.raises(TypeError, match="carries a witness"):
            NotSeparableError(certificate)
    for certificate in (separability(*MEETING), separable):
        with pytest.raises(TypeError, match="nothing is proven"):
            UndecidedError(certificate)


@pytest.mark.parametrize("learner", [Perceptron, MarginPerceptron, Winnow])
def test_a_learner_is_ended_by_a_proof_and_not_by_what_looks_like_one(learner):
    model = learner(max_updates=2000, fit_intercept=True).fit(*NARROW)
    assert model.certificate_.is_separable is not False
    assert model.status_ is not Status.WITNESS
    met = learner(max_updates=2000).fit(*MEETING)
    assert met.certificate_.is_separable is False
    assert met.certificate_.verify(*MEETING, exact=True)


def test_the_end_of_a_path_may_be_undecided():
    street = path(*NARROW, Cs=[1.0], hard_margin=True)
    assert street.separation.verdict is Verdict.UNDECIDED
    assert street.C_max is None
    assert "Undecided" in street.report()


def test_an_audit_of_what_is_undecided_claims_no_margin():
    model = Perceptron(max_updates=5).fit(*NARROW)
    found = audit(model, *NARROW)
    assert found.parts[0].mistakes > 0
    assert "undecided" in found.verdict
    assert "proven" not in found.verdict


def as_file(folder, X, y):
    file = folder / "table.csv"
    rows = [",".join(map(repr, [*map(float, row), int(label)])) for row, label in zip(X, y, strict=True)]
    file.write_text("\n".join(["a,b,label", *rows]) + "\n")
    return str(file)


def test_commands_say_undecided_with_their_own_exit_code(tmp_path, capsys):
    file = as_file(tmp_path, *NARROW)
    hard = ["fit", file, "--scale", "none", "--algorithm", "hard-margin", "-o", str(tmp_path / "model")]
    for command in (["check", file], hard):
        assert main(command) == 2
        assert "Undecided" in capsys.readouterr().out
    assert not (tmp_path / "model").exists()
    assert main(["compare", file, "--scale", "none", "--max-time", "1"]) in (0, 2)
    assert "undecided" in capsys.readouterr().out
    assert main([*hard[:2], "--scale", "none", "--algorithm", "kernel-svm", "-c", "inf", "-t", "linear"]) in (0, 2)
    assert "ot separable" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("algorithm", "parameters"),
    [("hard_margin", {}), ("kernel_svm", {"C": "inf", "kernel": "linear"})],
)
def test_the_page_says_undecided(algorithm, parameters):
    X, y = NARROW
    points = [[*map(float, row), 1 if label else -1] for row, label in zip(X, y, strict=True)]
    state = read_state({"points": points, "algorithm": algorithm, "parameters": parameters})
    shown = answer(state, view_of(state))["certificate"]
    assert shown["proven"] is False
    assert shown["verdict"] in ("UNDECIDED", "BOUNDED")
    assert not any("hulls meet" in sentence for sentence in shown["words"])
