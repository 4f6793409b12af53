"""Models for other programs: LIBSVM and LIBLINEAR decide as we do, and we decide as they do."""

import csv
import json

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from persistence.make_corpus import CORPUS, POINTS, THREE, TWO
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import HardMarginSVM, KernelPerceptron, KernelSVM, LinearSVM, Perceptron, StochasticSVM
from maxmargin.persistence import (
    ModelFileError,
    load,
    read_liblinear,
    read_libsvm,
    save,
    write_coefficients,
    write_liblinear,
    write_libsvm,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # short fits, on purpose

X4, Y4 = make_blobs(60, centers=4, n_features=3, cluster_std=3.0, random_state=1)
X2, Y2 = X4[Y4 < 2], Y4[Y4 < 2] * 5 - 2
SVC_LABELS = np.array([7, -3, 12, 5])  # not in order


def close(one, other):
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


KERNELS = {
    "rbf": {"kernel": "rbf", "gamma": 0.1},
    "poly": {"kernel": "poly", "gamma": 0.5, "coef0": 1.0, "degree": 2},
    "linear": {"kernel": "linear"},
}


def pair_values(model, X):
    """One column for each pair of classes."""
    return model.values_of_planes(X)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_libsvm_decides_as_we_do(kernel, n_classes, tmp_path):
    svmutil = pytest.importorskip("libsvm.svmutil")
    X, y = (X2, Y2) if n_classes == 2 else (X4, SVC_LABELS[Y4])
    model = KernelSVM(**KERNELS[kernel]).fit(X, y)
    write_libsvm(model, tmp_path / "model")
    theirs = svmutil.svm_load_model(str(tmp_path / "model"))
    labels, _, values = svmutil.svm_predict([], X.tolist(), theirs, "-q")
    close(np.array(values), pair_values(model, X))
    if n_classes == 2:
        assert np.array_equal(np.array(labels), model.predict(X))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_we_decide_as_libsvm_does(kernel, n_classes, tmp_path):
    svmutil = pytest.importorskip("libsvm.svmutil")
    number = {"linear": 0, "poly": 1, "rbf": 2}[kernel]
    X, y = (X2, Y2) if n_classes == 2 else (X4, SVC_LABELS[Y4])
    theirs = svmutil.svm_train(y.tolist(), X.tolist(), f"-q -t {number} -g 0.1 -r 1 -d 2")
    svmutil.svm_save_model(str(tmp_path / "model"), theirs)
    theirs = svmutil.svm_load_model(str(tmp_path / "model"))  # its own writer rounds the vectors to 8 digits
    model = read_libsvm(tmp_path / "model")
    labels, _, values = svmutil.svm_predict([], X.tolist(), theirs, "-q")
    order, theirs_first = theirs.get_labels(), np.array(values)
    pairs = [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]
    ours = pair_values(model, X)
    sorted_pairs = [(min(order[i], order[j]), max(order[i], order[j])) for i, j in pairs]
    for column, (i, j) in enumerate(pairs):
        sign = 1.0 if (order[i] < order[j]) == (n_classes > 2) else -1.0
        close(sign * theirs_first[:, column], ours[:, sorted(sorted_pairs).index(sorted_pairs[column])])
    assert np.mean(np.array(labels) == model.predict(X)) > 0.95  # equal votes are decided in another way


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("made", [KernelSVM, KernelPerceptron, StochasticSVM])
def test_libsvm_model_comes_back(kernel, made, tmp_path):
    if made is StochasticSVM and kernel == "linear":
        pytest.skip("it keeps a plane of numbers then, for LIBLINEAR")
    X, y = sparse.csr_array(np.where(X4 > 0, X4, 0.0)), SVC_LABELS[Y4]
    model = made(multi_class="ovo", max_iter=5, **KERNELS[kernel]).fit(X, y)
    write_libsvm(model, tmp_path / "model")
    again = read_libsvm(tmp_path / "model", n_features=3)
    assert again.classes_.tolist() == model.classes_.tolist()
    close(pair_values(again, X), pair_values(model, X))
    close(pair_values(again, X.toarray()), pair_values(model, X))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_liblinear_decides_as_we_do_and_the_model_comes_back(loss, n_classes, fit_intercept, tmp_path):
    liblinearutil = pytest.importorskip("liblinear.liblinearutil")
    X, y = (X2, Y2) if n_classes == 2 else (X4, SVC_LABELS[Y4])
    model = LinearSVM(loss=loss, fit_intercept=fit_intercept).fit(X, y)
    write_liblinear(model, tmp_path / "model")
    theirs = liblinearutil.load_model(str(tmp_path / "model"))
    labels, _, values = liblinearutil.predict([], X.tolist(), theirs, "-q")
    close(np.array(values), pair_values(model, X))
    assert np.array_equal(np.array(labels), model.predict(X))
    again = read_liblinear(tmp_path / "model")
    assert again.coef_.tolist() == model.coef_.tolist()
    assert again.intercept_.tolist() == model.intercept_.tolist()
    assert np.array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("bias", [-1, 0.5])
def test_we_decide_as_liblinear_does(n_classes, bias, tmp_path):
    liblinearutil = pytest.importorskip("liblinear.liblinearutil")
    X, y = (X2, Y2) if n_classes == 2 else (X4, SVC_LABELS[Y4])
    theirs = liblinearutil.train(y.tolist(), X.tolist(), f"-q -s 3 -B {bias}")
    liblinearutil.save_model(str(tmp_path / "model"), theirs)
    labels, _, _ = liblinearutil.predict([], X.tolist(), theirs, "-q")
    model = read_liblinear(tmp_path / "model")
    assert np.array_equal(model.predict(X), np.array(labels))
    with pytest.raises(ModelFileError, match="was not fitted here"):
        save(model, tmp_path / "other")


@pytest.mark.parametrize("made", [HardMarginSVM, Perceptron, StochasticSVM])
def test_every_plane_can_go_to_liblinear(made, tmp_path):
    model = made().fit(POINTS, TWO)
    write_liblinear(model, tmp_path / "model")
    assert read_liblinear(tmp_path / "model").coef_.tolist() == model.coef_.tolist()


def test_coefficients_as_csv_and_json(tmp_path):
    model = LinearSVM().fit(POINTS, THREE)
    write_coefficients(model, tmp_path / "planes.csv")
    with open(tmp_path / "planes.csv", newline="") as file:
        header, *lines = csv.reader(file)
    assert header == ["positive", "negative", "intercept", "x0", "x1"]
    assert [line[:2] for line in lines] == [["left", ""], ["right", ""], ["top", ""]]
    assert [[float(cell) for cell in line[3:]] for line in lines] == model.coef_.tolist()
    write_coefficients(model, tmp_path / "planes.json")
    planes = json.loads((tmp_path / "planes.json").read_text())["planes"]
    assert [plane["intercept"] for plane in planes] == model.intercept_.tolist()
    assert [plane["coefficients"] for plane in planes] == model.coef_.tolist()


def test_what_cannot_be_written_is_refused_in_a_sentence(tmp_path):
    linear, kernel = LinearSVM(multi_class="ovo").fit(POINTS, Y4[:9]), KernelSVM().fit(POINTS, TWO)
    words = LinearSVM().fit(POINTS, THREE)
    for write, model, message in (
        (write_liblinear, kernel, "write_libsvm is for it"),
        (write_liblinear, linear, 'multi_class="ovr"'),
        (write_liblinear, words, "'left' is not a whole number"),
        (write_libsvm, linear, "write_liblinear is for it"),
        (write_libsvm, load(CORPUS / "v1" / "kernel_precomputed.safetensors"), "kernel is precomputed"),
        (write_libsvm, KernelSVM(multi_class="ovr").fit(X4, Y4), 'multi_class="ovo"'),
        (write_libsvm, make_pipeline(StandardScaler(), KernelSVM()).fit(X4, Y4), "give the last step"),
        (write_coefficients, kernel, "no coefficients"),
        (write_coefficients, words, "ends in .csv or .json"),
    ):
        with pytest.raises(ModelFileError, match=message):
            write(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


LIBLINEAR = "solver_type L2R_L1LOSS_SVC_DUAL\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias 1\nw\n0.5 \n-1 \n0.25 \n"
LIBSVM = (
    "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.5\nlabel 1 -1\nnr_sv 1 1\nSV\n"
    "1 1:0.5 3:1 \n-1 2:1 \n"
)


@pytest.mark.parametrize(
    ("read", "text", "old", "new", "message"),
    [
        (read_liblinear, LIBLINEAR, "SVC_DUAL", "SVR_DUAL", "line 6: solver_type"),
        (read_liblinear, LIBLINEAR, "0.25 \n", "", "3 lines must follow the header, and there are 2"),
        (read_liblinear, LIBLINEAR, "-1 \n0", "x \n0", "line 8: a line of w: could not convert"),
        (read_liblinear, LIBLINEAR, "0.25", "inf", "line 9: a line of w must be finite"),
        (read_liblinear, LIBLINEAR, "label 1 -1", "label 1 1", "a label occurs twice"),
        (read_liblinear, LIBLINEAR, "bias 1\n", "", "the header has no bias"),
        (read_liblinear, LIBLINEAR, "w\n", "", "is not a field of this header"),
        (read_libsvm, LIBSVM, "c_svc", "one_class", "no classifier"),
        (read_libsvm, LIBSVM, "rbf", "sigmoid", "no classifier"),
        (read_libsvm, LIBSVM, "gamma 0.5", "gamma -1", "gamma must be positive"),
        (read_libsvm, LIBSVM, "nr_sv 1 1", "nr_sv 1 2", "nr_sv sums to 3, and total_sv is 2"),
        (read_libsvm, LIBSVM, "1:0.5 3:1", "3:0.5 1:1", "line 10: the indices must rise"),
        (read_libsvm, LIBSVM, "2:1", "0:1", "line 11: the indices must be whole numbers, at least 1"),
        (read_libsvm, LIBSVM, "rho 0.5\n", "rho 0.5\nrho 1\n", "line 7: 'rho' is not a field .* or it is there twice"),
        (read_libsvm, LIBSVM, "rho 0.5", "rho \xff", "it is not text"),
    ],
)
def test_malformed_text_models_name_the_place(read, text, old, new, message, tmp_path):
    (tmp_path / "model").write_text(text)
    read(tmp_path / "model")
    assert old in text
    (tmp_path / "model").write_text(text.replace(old, new, 1), encoding="latin-1")
    with pytest.raises(ModelFileError, match=message):
        read(tmp_path / "model")


@settings(max_examples=50)
@given(st.data())
def test_mutated_text_models_are_refused_or_read(tmp_path_factory, data):
    read, text = data.draw(st.sampled_from([(read_liblinear, LIBLINEAR), (read_libsvm, LIBSVM)]))
    place, length = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 8))
    noise = data.draw(st.text("0123456789-+.e: \nnaif_x", max_size=6))
    path = tmp_path_factory.getbasetemp() / "mutated"
    path.write_text(text[:place] + noise + text[place + length :])
    try:
        model = read(path)
    except ModelFileError:
        return
    with np.errstate(all="ignore"):
        model.predict(sparse.csr_array((2, model.n_features_in_)))
