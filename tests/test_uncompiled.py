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


def answers(**environment):
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return json.loads(run.stdout)


def test_compiled_and_uncompiled_agree():
    compiled, plain = answers(), answers(NUMBA_DISABLE_JIT="1")
    assert compiled.keys() == plain.keys()
    for name, answer in compiled.items():
        assert answer[1:] == pytest.approx(plain[name][1:], rel=1e-6), name
        if "HardMargin" not in name:
            assert answer[0] == plain[name][0], name


def test_no_index_leaves_its_array():
    assert answers(NUMBA_BOUNDSCHECK="1")
