"""A model that was saved and loaded is the model: its predictions, its parameters, its proof, its next fit."""

import functools
import re

import numpy as np
import pandas
import pytest
import scipy.sparse as sparse
from persistence.make_corpus import MODELS, NAMES, POINTS, THREE, TWO, estimator_of, fitted, prepared
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import maxmargin
from maxmargin import KernelPerceptron, KernelSVM, LinearSVM, LinearSVMCV, Perceptron, StochasticSVM
from maxmargin.persistence import Fingerprint, ModelFileError, load, model_info, save, verify_model
from maxmargin.persistence.container import pack, unpack
from maxmargin.persistence.model_file import ESTIMATORS, VERSION, describe

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # short fits, on purpose

each_model = pytest.mark.parametrize("name", NAMES)
fitted_once = functools.cache(fitted)


def loaded(name, folder):
    model, X, y = fitted_once(name)
    save(model, folder / "model", X, y)
    return load(folder / "model")


def same(one, other):
    """Equal to the last bit, and of one type."""
    if sparse.issparse(one):
        return type(one) is type(other) and all(same(getattr(one, k), getattr(other, k)) for k in ("data", "indptr"))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tolist() == other.tolist()
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other or (one != one and other != other)


@each_model
def test_predictions_are_the_same_bits(name, tmp_path):
    model, X, _ = fitted_once(name)
    again = loaded(name, tmp_path)
    assert type(again) is type(model)
    assert same(model.decision_function(X), again.decision_function(X))
    assert same(model.predict(X), again.predict(X))


@each_model
def test_fitted_attributes_and_parameters_come_back(name, tmp_path):
    one, other = estimator_of(fitted_once(name)[0]), estimator_of(loaded(name, tmp_path))
    public = {key for key in vars(one) if key.endswith("_") and key not in ("certificate_", "trace_")}
    assert public == {key for key in vars(other) if key.endswith("_") and key != "certificate_"}
    assert [key for key in sorted(public) if not same(getattr(one, key), getattr(other, key))] == []
    parameters = one.get_params()
    changed = {key for key, value in other.get_params().items() if not same(value, parameters[key])}
    assert changed <= {"record"}  # a Trace, which is never equal to another


@pytest.mark.parametrize("name", MODELS)
def test_certificate_comes_back_and_verifies(name, tmp_path):
    model, X, y = fitted_once(name)
    again = loaded(name, tmp_path)
    certificate = estimator_of(again).certificate_
    assert certificate.to_json() == estimator_of(model).certificate_.to_json()
    assert certificate.verify(prepared(again, X), y)


@pytest.mark.parametrize("name", MODELS)
def test_fitting_again_gives_what_the_original_gives(name, tmp_path):
    model, X, y = fitted(name)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model").fit(X, y)
    assert same(model.fit(X, y).decision_function(X), again.decision_function(X))


@pytest.mark.parametrize("constant", [3, 0.5, None])
def test_an_imputer_of_a_constant_number_comes_back(constant, tmp_path):
    """scikit-learn keeps such a number as an object, as it does a word."""
    X = np.where(POINTS == 1.0, np.nan, POINTS)
    model = make_pipeline(SimpleImputer(strategy="constant", fill_value=constant), LinearSVM()).fit(X, TWO)
    save(model, tmp_path / "model", X, TWO)
    again = load(tmp_path / "model")
    assert same(model[0].statistics_, again[0].statistics_)
    assert same(model[0].fill_value, again[0].fill_value)
    assert same(model.decision_function(X), again.decision_function(X))


def test_stream_goes_on_where_it_was(tmp_path):
    one, X, y = fitted("stream")
    save(one, tmp_path / "model")
    other = load(tmp_path / "model")
    assert same(one.partial_fit(X, y).coef_, other.partial_fit(X, y).coef_)
    with pytest.raises(AttributeError, match="no certificate_"):
        _ = other.certificate_


def test_perceptron_goes_on_with_partial_fit(tmp_path):
    one = Perceptron().fit(POINTS, TWO)
    save(one, tmp_path / "model")
    other = load(tmp_path / "model")
    assert same(one.partial_fit(-POINTS, TWO).coef_, other.partial_fit(-POINTS, TWO).coef_)


def test_the_plane_of_a_theorem_comes_back(tmp_path):
    model = Perceptron().fit(POINTS, TWO)
    [theorem] = model.certificate_.theorems
    assert len(theorem.plane) == 3  # another one than the certificate's own
    save(model, tmp_path / "model.safetensors")
    certificate = load(tmp_path / "model.safetensors").certificate_
    assert certificate.theorems == (theorem,)
    assert certificate.verify(POINTS, TWO)


def test_names_of_columns_come_back(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(POINTS, columns=["height", "width"])
    for model in (LinearSVM(), make_pipeline(StandardScaler(), LinearSVM())):
        save(model.fit(X, THREE), tmp_path / "model")
        again = load(tmp_path / "model")
        assert again.feature_names_in_.tolist() == ["height", "width"]
        assert same(model.predict(X), again.predict(X))


def test_many_classes_fit_into_the_header(tmp_path):
    X, y = make_blobs(300, centers=20, cluster_std=0.05, random_state=0)
    model = KernelSVM().fit(X, y)
    save(model, tmp_path / "model", X, y)
    again = load(tmp_path / "model")
    assert len(again.certificate_) == 190
    assert same(model.decision_function(X), again.decision_function(X))


def test_files_of_equal_models_are_equal(tmp_path):
    for name in ("one", "other"):
        save(LinearSVM().fit(POINTS, THREE), tmp_path / name, POINTS, THREE)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_info_says_who_wrote_it_and_knows_the_data(tmp_path):
    save(LinearSVM().fit(POINTS, TWO), tmp_path / "model", POINTS, TWO)
    info = model_info(tmp_path / "model")
    assert (info.estimator, info.version, info.written_by) == ("LinearSVM", VERSION, maxmargin.__version__)
    assert (info.fingerprint.n_rows, info.fingerprint.n_columns, info.fingerprint.dtype) == (9, 2, "float64")
    assert info.fingerprint.matches(POINTS.tolist(), TWO.tolist())
    assert not info.fingerprint.matches(POINTS, -TWO)
    assert not info.fingerprint.matches(POINTS.astype(np.float32), TWO)
    assert not info.fingerprint.matches(np.nextafter(POINTS, 9), TWO)
    save(LinearSVM().fit(POINTS, TWO), tmp_path / "model")
    assert model_info(tmp_path / "model").fingerprint is None


@pytest.mark.parametrize("columns_by", [None, "name", "position", "index from 0", "index from 1"])
def test_how_columns_are_told_apart_comes_back(columns_by, tmp_path):
    X, y = [[0.0], [1.0], [3.0]], [0, 0, 1]
    save(LinearSVM().fit(X, y), tmp_path / "model", X, y, columns_by=columns_by)
    assert model_info(tmp_path / "model").columns_by == columns_by


def test_another_way_to_tell_columns_apart_is_refused(tmp_path):
    with pytest.raises(ModelFileError, match="columns_by must be one of 'name', 'position'"):
        save(LinearSVM().fit([[0.0], [1.0]], [0, 1]), tmp_path / "model", columns_by="colour")
    assert not list(tmp_path.iterdir())


def test_fingerprint_of_a_sparse_table_is_of_its_numbers():
    table = sparse.coo_array(POINTS)
    assert Fingerprint.of(table, TWO) == Fingerprint.of(sparse.csr_array(POINTS), TWO)
    assert Fingerprint.of(table, TWO) != Fingerprint.of(POINTS, TWO)


def test_every_estimator_and_every_parameter_is_known():
    assert {type(estimator_of(make()[0])).__name__ for make in MODELS.values()} == set(ESTIMATORS)
    for name, made in ESTIMATORS.items():
        assert set(made.parameters) == set(made().get_params()), name


def product(A, B):
    return A @ B.T


# what it is: how it is made, and what the refusal speaks of
REFUSED = {
    "a kernel that is a function": (lambda: KernelSVM(kernel=product), "a function is code"),
    "a perceptron with such a kernel": (lambda: KernelPerceptron(kernel=product), "a function is code"),
    "a step that is a function": (lambda: StochasticSVM(step=lambda t: 1 / t), "a function is code"),
    "a generator": (lambda: Perceptron(random_state=np.random.RandomState(0)), "random_state"),
    "a splitter": (lambda: LinearSVMCV(Cs=[1.0], cv=[(np.arange(9), np.arange(9))]), "cv="),
    "another estimator": (LogisticRegression, "LogisticRegression is none of"),
    "a subclass": (type("Mine", (LinearSVM,), {}), "Mine is none of"),
    "another step": (lambda: make_pipeline(PolynomialFeatures(), LinearSVM()), "PolynomialFeatures"),
    "data frames between steps": (
        lambda: make_pipeline(StandardScaler(), LinearSVM()).set_output(transform="default"),
        "set_output",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_a_file_cannot_hold_is_refused_in_a_sentence(what, tmp_path):
    make, message = REFUSED[what]
    model = make().fit(POINTS, TWO)
    with pytest.raises(ModelFileError, match=message):
        save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_parameter_that_became_wrong_is_refused(tmp_path):
    with pytest.raises(ModelFileError, match="C=-1 cannot be kept"):
        save(LinearSVM().fit(POINTS, TWO).set_params(C=-1), tmp_path / "model")


def test_labels_of_bytes_are_refused(tmp_path):
    model = LinearSVM().fit(POINTS, TWO)
    model.classes_ = np.array([b"a", b"b"])
    with pytest.raises(ModelFileError, match="labels such as b'a' cannot be kept"):
        save(model, tmp_path / "model")


def test_a_model_that_is_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        save(LinearSVM(), tmp_path / "model")


def test_data_of_another_shape_are_refused(tmp_path):
    model = LinearSVM().fit(POINTS, TWO)
    with pytest.raises(ModelFileError, match="X has 1 columns, and the model was fitted to 2"):
        save(model, tmp_path / "model", POINTS[:, :1], TWO)
    with pytest.raises(ModelFileError, match="give both or neither"):
        save(model, tmp_path / "model", POINTS)


@pytest.mark.parametrize("roles", [{}, {"label": "who"}, {"label": "who", "weight": "n", "id": "name"}])
def test_columns_that_were_no_features_come_back(roles, tmp_path):
    X, y = [[0.0], [1.0]], [0, 1]
    save(LinearSVM().fit(X, y), tmp_path / "model", X, y, columns_by="name", roles=roles)
    assert model_info(tmp_path / "model").roles == roles


@pytest.mark.parametrize("is_scaled", [False, True])
@pytest.mark.parametrize(
    ("names", "columns_by", "roles", "words"),
    [
        (("a", "b"), "name", {"label": "b"}, "roles.label is the column 'b', which is a feature of the model too"),
        (("x0", "x2"), "position", {"label": "1", "id": "2"}, "roles.id is the column '2', which is a feature"),
        (("a", "b"), "name", {"label": "c", "id": "c"}, "roles.id is the column 'c', which is roles.label"),
    ],
)
def test_a_column_that_plays_two_parts_is_refused_on_load(names, columns_by, roles, words, is_scaled, tmp_path):
    X, y = pandas.DataFrame([[0.0, 1.0], [3.0, 2.0]], columns=list(names)), [0, 1]
    model = make_pipeline(StandardScaler(), LinearSVM()) if is_scaled else LinearSVM()
    document, arrays = describe(model.fit(X, y), None, None, columns_by, {"label": "7"})
    (tmp_path / "good").write_bytes(pack(document, arrays))
    assert model_info(tmp_path / "good").roles == {"label": "7"}
    (tmp_path / "bad").write_bytes(pack(document | {"roles": document["roles"] | roles}, arrays))
    with pytest.raises(ModelFileError, match=re.escape(words)):
        load(tmp_path / "bad")


def test_roles_are_of_three_kinds_and_indices_where_there_are_no_names(tmp_path):
    model = LinearSVM().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ModelFileError, match="a column is a label, a weight or an id, and no 'price'"):
        save(model, tmp_path / "model", roles={"price": "x"})
    with pytest.raises(ModelFileError, match=r"roles\.label must be the index of a column"):
        save(model, tmp_path / "model", columns_by="position", roles={"label": "x"})
    with pytest.raises(ModelFileError, match=r"roles\.label must be a short text"):
        save(model, tmp_path / "model", roles={"label": 3})


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_a_witness_in_the_space_of_a_kernel_is_kept(strategy, tmp_path):
    """Some planes have one, and others separate: those are compared with what predicts, as ever."""
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [9.0, 0.0], [9.0, 1.0]])
    y = np.array([0, 0, 1, 1, 2, 2])
    model = KernelPerceptron("linear", multi_class=strategy).fit(X, y)
    verdicts = [part.verdict.name for part in model.certificate_]
    assert verdicts.count("NOT_SEPARABLE") == (2 if strategy == "ovr" else 1)
    assert verdicts.count("SEPARABLE") == (1 if strategy == "ovr" else 2)
    path = tmp_path / "model"
    save(model, path, X, y)
    again = load(path)
    assert [part.to_dict() for part in again.certificate_] == [part.to_dict() for part in model.certificate_]
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert verify_model(again, X, y, exact=True)
    assert not verify_model(again, X[::-1], y)
    separable = verdicts.index("SEPARABLE")
    again.dual_coef_[separable] *= -1.0
    assert "points the other way" in str(verify_model(again, X, y))
    document, arrays = unpack(path.read_bytes())
    rows = arrays["certificate.rows"].copy()
    rows[0] = 99
    path.write_bytes(pack(document, {**arrays, "certificate.rows": rows}))
    assert not verify_model(load(path), X, y)
    path.write_bytes(pack(document, {**arrays, "certificate.weights": arrays["certificate.weights"][1:]}))
    with pytest.raises(ModelFileError, match="certificate"):
        load(path)
