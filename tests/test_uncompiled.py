"""Compiled or not, dense or sparse: the same steps. One child process runs without the compiler."""

import json
import os
import subprocess
import sys

import pytest

SCRIPT = """
import json, sys
import numpy as np, scipy.sparse as sparse
from maxmargin import HardMarginSVM, MarginPerceptron, Perceptron, Winnow
random = np.random.default_rng(0)
X = random.integers(-9, 10, (30, 3)).astype(float)
values = X @ [2.0, -1.0, 1.0] + 0.5
y = values > 0
answers = {}
for model in (Perceptron(), Perceptron(order="worst_first"), MarginPerceptron(), Winnow(), HardMarginSVM(),
              HardMarginSVM(solver="coordinate_descent", tol=1e-6), HardMarginSVM(fit_intercept=False)):
    for form in (np.asarray, sparse.csr_array):
        fitted = model.fit(form(X), X @ [2.0, -1.0, 1.0] > 0 if not model.fit_intercept else y)
        assert fitted.certificate_.verify(form(X), X @ [2.0, -1.0, 1.0] > 0 if not model.fit_intercept else y)
        answers[f"{model!r} {form.__name__}"] = [fitted.n_updates_, *fitted.coef_[0].tolist()]
json.dump(answers, sys.stdout)
"""


def answers(script=SCRIPT, **environment):
    run = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return json.loads(run.stdout)


def test_compiled_and_uncompiled_agree():
    compiled, plain = answers(), answers(NUMBA_DISABLE_JIT="1")
    assert compiled.keys() == plain.keys()
    for name, answer in compiled.items():
        assert answer[1:] == pytest.approx(plain[name][1:], rel=1e-6), name
        if "HardMargin" not in name:
            assert answer[0] == plain[name][0], name


SMALL = """
import json, sys, warnings
import numpy as np
import maxmargin
warnings.simplefilter("ignore")
random = np.random.default_rng(0)
X = random.standard_normal((150, 4))
y = X @ [1.0, 1.0, -1.0, 0.5] + 0.5 * random.standard_normal(150) > 0.0
answers = {}
for name in ("LinearSVM", "KernelSVM", "StochasticSVM", "Perceptron", "MarginPerceptron", "Winnow", "KernelPerceptron"):
    model = getattr(maxmargin, name)().fit(X, y)
    assert model.certificate_.verify(X, y)
    certificate = model.certificate_
    answers[name] = [getattr(certificate, "primal", 0.0), getattr(certificate, "dual", 0.0)]
assert maxmargin.HardMarginSVM(on_inseparable="return").fit(X, y).certificate_.verify(X, y)
assert not maxmargin.separability(X, y).is_separable
json.dump([answers, "numba" in sys.modules], sys.stdout)
"""


def test_the_first_small_fits_need_no_compiler_and_prove_as_much():
    plain, loaded = answers(SMALL, MAXMARGIN_UNCOMPILED_ROWS="1500")
    assert not loaded
    compiled, loaded = answers(SMALL)
    assert loaded
    for name, (primal, dual) in plain.items():
        assert dual <= compiled[name][0], name
        assert compiled[name][1] <= primal, name
    assert plain["LinearSVM"][0] == pytest.approx(compiled["LinearSVM"][0], rel=2e-4)


MODEST = """
import json, sys, warnings
import numpy as np, scipy.sparse as sparse
from maxmargin import LinearSVM
random = np.random.default_rng(0)
answers = []
for n, d, form, settings in (
    (2000, 50, np.asarray, {}),
    (3000, 20, np.asarray, {"C": 10.0}),
    (1000, 30, np.asfortranarray, {"fit_intercept": False}),
    (900, 40, sparse.csr_array, {"C": 100.0}),
    (1200, 10, np.float32, {"C": 100.0}),
    (1200, 10, np.asarray, {"loss": "squared_hinge"}),
):
    X = random.standard_normal((n, d))
    y = X @ random.standard_normal(d) + random.standard_normal(n) > 0.0
    X = form(np.where(np.abs(X) < 0.3, 0.0, X))
    model = LinearSVM(**settings).fit(X, y)
    assert model.certificate_.verify(X, y)
    answers.append([model.certificate_.primal, model.certificate_.dual, model.n_iter_])
json.dump([answers, "numba" in sys.modules], sys.stdout)
"""


def test_the_first_modest_fits_need_no_compiler_and_take_the_same_steps():
    plain, loaded = answers(MODEST, MAXMARGIN_UNCOMPILED_ROWS="1500")
    assert not loaded
    compiled, loaded = answers(MODEST)
    assert loaded
    assert plain[0][2] == compiled[0][2]
    for one, other in zip(plain, compiled, strict=True):
        assert one[1] <= other[0]
        assert other[1] <= one[0]
        assert one[0] == pytest.approx(other[0], rel=2e-4)


@pytest.mark.long
def test_no_index_leaves_its_array():
    assert answers(NUMBA_BOUNDSCHECK="1")
