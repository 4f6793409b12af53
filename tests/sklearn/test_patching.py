"""A program that knows nothing of this library: patched in its process, by a command, in pickles and in workers."""

import pickle
import subprocess
import sys
import types

import numpy as np
import pytest
import sklearn
import sklearn.svm
import sklearn.svm._classes as theirs
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as IMPORTED_BEFORE

import maxmargin
from maxmargin.sklearn import SVC, LinearSVC

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)


@pytest.fixture
def patched():
    maxmargin.patch_sklearn()
    yield
    maxmargin.unpatch_sklearn()


def test_names_are_replaced_and_given_back(monkeypatch):
    earlier = types.ModuleType("earlier")
    earlier.Machine, earlier.mine = theirs.SVC, SVC
    monkeypatch.setitem(sys.modules, "earlier", earlier)
    maxmargin.patch_sklearn()
    maxmargin.patch_sklearn()
    assert (sklearn.svm.SVC, sklearn.svm.LinearSVC) == (SVC, LinearSVC)
    assert earlier.Machine is SVC
    assert IMPORTED_BEFORE is SVC
    assert theirs.SVC is not SVC
    maxmargin.unpatch_sklearn()
    maxmargin.unpatch_sklearn()
    assert (sklearn.svm.SVC, sklearn.svm.LinearSVC) == (theirs.SVC, theirs.LinearSVC)
    assert earlier.Machine is IMPORTED_BEFORE is theirs.SVC
    assert earlier.mine is SVC


@pytest.mark.usefixtures("patched")
def test_searches_pipelines_and_settings():
    pipeline = make_pipeline(StandardScaler(), sklearn.svm.SVC())
    search = GridSearchCV(pipeline, {"svc__C": [0.1, 1.0]}, cv=2, n_jobs=2).fit(X, Y)
    assert search.best_estimator_[-1].certificate_.is_optimal
    assert isinstance(clone(pipeline)[-1], theirs.SVC)
    with sklearn.config_context(enable_metadata_routing=True, transform_output="default"):
        routed = sklearn.svm.LinearSVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(routed, {"C": [0.1, 1.0]}, cv=2).fit(X, Y, sample_weight=np.ones(len(Y)))
        assert search.best_estimator_.certificate_.is_optimal


def test_pickles_of_both_kinds(tmp_path):
    original = pickle.dumps(theirs.SVC().fit(X, Y))
    maxmargin.patch_sklearn()
    ours = pickle.dumps(sklearn.svm.SVC().fit(X, Y))
    assert type(pickle.loads(original)) is theirs.SVC
    maxmargin.unpatch_sklearn()
    path = tmp_path / "model.pickle"
    path.write_bytes(ours)
    program = f"""
import pickle
model = pickle.load(open({str(path)!r}, "rb"))
print(model.certificate_.is_optimal, model.predict([[9.0, 0.0, 0.0]]).tolist())
"""
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "True [1]"


def test_command_runs_a_program(tmp_path):
    (tmp_path / "beside.py").write_text("from sklearn.svm import LinearSVC\n")
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, beside\nfrom sklearn.svm import SVC\n"
        "if __name__ == '__main__':\n"
        "    for kind in (SVC, beside.LinearSVC):\n"
        "        print(sys.argv[1:], kind().fit([[0.0], [1.0]], [0, 1]).certificate_.is_optimal)\n"
    )
    command = [sys.executable, "-m", "maxmargin.sklearn"]
    answer = subprocess.check_output([*command, str(program), "--some", "argument"], text=True)
    assert answer.splitlines() == ["['--some', 'argument'] True"] * 2
    told = subprocess.run(command, text=True, capture_output=True, check=False)
    assert told.returncode == 1
    assert "program.py" in told.stderr
