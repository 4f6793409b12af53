"""A model that does not predict by the planes of its certificate is refused: on save, on load, and by `verify_model`.

Every estimator of the library is changed in every way that changes what it predicts.
"""

import copy
import dataclasses
import functools

import numpy as np
import pytest
import scipy.sparse as sparse
from persistence.make_corpus import CORPUS, POINTS, THREE, TWO
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import maxmargin
from maxmargin.estimators.base import MarginClassifier
from maxmargin.persistence import ModelFileError, load, save, verify_model
from maxmargin.persistence.container import pack, unpack
from maxmargin.persistence.exchange.skops import read_skops, write_skops
from maxmargin.persistence.model_file import ESTIMATORS, describe

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # early ends are honest too
MANY_COLUMNS = np.column_stack([POINTS, POINTS[:, 0] * POINTS[:, 1] + 0.5, [3, 1, 4, 1, 5, 9, 2, 6, 5]])
VARIANTS = {  # beside the defaults: what an estimator can be asked for that makes its planes in another way
    "LinearSVM": [{"C": float("inf")}, {"loss": "squared_hinge", "fit_intercept": False}],
    "HardMarginSVM": [{"norm": "l1"}, {"fit_intercept": False, "on_inseparable": "return"}],
    "KernelSVM": [{"C": float("inf")}, {"kernel": "precomputed"}, {"kernel": "poly", "coef0": 1.0, "degree": 2}],
    "KernelPerceptron": [{"fit_intercept": False}],
    "Perceptron": [{"average": True, "max_updates": 50}],
    "StochasticSVM": [{"average": True, "max_iter": 5}, {"kernel": "rbf", "max_iter": 5}],
}
ALWAYS = {"LinearSVMCV": {"Cs": [0.1, 1.0], "cv": 2}}  # nine rows are too few for five folds
PROBLEMS = {"two": (TWO, None), "rest": (THREE, "ovr"), "pairs": (THREE, "ovo")}


def concrete(kind):
    """All classes of estimators, whoever has written them."""
    subclasses = [one for below in kind.__subclasses__() for one in concrete(below)]
    is_ours = kind.__module__.startswith("maxmargin.") and not getattr(kind, "__abstractmethods__", None)
    return ([kind] if is_ours and kind.__name__ in maxmargin.__all__ else []) + subclasses


KINDS = sorted({one.__name__ for one in concrete(MarginClassifier)})
CASES = [(kind, variant, problem) for kind in KINDS for variant in (0, 1, 2, 3) for problem in PROBLEMS]
CASES = [case for case in CASES if case[1] <= len(VARIANTS.get(case[0], []))]


def test_every_estimator_of_the_library_is_tried():
    assert set(KINDS) == set(ESTIMATORS)
    assert set(VARIANTS) <= set(KINDS)


@functools.cache
def fitted(kind, variant, problem):
    y, multi_class = PROBLEMS[problem]
    parameters = [{}, *VARIANTS.get(kind, [])][variant]
    model = ESTIMATORS[kind](
        **ALWAYS.get(kind, {}), **parameters, **({} if multi_class is None else {"multi_class": multi_class})
    )
    X = MANY_COLUMNS @ MANY_COLUMNS.T if parameters.get("kernel") == "precomputed" else MANY_COLUMNS
    return model.fit(X, y), X, y


def plane_array(model):
    return "coef_" if "coef_" in vars(model) else "dual_coef_"


def changing(array):
    """A change of that array of the planes, in a copy of it."""

    def decorate(change):
        def changed(model):
            name = plane_array(model) if array == "planes" else array
            if name not in vars(model):
                return False
            values = getattr(model, name).copy()
            values = values.toarray() if sparse.issparse(values) else values
            made = change(values)
            setattr(model, name, made)
            return made.shape == values.shape and not np.array_equal(made, values)

        return changed

    return decorate


def largest(values):
    """Where the largest entry of a plane is that has another one beside it."""
    crowded = np.where(np.count_nonzero(values, axis=1, keepdims=True) > 1, np.abs(values), 0.0)
    return np.unravel_index(np.argmax(crowded), values.shape)


def replace_entry(values, factor):
    made = values.copy()
    made[largest(values)] *= factor if np.count_nonzero(values[largest(values)[0]]) > 1 else 1.0
    return made


def of_kernel(**changes):
    def changed(model):
        if getattr(model, "_kernel", None) is None or model._kernel.name == "precomputed":
            return False
        model._kernel = dataclasses.replace(
            model._kernel, **{k: f(getattr(model._kernel, k)) for k, f in changes.items()}
        )
        return True

    return changed


def of_classes(change):
    def changed(model):
        model.classes_ = change(model.classes_)
        return True

    return changed


def support_vectors(change):
    def changed(model):
        vectors = vars(model).get("support_vectors_")  # by which it predicts, or which its file holds
        if vectors is None or not vectors.shape[1] or len(vectors) < 2:
            return False
        model.support_vectors_ = change(vectors)
        return not np.array_equal(model.support_vectors_, vectors)

    return changed


def turn_everything(model):
    """The mirror image, with a bias that fits: no unlabelled row tells it from the truth."""
    name = plane_array(model)
    setattr(model, name, -getattr(model, name))
    model.intercept_ = -model.intercept_
    return True


CHANGES = {
    "planes negated": changing("planes")(lambda planes: -planes),
    "planes times -1/2": changing("planes")(lambda planes: -0.5 * planes),
    "planes and biases negated": turn_everything,
    "last plane negated": changing("planes")(lambda planes: np.vstack([planes[:-1], -planes[-1:]])),
    "entries permuted": changing("planes")(lambda planes: planes[:, ::-1]),
    "entries rolled": changing("planes")(lambda planes: np.roll(planes, 1, axis=1)),
    "an entry off by 1e-3": changing("planes")(lambda planes: replace_entry(planes, 1.001)),
    "an entry off by 1e-12": changing("planes")(lambda planes: replace_entry(planes, 1.0 + 1e-12)),
    "an entry away": changing("planes")(lambda planes: replace_entry(planes, 0.0)),
    "planes swapped": changing("planes")(lambda planes: planes[::-1]),
    "a plane doubled": lambda model: len(model.intercept_) > 1 and double_a_plane(model),
    "biases off by 1e-3": changing("intercept_")(lambda biases: biases * 1.001 + 1e-3),
    "biases negated": changing("intercept_")(lambda biases: -biases),
    "dual variables negated": changing("dual_coef_")(lambda dual: -dual),
    "a dual variable off": changing("dual_coef_")(lambda dual: replace_entry(dual, 1.001)),
    "rows renumbered": changing("support_")(lambda rows: rows + 1),
    "rows of planes counted wrong": changing("n_support_")(lambda counts: counts + 1),
    "support vectors moved": support_vectors(lambda vectors: vectors + 1.0),
    "support vectors turned round": support_vectors(lambda vectors: vectors[::-1].copy()),
    "a support vector off by 1e-3": support_vectors(lambda vectors: vectors * np.where(np.arange(4) == 0, 1.001, 1.0)),
    "classes swapped": of_classes(lambda classes: classes[::-1]),
    "classes renamed": of_classes(lambda classes: np.array([f"class {index}" for index in range(len(classes))])),
    "another gamma": of_kernel(gamma=lambda gamma: 2.0 * gamma),
    "another kernel": of_kernel(coef0=lambda coef0: coef0 + 1.0),
    "another centre": of_kernel(shift=lambda shift: np.full(4, 1e6) if shift is None else shift + 1e6),
}


def double_a_plane(model):
    for name in (plane_array(model), "intercept_"):
        values = getattr(model, name).copy()
        values[0] *= 2.0
        setattr(model, name, values)
    return True


def written_around_save(model, path, X=None, y=None):
    path.write_bytes(pack(*describe(model, X, y)))
    return path


@pytest.mark.parametrize(("kind", "variant", "problem"), CASES, ids=lambda case: str(case))
def test_changed_models_are_refused_everywhere(kind, variant, problem, tmp_path):
    original, X, y = fitted(kind, variant, problem)
    assert verify_model(original, X, y)
    tried = 0
    for name, change in CHANGES.items():
        model = copy.deepcopy(original)
        if not change(model):
            continue
        tried += 1
        try:
            with pytest.raises(ModelFileError, match="cannot be saved"):
                save(model, tmp_path / "saved")
            with pytest.raises(ModelFileError, match="can be loaded"):
                load(written_around_save(model, tmp_path / "written"))
            assert not verify_model(model, X, y)
        except (AssertionError, pytest.fail.Exception) as error:
            raise AssertionError(f"{name}: {error}") from error
        assert not (tmp_path / "saved").exists()
    assert tried >= 8


@pytest.mark.parametrize("kind", KINDS)
def test_changed_steps_are_refused_with_the_data(kind, tmp_path):
    original = make_pipeline(StandardScaler(), MinMaxScaler(), ESTIMATORS[kind](**ALWAYS.get(kind, {}))).fit(
        MANY_COLUMNS, TWO
    )
    save(original, tmp_path / "fine", MANY_COLUMNS, TWO)
    assert verify_model(load(tmp_path / "fine"), MANY_COLUMNS, TWO)
    for step, vector, times in ((0, "mean_", 1.001), (0, "scale_", 1.001), (1, "min_", -1.0), (1, "scale_", -1.0)):
        model = copy.deepcopy(original)
        values = getattr(model[step], vector)
        setattr(model[step], vector, values * times)
        with pytest.raises(ModelFileError, match="a step was changed after the fit"):
            save(model, tmp_path / "saved", MANY_COLUMNS, TWO)
        with pytest.raises(ModelFileError, match="a step was changed after the fit"):
            load(written_around_save(model, tmp_path / "written", MANY_COLUMNS, TWO))
        save(
            model, tmp_path / "unseen"
        )  # without the data nobody can tell; with them, the proof goes through the steps
        assert not verify_model(load(tmp_path / "unseen"), MANY_COLUMNS, TWO), (step, vector)


@pytest.mark.parametrize("times", [1e-30, 0.5, 3.0])
@pytest.mark.parametrize(("kind", "variant", "problem"), [case for case in CASES if case[2] != "pairs"])
def test_one_positive_factor_changes_no_prediction_and_is_no_lie(kind, variant, problem, times, tmp_path):
    original, X, y = fitted(kind, variant, problem)
    model = copy.deepcopy(original)
    for name in (plane_array(model), "intercept_"):
        setattr(model, name, times * getattr(model, name))
    save(model, tmp_path / "model", X, y)
    again = load(tmp_path / "model")
    assert verify_model(again, X, y)
    assert again.predict(X).tolist() == original.predict(X).tolist()


def test_a_forged_record_is_found_with_the_data(tmp_path):
    model, X, y = fitted("KernelSVM", 0, "two")
    model = copy.deepcopy(model)
    model.dual_coef_, model._seen["codes"] = -model.dual_coef_, 1 - model._seen["codes"]
    save(model, tmp_path / "model")  # all that the file says fits together
    again = load(tmp_path / "model")
    assert again.certificate_.verify(X, y)
    assert "the record of the fit says another one" in str(verify_model(again, X, y))


@pytest.mark.parametrize("name", ["kernel", "kernel_perceptron", "stochastic_kernel"])
def test_files_without_a_record_are_checked_with_the_data(name, tmp_path):
    document, arrays = unpack((CORPUS / "v2" / f"{name}.safetensors").read_bytes())
    arrays["dual_coef"] = -arrays["dual_coef"]
    if name == "kernel_perceptron":
        arrays["intercept"] = -arrays["intercept"]
    (tmp_path / "model").write_bytes(pack(document, arrays))
    model = load(tmp_path / "model")
    assert model.certificate_.verify(POINTS, TWO)
    assert "has the sign of another class" in str(verify_model(model, POINTS, TWO))
    arrays["dual_coef"] = -arrays["dual_coef"] * np.where(np.arange(arrays["dual_coef"].shape[1]) == 0, 1.001, 1.0)
    (tmp_path / "model").write_bytes(pack(document, arrays))
    with pytest.raises(ModelFileError, match=r"dual_coef_.* and its certificate says"):
        load(tmp_path / "model")


def test_replaced_support_vectors_of_a_file_are_found_with_the_data(tmp_path):
    document, arrays = unpack((CORPUS / "v2" / "kernel.safetensors").read_bytes())
    arrays["support_vectors"] = arrays["support_vectors"] + np.array([0.0, 1e-3])
    (tmp_path / "model").write_bytes(pack(document, arrays))
    found = verify_model(load(tmp_path / "model"), POINTS, TWO)
    assert "is not row" in str(found)
    assert "differ by 0.001" in str(found)


def test_planes_of_a_stream_are_those_of_its_run(tmp_path):
    model = maxmargin.StochasticSVM(average=True)
    for _ in range(3):
        model.partial_fit(POINTS, THREE, classes=["left", "right", "top"])
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").predict(POINTS).tolist() == model.predict(POINTS).tolist()
    model.coef_ = -model.coef_
    with pytest.raises(ModelFileError, match="the run of the stream stands at"):
        save(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match="the run of the stream stands at"):
        load(written_around_save(model, tmp_path / "written"))


def test_partial_fit_of_a_perceptron_is_saved_with_any_data(tmp_path):
    model = maxmargin.Perceptron().fit(POINTS, TWO)
    model.partial_fit(POINTS[:5], TWO[:5])
    save(model, tmp_path / "model", POINTS, TWO)
    assert verify_model(load(tmp_path / "model"), POINTS[:5], TWO[:5])


def test_a_fit_after_another_kind_of_fit_is_saved(tmp_path):
    model = maxmargin.LinearSVM(C=float("inf")).fit(POINTS, TWO)
    save(model.set_params(C=1.0).fit(POINTS, TWO), tmp_path / "model", POINTS, TWO)
    assert verify_model(load(tmp_path / "model"), POINTS, TWO)
    model = maxmargin.StochasticSVM(kernel="rbf", max_iter=5).fit(POINTS, TWO)
    save(model.set_params(kernel="linear").fit(POINTS, TWO), tmp_path / "model", POINTS, TWO)
    assert verify_model(load(tmp_path / "model"), POINTS, TWO)


@pytest.mark.parametrize("name", ["onnx", "liblinear", "libsvm", "csv", "skops"])
def test_other_formats_refuse_them_too(name, tmp_path):
    kind = "KernelSVM" if name == "libsvm" else "LinearSVM"
    model = copy.deepcopy(fitted(kind, 0, "two")[0])
    setattr(model, plane_array(model), -getattr(model, plane_array(model)))
    if name in ("onnx", "skops"):
        pytest.importorskip(name)
    writers = {"csv": "coefficients"}
    write = getattr(maxmargin.persistence, f"write_{writers.get(name, name)}")
    with pytest.raises(ModelFileError, match="it points the other way"):
        write(model, tmp_path / f"model.{name}")
    assert not list(tmp_path.iterdir())


def test_skops_files_with_another_plane_are_not_read(tmp_path):
    skops = pytest.importorskip("skops.io")
    model = copy.deepcopy(fitted("LinearSVM", 0, "two")[0])
    write_skops(model, tmp_path / "fine.skops")
    assert verify_model(read_skops(tmp_path / "fine.skops"), MANY_COLUMNS, TWO)
    model.coef_ = -model.coef_
    skops.dump(model, tmp_path / "model.skops")
    with pytest.raises(ModelFileError, match="it points the other way"):
        read_skops(tmp_path / "model.skops")


def test_the_sentence_names_the_plane_and_the_numbers():
    model = copy.deepcopy(fitted("LinearSVM", 0, "pairs")[0])
    model.coef_[1, 2] *= 1.5
    said = str(verify_model(model, *fitted("LinearSVM", 0, "pairs")[1:]))
    assert "['left' against 'top']: coef_[1, " in said
    assert "and its certificate says" in said


ODD_TABLES = {
    "huge": MANY_COLUMNS * 1e150,
    "tiny": MANY_COLUMNS * 1e-150,
    "float32": MANY_COLUMNS.astype(np.float32),
    "sparse": sparse.csr_array(np.where(MANY_COLUMNS > 2.0, MANY_COLUMNS, 0.0)),
    "sparse matrix": sparse.csr_matrix(MANY_COLUMNS.astype(np.float32)),
    "constant columns": MANY_COLUMNS * [1.0, 0.0, 1.0, 0.0] + [0.0, 7.0, 0.0, 0.0],
    "nothing but zeros": np.zeros((9, 4)),
    "equal rows": np.repeat(MANY_COLUMNS[[0, 4, 6]], 3, axis=0),
    "far away": MANY_COLUMNS + 1e6,
}
LIMITS = {"Perceptron": {"max_updates": 200}, "MarginPerceptron": {"max_updates": 200}, "Winnow": {"max_updates": 200}}
LIMITS |= {"KernelPerceptron": {"max_iter": 20}, "HardMarginSVM": {"on_inseparable": "return"}}
TRIED = [(kind, 0) for kind in KINDS] + [
    ("LinearSVM", 1),
    ("HardMarginSVM", 2),
    ("Perceptron", 1),
    ("StochasticSVM", 2),
]


@pytest.mark.parametrize("table", ODD_TABLES)
@pytest.mark.parametrize(("kind", "variant"), TRIED)
def test_honest_models_of_odd_data_are_kept(kind, variant, table, tmp_path):
    X = ODD_TABLES[table]
    parameters = ALWAYS.get(kind, {}) | ({} if variant == 0 else VARIANTS[kind][variant - 1]) | LIMITS.get(kind, {})
    for y in (TWO, THREE):
        try:
            model = ESTIMATORS[kind](**parameters).fit(X, y)
        except maxmargin.NotSeparableError:
            continue
        save(model, tmp_path / "model", X, y)
        assert verify_model(load(tmp_path / "model"), X, y)


@pytest.mark.parametrize("kind", ["LinearSVM", "HardMarginSVM", "KernelSVM", "StochasticSVM"])
def test_honest_models_of_weighted_rows_and_one_row_of_a_class_are_kept(kind, tmp_path):
    weights = np.array([1.0, 0.0, 2.5, 1.0, 0.0, 1e-3, 1.0, 1.0, 0.0])
    model = ESTIMATORS[kind]().fit(POINTS, TWO, sample_weight=weights)
    save(model, tmp_path / "model", POINTS, TWO)
    assert verify_model(load(tmp_path / "model"), POINTS, TWO, sample_weight=weights)
    single = np.where(np.arange(9) == 4, "one", "many")
    model = ESTIMATORS[kind]().fit(POINTS, single)
    save(model, tmp_path / "model", POINTS, single)
    assert verify_model(load(tmp_path / "model"), POINTS, single)
