"""A client belongs to this process: clones and copies share it, files and pickles have none."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from maxmargin import HardMarginSVM, LinearSVM, load, save

X = np.array([[0.0, 0.0], [0.0, 2.0], [3.0, 0.0], [5.0, 1.0], [4.0, 1.0], [-1.0, 1.0]])
Y = np.array([0, 0, 1, 1, 1, 0])


class OnlyOne:
    """As a client, it cannot be copied or kept."""

    def submit(self):
        raise AssertionError

    def __deepcopy__(self, memo):
        raise AssertionError

    def __reduce__(self):
        raise AssertionError


@pytest.mark.parametrize("estimator", [LinearSVM, HardMarginSVM])
def test_the_client_is_shared_and_never_kept(estimator, tmp_path):
    client = OnlyOne()
    svm = estimator(client=client).fit(X, Y)
    assert clone(svm).client is client
    assert copy.copy(svm).client is client
    twin = copy.deepcopy(svm)
    assert twin.client is client
    assert twin.coef_ is not svm.coef_
    assert pickle.loads(pickle.dumps(svm)).client is None
    assert svm.client is client
    save(svm, tmp_path / "model")
    assert b"OnlyOne" not in (tmp_path / "model").read_bytes()
    assert load(tmp_path / "model").client is None
    assert load(tmp_path / "model").predict(X).tolist() == Y.tolist()


def test_a_search_has_the_client():
    client = OnlyOne()
    search = GridSearchCV(LinearSVM(client=client), {"C": [0.1, 1.0]}, cv=2).fit(X, Y)
    assert search.best_estimator_.client is client


def test_older_pickles_have_no_client():
    state = LinearSVM().__getstate__()
    del state["client"]
    svm = LinearSVM.__new__(LinearSVM)
    svm.__setstate__(state)
    assert svm.client is None


@pytest.mark.parametrize("wrong", [3, True, object()])
def test_what_is_no_client(wrong):
    with pytest.raises(ValueError, match=r"client must be a distributed.Client, the address of a scheduler or None"):
        LinearSVM(client=wrong).fit(X, Y)


WITHOUT = """
import sys
for name in ("dask", "distributed"):
    sys.modules[name] = None
import numpy as np
from maxmargin import LinearSVM
from maxmargin.data.cluster import on_cluster
X, y = np.array([[0.0], [1.0], [2.0]]), [0, 0, 1]
print(LinearSVM().fit(X, y).predict(X).tolist())
try:
    with on_cluster("tcp://127.0.0.1:1"):
        pass
except ImportError as error:
    print(error)
"""


def test_without_dask_it_works_and_says_what_is_missing():
    found = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True).stdout
    assert found.splitlines() == ["[0, 0, 1]", "distributed is not installed: pip install 'maxmargin[dask]'"]


def test_nothing_of_dask_is_imported_before_it_is_needed():
    code = "import sys, maxmargin; maxmargin.LinearSVM().fit([[0.0], [1.0]], [0, 1]); print('dask' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "False"
