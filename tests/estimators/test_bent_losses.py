"""The Huber hinge and the modified Huber loss from the estimators to the files, and a loss from outside the package."""

import json
import math
import pickle
import re

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import oracles
import pytest
import scipy.sparse as sparse
from sklearn.linear_model import SGDClassifier
from soft_fits import mixed, proven, with_and_without_bias

from maxmargin import KKTDisplay, LinearSVM, LinearSVMCV, LossDisplay, audit, from_scikit_learn, path
from maxmargin.cli import main
from maxmargin.persistence import ModelFileError, load, save, write_liblinear
from maxmargin.playground.catalogue import ALGORITHMS
from maxmargin.problems.losses import LOSSES, Loss, loss_named, register
from maxmargin.problems.statement import SoftMargin

matplotlib.use("Agg")

BENT = [{"loss": "huber_hinge"}, {"loss": "huber_hinge", "huber_width": 0.1}, {"loss": "modified_huber"}]
each_bent = pytest.mark.parametrize("settings", BENT, ids=lambda settings: "-".join(map(str, settings.values())))
SOLVERS = ["auto", "coordinate_descent", "interior_point", "sieve", "newton", "cvxpy"]


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def loss_of(svm):
    return loss_named(svm.loss, svm.huber_width)


@each_bent
@with_and_without_bias
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_every_solver_proves_the_optimum_of_cvxpy(settings, bias, solver, form):
    X, y = mixed(seed=4)
    weights = np.random.default_rng(4).uniform(0.2, 3.0, len(y))
    svm = LinearSVM(2.0, **settings, fit_intercept=bias, solver=solver, tol=1e-3 if solver == "cvxpy" else 1e-9)
    svm.fit(form(X), y, sample_weight=weights)
    problem = SoftMargin(X, np.where(y > 0, 1.0, -1.0), 2.0 * weights, loss_of(svm), bias)
    assert svm.certificate_.primal == pytest.approx(oracles.soft_optimum(problem), rel=1e-8)
    assert proven(svm, form(X), y, weights)
    assert svm.solver_ == solver or solver == "auto"
    assert svm.certificate_.huber_width == (loss_of(svm).bend if svm.loss == "huber_hinge" else None)
    assert np.all(np.abs(svm.dual_coef_[0]) <= loss_of(svm).box * 2.0 * weights[svm.support_])


@pytest.mark.parametrize("settings", BENT[::2], ids=str)
def test_two_points_in_closed_form(settings):
    """max 2 a - 25 a^2 / 2 - q a^2 with q = 1 / (2 C), a <= box C: a = 2 / (25 + 1 / C) before the knee."""
    X, y = np.array([[0.0, 0.0], [3.0, 4.0]]), ["a", "b"]
    svm = LinearSVM(0.2, **settings, tol=1e-10).fit(X, y)
    assert np.allclose(svm.dual_coef_, [[-2 / 30, 2 / 30]], rtol=1e-6)
    assert not svm.bounded_.any()
    box = loss_of(svm).box
    at_bound = LinearSVM(1e-3, **settings, tol=1e-10).fit(X, y)
    a = min(1e-3 * box, 2 / (25 + 1000.0))
    assert np.allclose(at_bound.dual_coef_, [[-a, a]], rtol=1e-6)
    assert at_bound.bounded_.all() == (a == 1e-3 * box)


def test_a_narrow_huber_hinge_is_almost_the_hinge_and_a_wide_one_a_parabola():
    X, y = mixed(seed=6)
    hinge = LinearSVM(tol=1e-8).fit(X, y).certificate_
    narrow = LinearSVM(loss="huber_hinge", huber_width=1e-6, tol=1e-8).fit(X, y).certificate_
    assert narrow.primal == pytest.approx(hinge.primal, rel=1e-5)
    square = LinearSVM(1.0, loss="squared_hinge", tol=1e-8).fit(X, y).certificate_
    wide = LinearSVM(2e3, loss="huber_hinge", huber_width=1e3, tol=1e-8).fit(X, y).certificate_  # C / (2 h) = 1
    assert wide.primal == pytest.approx(square.primal, rel=1e-7)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"huber_width": 0.3}, 'huber_width=0.3 is for loss="huber_hinge": the hinge has no such width'),
        ({"loss": "modified_huber", "huber_width": 1.0}, "the modified huber has no such width"),
        ({"loss": "huber_hinge", "huber_width": 0.0}, "huber_width must be a number between"),
        ({"loss": "huber_hinge", "huber_width": math.nan}, "huber_width must be a number between"),
        ({"huber_width": 0.5}, 'huber_width=0.5 is for loss="huber_hinge"'),
        ({"loss": "huber_hinge", "huber_width": "wide"}, "huber_width must be a number between"),
        ({"solver": "newton"}, 'solver="newton" is for losses that bend'),
        ({"solver": "interior_point", "loss": "squared_hinge"}, "the dual variables of the squared hinge have no"),
        ({"loss": "huber"}, "'squared_hinge', 'huber_hinge', 'modified_huber'"),
    ],
)
def test_refused_in_a_sentence(settings, sentence):
    X, y = mixed()
    with pytest.raises(ValueError, match=re.escape(sentence)):
        LinearSVM(**settings).fit(X, y)


@each_bent
def test_hard_margin_path_and_cross_validation(settings):
    X, y = mixed(n=60, seed=7, noise=0.0)
    assert LinearSVM(math.inf, **settings).fit(X, y).certificate_.verdict.name == "OPTIMAL"
    points = path(X, y, Cs=4, tol=1e-5, **settings)
    assert points.C_max == math.inf
    assert all(certificate.is_optimal for certificate in points.certificates)
    assert all(certificate.verify(X, y, exact=True) for certificate in points.certificates)
    chosen = LinearSVMCV(Cs=[0.1, 1.0], cv=2, **settings).fit(X, y)
    assert chosen.certificate_.loss == settings["loss"]
    assert chosen.certificate_.verify(X, y)


def test_sgd_with_modified_huber_is_audited_and_carried_over():
    X, y = mixed(n=200, seed=8)
    theirs = SGDClassifier("modified_huber", alpha=0.01, random_state=0, max_iter=200).fit(X, y)
    answer = audit(theirs, X, y, tol=1e-6)
    [part] = answer.parts
    margins = np.where(y > 0, 1.0, -1.0) * theirs.decision_function(X)
    paid = np.where(margins >= -1.0, np.maximum(0.0, 1.0 - margins) ** 2, -4.0 * margins)
    C = 1.0 / (0.01 * 200)
    assert part.objective == pytest.approx(0.5 * float(np.sum(theirs.coef_**2)) + C * paid.sum(), rel=1e-12)
    ours = from_scikit_learn(theirs, n_rows=200).fit(X, y)
    assert ours.loss == "modified_huber"
    assert ours.certificate_.primal <= part.objective
    own = audit(LinearSVM(loss="huber_hinge", huber_width=0.2).fit(X, y), X, y, tol=1e-6)
    assert own.parts[0].certificate.huber_width == 0.2


@each_bent
def test_saved_loaded_pickled_and_refused_by_liblinear(settings, tmp_path):
    X, y = mixed(seed=9)
    svm = LinearSVM(**settings, tol=1e-6).fit(X, y)
    file = tmp_path / "model.safetensors"
    save(svm, file, X, y)
    again = load(file)
    assert again.get_params() == svm.get_params()
    assert again.certificate_.to_json() == svm.certificate_.to_json()
    assert again.certificate_.verify(X, y, exact=True)
    assert np.array_equal(again.bounded_, svm.bounded_)
    assert pickle.loads(pickle.dumps(svm)).fit(X, y).certificate_.primal == svm.certificate_.primal
    with pytest.raises(ModelFileError, match="LIBLINEAR has no solver for the"):
        write_liblinear(svm, tmp_path / "model.txt")


def test_a_file_of_the_hinge_says_nothing_of_widths(tmp_path):
    X, y = mixed(seed=9)
    save(LinearSVM().fit(X, y), tmp_path / "model", X, y)
    assert b"huber" not in (tmp_path / "model").read_bytes()
    assert load(tmp_path / "model").huber_width is None


def test_a_model_of_an_older_version_gets_the_usual_width():
    svm = LinearSVM().fit(*mixed())
    state = dict(svm.__getstate__())
    del state["huber_width"]
    older = LinearSVM.__new__(LinearSVM)
    older.__setstate__(state)
    assert older.get_params() == svm.get_params()


@each_bent
def test_drawn(settings):
    X, y = mixed(seed=10)
    svm = LinearSVM(0.1, **settings, tol=1e-9).fit(X, y)
    display = LossDisplay.from_estimator(svm, X, y)
    curves = {line.get_label(): line for line in display.ax_.lines}
    own = curves[svm.loss.replace("_", " ")]
    assert own.get_linewidth() > curves["hinge"].get_linewidth()
    assert np.array_equal(own.get_ydata(), loss_of(svm).value(1.0 - own.get_xdata()))
    conditions = KKTDisplay.from_estimator(svm, X, y).conditions
    on_the_line = np.interp(conditions.margins, conditions.rule[:, 0], conditions.rule[:, 1])
    assert np.allclose(conditions.shares, on_the_line, atol=1e-3)
    assert np.all(conditions.gap >= -1e-15)
    assert conditions.gap.max() <= 1e-8


def test_commands(tmp_path, capsys):
    X, y = mixed(seed=11)
    table = tmp_path / "rows.csv"
    lines = [",".join([*(repr(float(v)) for v in row), f"c{label}"]) for row, label in zip(X, y, strict=True)]
    table.write_text("\n".join(["a,b,c,d,label", *lines]))
    model = str(tmp_path / "model")
    wide = ["--loss", "huber_hinge", "--huber-width", "0.25"]
    assert main(["fit", str(table), *wide, "-o", model, "--exact", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["parameters"]["loss"], told["parameters"]["huber_width"]) == ("huber_hinge", 0.25)
    assert main(["verify", model, str(table)]) == 0
    assert "huber hinge of width 0.25, C = 1" in capsys.readouterr().out
    assert main(["fit", str(table), "--loss", "modified_huber"]) == 0
    assert "modified huber, C = 1" in capsys.readouterr().out
    assert main(["path", str(table), *wide, "--Cs", "0.1,1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["points"][0]["certificate"]["huber_width"] == 0.25
    assert main(["fit", str(table), "--huber-width", "0.5"]) == 1
    assert 'huber_width=0.5 is for loss="huber_hinge": the hinge has no such width' in capsys.readouterr().err
    assert main(["fit", str(table), "--loss", "huber_hinge", "--huber-width", "0"]) == 1
    assert "huber_width must be a number between" in capsys.readouterr().err
    assert main(["fit", str(table), "--loss", "ramp"]) == 1
    assert "'ramp' is not one of 'hinge', 'squared_hinge', 'huber_hinge', 'modified_huber'" in capsys.readouterr().err


def losses_on_the_page():
    [offered] = [one for one in ALGORITHMS["linear_svm"].to_json()["parameters"] if one["name"] == "loss"]
    return [choice["value"] for choice in offered["choices"]]


def test_the_page_offers_them():
    linear = ALGORITHMS["linear_svm"]
    assert linear.make(linear.read({"loss": "huber_hinge", "huber_width": 0.2})).huber_width == 0.2
    assert "huber_width" not in linear.read({"loss": "modified_huber"})
    assert losses_on_the_page() == list(LOSSES)


TOYS = [Loss("steep_hinge", box=3.0, bend=0.0), Loss("slow_square", math.inf, 1.7), Loss("odd", 0.3, 0.7)]


@pytest.fixture(params=TOYS, ids=lambda loss: loss.name)
def toy(request):
    """A loss that the package does not know."""
    assert request.param.name not in LOSSES
    yield register(request.param)
    del LOSSES[request.param.name]


def test_a_loss_from_outside_fits_proves_saves_loads_and_plots(toy, tmp_path):
    X, y = mixed(n=80, seed=12)
    for solver in SOLVERS:
        takes = (toy.is_smooth or solver != "newton") and (toy.is_bounded or solver not in ("interior_point", "sieve"))
        if not takes:
            continue
        svm = LinearSVM(0.7, loss=toy.name, solver=solver, tol=1e-3 if solver == "cvxpy" else 1e-7).fit(X, y)
        problem = SoftMargin(X, np.where(y > 0, 1.0, -1.0), np.full(80, 0.7), toy, True)
        if toy.is_bounded and toy.is_smooth:
            assert svm.certificate_.primal == pytest.approx(oracles.soft_optimum(problem), rel=1e-6)
        assert proven(svm, X, y)
    file = tmp_path / "toy"
    save(svm, file, X, y)
    assert load(file).certificate_.verify(X, y, exact=True)
    assert toy.title in {line.get_label() for line in LossDisplay.from_estimator(svm, X, y).ax_.lines}
    assert KKTDisplay.from_estimator(svm, X, y).conditions.gap.max() <= 1e-3
    assert path(X, y, Cs=3, loss=toy.name).certificates[0].is_optimal
    assert audit(svm, X, y).parts[0].certificate.loss == toy.name
    assert toy.name in losses_on_the_page()
    with pytest.raises(ModelFileError, match="LIBLINEAR has no solver"):
        write_liblinear(svm, tmp_path / "text")


def test_a_loss_that_is_not_known_here_is_named(toy, tmp_path):
    X, y = mixed(n=40, seed=13)
    svm = LinearSVM(loss=toy.name).fit(X, y)
    save(svm, tmp_path / "toy", X, y)
    del LOSSES[toy.name]
    try:
        with pytest.raises(ModelFileError, match=f"the parameter loss must be one of 'hinge'.*, not '{toy.name}'"):
            load(tmp_path / "toy")
        assert f"the loss '{toy.name}' is not known" in str(svm.certificate_.verify(X, y))
    finally:
        register(toy)
