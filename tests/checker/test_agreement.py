"""Where `verify(exact=True)` answers, the checker gives the same answer: on the corpus, on honest certificates of every
kind, on forgeries."""

import json

import numpy as np
import pytest
from block_certificates import certified, rows_of
from certificates.hunt_false_verdicts import NAMES, forgeries, issued, rows
from checker.two_judges import (
    CANNOT,
    HONEST,
    NO_PROOFS,
    OUT_OF_REACH,
    REFUSED,
    VERIFIED,
    by_the_checker,
    by_the_library,
    disagreement,
    for_its_figures,
    forged_texts,
    table_of,
)
from persistence.make_corpus import CORPUS, MODELS, estimator_of, prepared

from maxmargin import HardMarginSVM, KernelSVM, LinearSVM, NotSeparableError, separability
from maxmargin.persistence import model_info
from maxmargin.problems.kernels import KERNELS
from maxmargin.problems.losses import LOSSES, Loss

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
FITS, SEED = 124, 0
MOST_FIGURES = 0.002  # the share of forgeries whose figures are at the very limit of what rounding allows


def agree(text, X, y, sample_weight=None, kernel=None):
    """Both answers, which are the same: of the proofs, and with the figures."""
    library, table = by_the_library(text, X, y, sample_weight, kernel), table_of(X, y, sample_weight)
    for expected, own in (
        (library, by_the_checker(text, table)),
        (for_its_figures(library), by_the_checker(text, table, with_figures=False)),
    ):
        assert disagreement(expected, own, text) is None, (disagreement(expected, own, text), text)
    return library, own


@pytest.mark.parametrize("name", HONEST)
def test_honest_certificates(name):
    case = HONEST[name]()
    text = case.certificate.to_json()
    _, own = agree(text, case.X, case.y, case.sample_weight, case.kernel)
    reached = case.certificate_kernel not in OUT_OF_REACH or case.certificate.verdict.name == "NOT_SEPARABLE"
    assert own[0] == (VERIFIED if reached else CANNOT)


FILES = [path for path in sorted(CORPUS.glob("*/*.safetensors")) if path.stem in MODELS]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_corpus(path):
    model, (_, X, y) = model_info(path).model, MODELS[path.stem]()
    certificate = estimator_of(model).certificate_
    library, own = agree(certificate.to_json(), prepared(model, X), y)
    parts = getattr(certificate, "parts", [certificate])
    reached = all(getattr(part, "kernel", "linear") not in OUT_OF_REACH for part in parts)
    assert own[0] == (VERIFIED if reached else CANNOT)
    assert library[0] == own[0] or "kernel_precomputed" in path.stem


@pytest.mark.parametrize("name", HONEST)
def test_every_field_forged(name):
    case = HONEST[name]()
    table = table_of(case.X, case.y, case.sample_weight)
    for path, text in forged_texts(case):
        library = by_the_library(text, case.X, case.y, case.sample_weight, case.kernel)
        own = by_the_checker(text, table)
        assert disagreement(library, own, text) is None, (path, disagreement(library, own, text))
        if path[0] not in NO_PROOFS:
            own = by_the_checker(text, table, with_figures=False)
            assert disagreement(for_its_figures(library), own, text) is None, (path, own)


@pytest.mark.parametrize("name", ["soft", "perceptron", "hard"])
@pytest.mark.parametrize("other", [True, "0.0", None, [0.0]], ids=str)
def test_what_is_no_number_is_none(name, other):
    """Also where it counts as one in Python, or can be read as one."""
    case = HONEST[name]()
    table, certificate = table_of(case.X, case.y), json.loads(case.certificate.to_json())
    places = [(certificate, field) for field in ("b", "primal", "dual", "tol")]
    places += [(certificate["kkt"][condition], "value") for condition in certificate["kkt"] or ()]
    places += [(theorem, field) for theorem in certificate["theorems"] for field in ("bound", "measured")]
    for inside, field in places:
        honest, inside[field] = inside[field], other
        text = json.dumps(certificate)
        assert by_the_library(text, case.X, case.y)[0] == REFUSED, field
        assert by_the_checker(text, table)[0] == REFUSED, field
        inside[field] = honest
    for given in (["0.5"], [None], [[0.5]], ["a"]):
        text = json.dumps(certificate | {"weights": given + certificate["weights"][1:]})
        assert by_the_library(text, case.X, case.y)[0] == REFUSED, given
        assert by_the_checker(text, table)[0] == REFUSED, given


def test_forgeries_of_random_problems():
    """Two thousand, by a liar who keeps the books, of tables with nasty numbers."""
    random, names, count, off = np.random.default_rng(SEED), NAMES, 0, []
    for number in range(FITS):
        X, y = rows(random, names[number % len(names)])
        try:
            certificate = issued(names[number % len(names)], X, y, bool(random.random() < 0.7))
        except ValueError:  # numbers that a kernel cannot take
            continue
        table, honest = table_of(X, y), certificate.to_json()
        assert by_the_checker(honest, table)[0] == VERIFIED, (by_the_checker(honest, table), honest)
        for what, forged in forgeries(certificate, random):
            text = forged.to_json()
            library = by_the_library(text, X, y)
            own = by_the_checker(text, table, with_figures=False)
            assert disagreement(for_its_figures(library), own, text) is None, (what, library, own, text, X, y)
            if disagreement(library, by_the_checker(text, table), text) is not None:
                off.append((what, library, own, text))
            count += 1
    assert count >= 2000
    assert len(off) <= MOST_FIGURES * count, off[:3]


def is_out_of_reach(certificate, X, y, word, kernel=None):
    """Verified here, and the checker names the word that it does not know; also in a claim that is false."""
    text, table = certificate.to_json(), table_of(X, y)
    assert agree(text, X, y, kernel=kernel)[0][0] == VERIFIED
    fields = json.loads(text)
    false = [part | {"dual": 2.0 * part["primal"]} for part in fields.get("parts", [fields])]
    for told in (text, json.dumps({"parts": false} if "parts" in fields else false[0])):
        for with_figures in (False, True):
            answer, why = by_the_checker(told, table, with_figures)
            assert (answer, word in why) == (CANNOT, True), (answer, why)


@pytest.mark.parametrize(
    "loss", [Loss("steep", 2.0, 0.0), Loss("parabola", np.inf, 1.5), Loss("wide", 1.0, 1.0)], ids=str
)
def test_losses_from_elsewhere_are_not_known_here(monkeypatch, loss):
    monkeypatch.setitem(LOSSES, loss.name, loss)
    X, y = rows_of(30)
    is_out_of_reach(LinearSVM(loss=loss.name).fit(X, y).certificate_, X, y, loss.name)
    is_out_of_reach(KernelSVM(kernel="linear", loss=loss.name).fit(X, y).certificate_, X, y, loss.name)
    is_out_of_reach(certified(X, y, [10, 0, 20], loss=loss.name), X, y, loss.name)
    pairs = LinearSVM(loss=loss.name, multi_class="ovo").fit(POINTS, THREE).certificate_
    is_out_of_reach(pairs, POINTS, THREE, loss.name)


def test_kernels_from_elsewhere_are_not_known_here(monkeypatch):
    monkeypatch.setitem(KERNELS, "of_my_own", type("OfMyOwn", (KERNELS["poly"],), {"name": "of_my_own"}))
    X, y = rows_of(12)
    is_out_of_reach(KernelSVM(kernel="of_my_own", gamma=0.5).fit(X, y).certificate_, X, y, "of_my_own")


def test_fields_from_elsewhere_are_not_known_here():
    """Of a kind that others made, or of a later release. Which of the known ones stand together is known."""
    X, y = rows_of(12)
    table, fields = table_of(X, y), json.loads(LinearSVM().fit(X, y).certificate_.to_json())
    assert by_the_checker(json.dumps(fields | {"sparse": True}), table) == (CANNOT, "not known here: {'sparse'}")
    blocks = json.loads(certified(X, y, [12]).to_json())
    assert by_the_checker(json.dumps(blocks | {"sparse": True}), table) == (CANNOT, "not known here: {'sparse'}")
    assert by_the_checker(json.dumps(fields | {"norm": "l2"}), table)[0] == REFUSED
    assert by_the_checker(json.dumps(fields | {"gamma": 1.0}), table)[0] == REFUSED
    assert by_the_checker(json.dumps(fields | {"loss": None}), table)[0] == REFUSED
    del fields["loss"]
    assert by_the_checker(json.dumps(fields), table)[0] == REFUSED


def test_a_hard_margin_pays_no_loss():
    X, y = np.array([[0.0], [1.0], [3.0], [5.0]]), np.array([-1, -1, 1, 1])
    text = KernelSVM(C=np.inf, kernel="linear").fit(X, y).certificate_.to_json()
    assert agree(text, X, y)[1][0] == VERIFIED
    for loss in ("squared_hinge", "huber_hinge", "modified_huber"):
        assert agree(json.dumps(json.loads(text) | {"loss": loss}), X, y)[1][0] == REFUSED


THREE = np.array(["a", "b", "c"] * 4)
POINTS = np.array([[0.0, 0], [4, 0], [0, 4]] * 4) + np.arange(24).reshape(12, 2) % 5 * 0.25


@pytest.mark.parametrize(
    "estimator",
    [
        LinearSVM(multi_class="ovr"),
        LinearSVM(multi_class="ovo", loss="squared_hinge"),
        HardMarginSVM(multi_class="ovo"),
        KernelSVM(kernel="poly", gamma=0.5, coef0=1.0, degree=2, multi_class="ovo"),
    ],
    ids=["against the rest", "pairs", "hard margins", "kernels"],
)
def test_many_classes(estimator):
    certificate = estimator.fit(POINTS, THREE).certificate_
    fields = json.loads(certificate.to_json())
    assert agree(certificate.to_json(), POINTS, THREE)[1][0] == VERIFIED
    first, second, third = fields["parts"]
    for parts in ([first, second], [first, second, second], [first, second, third, third], []):
        assert agree(json.dumps({"parts": parts}), POINTS, THREE)[1][0] == REFUSED
    assert agree(json.dumps({"parts": [first, second, {**third, "positive": "d"}]}), POINTS, THREE)[1][0] == REFUSED
    strange = np.where(np.arange(12) == 5, "d", THREE)
    assert agree(certificate.to_json(), POINTS, strange)[1][0] == REFUSED


def test_other_rows_are_refused():
    X, y = np.array([[0.0, 0], [0, 2], [3, 0], [5, 1]]), np.array([-1, -1, 1, 1])
    text = separability(X, y).to_json()
    assert agree(text, X, y)[1][0] == VERIFIED
    for other, labels in ((X[:3], y[:3]), (X[:, :1], y), (X, -y), (np.where(X == 3.0, 2.0, X), y)):
        assert agree(text, other, labels)[1][0] == REFUSED


def test_weights_decide_which_rows_are_there():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [0.5]]), np.array([-1, -1, 1, 1, 1])
    weights = np.array([1.0, 2.0, 0.5, 1.0, 0.0])
    text = LinearSVM(C=2.0, class_weight={-1: 3.0}).fit(X, y, sample_weight=weights).certificate_.to_json()
    assert agree(text, X, y, weights)[1][0] == VERIFIED
    for other in (None, weights + 1.0, 0.25 * weights):
        assert agree(text, X, y, other)[1][0] == REFUSED


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_equal_rows_of_two_classes_are_a_witness_for_every_kernel(kernel):
    X, y = np.array([[0.0, 1.0], [2.0, 1.0], [2.0, 1.0], [5.0, 1.0]]), np.array([-1, -1, 1, 1])
    with pytest.raises(NotSeparableError) as caught:
        KernelSVM(C=np.inf, kernel=kernel, gamma=0.5).fit(X, y)
    text = caught.value.certificate.to_json()
    assert agree(text, X, y)[1][0] == VERIFIED
    moved = np.where(np.arange(4)[:, None] == 2, X + 0.5, X)
    assert agree(text, moved, y)[1][0] == REFUSED


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_an_exponential_is_out_of_reach_and_its_numbers_are_looked_at(kernel):
    X, y = np.array([[0.0, 1.0], [2.0, 1.0], [2.0, 1.5], [5.0, 1.0]]), np.array([-1, -1, 1, 1])
    text = KernelSVM(kernel=kernel, gamma=0.5).fit(X, y).certificate_.to_json()
    table = table_of(X, y)
    assert by_the_checker(text, table)[0] == CANNOT
    for field, value in (("coef0", 1.0), ("degree", 2), ("gamma", -1.0)):
        assert by_the_checker(json.dumps(json.loads(text) | {field: value}), table)[0] == REFUSED


def test_the_last_digit_decides():
    """The bound of the plane (1, -1.5): 1.5 is true, and the next double is not; in between nothing is rounded."""
    X, y = np.array([[0.0], [3.0]]), np.array([-1, 1])
    fields = json.loads(separability(X, y).to_json())
    fields |= {"w": [1.0], "b": -1.5, "kkt": None}
    for lower, answer in ((1.5, VERIFIED), (np.nextafter(1.5, 2.0), REFUSED)):
        told = {"margin_lower": float(lower), "margin_upper": 1.5000001, "tol": 1e-6, "verdict": "OPTIMAL"}
        told |= {"primal": 0.5 / lower / lower, "dual": 0.5 / 1.5000001 / 1.5000001}
        assert by_the_checker(json.dumps(fields | told), table_of(X, y), with_figures=False)[0] == answer
