"""HardMarginSVM, LinearSVM(C=inf) and separability of tables that are read by blocks within a memory budget."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin import HardMarginSVM, LinearSVM, NotSeparableError, Verdict, scan_table, separability
from maxmargin.data import synthetic
from maxmargin.persistence.checkpoint import fit_with_checkpoints
from maxmargin.run.control import Status


class Blocks:
    """Rows in memory that are handed over in blocks of these heights."""

    def __init__(self, X, heights):
        self.X, self.edges = X, np.concatenate([[0], np.cumsum(heights)])
        self.n_rows, self.n_columns, self.n_blocks = X.shape[0], X.shape[1], len(heights)
        self.read, self.last = 0, None  # the process dies when it has read so many blocks

    def block(self, k):
        if self.read == self.last:
            raise Killed
        self.read += 1
        return self.X[self.edges[k] : self.edges[k + 1]]


def three_classes(n=240, seed=0):
    random = np.random.default_rng(seed)
    y = np.arange(n) % 3
    angles = 2.0 * np.pi * y / 3.0
    X = 3.0 * np.column_stack([np.cos(angles), np.sin(angles)]) + random.uniform(-1.0, 1.0, size=(n, 2))
    return X, np.array(["a", "b", "c"])[y]


def assert_same_attributes(found, known):
    for name in ("classes_", "support_", "n_support_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(known, name))
    for name in ("coef_", "intercept_", "dual_coef_", "margin_", "street_"):
        np.testing.assert_allclose(getattr(found, name), getattr(known, name), rtol=1e-6, atol=1e-9)
    assert abs(found.support_vectors_ - known.support_vectors_).max() == 0.0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_three_classes_have_the_attributes_of_a_fit_in_memory(form, multi_class):
    X, y = three_classes()
    X = form(X)
    found = HardMarginSVM(memory="10MB", multi_class=multi_class).fit(Blocks(X, [100, 0, 40, 100]), y)
    assert_same_attributes(found, HardMarginSVM(multi_class=multi_class).fit(X, y))
    assert found.certificate_.verify(X, y, exact=True)
    assert found.status_ == [Status.SETTLED] * 3
    np.testing.assert_array_equal(found.predict(X), y)


def test_all_problems_are_solved_in_the_same_passes():
    X, y = three_classes()
    one, three = Blocks(X, [60] * 4), Blocks(X, [60] * 4)
    HardMarginSVM(memory="10MB").fit(three, y)
    HardMarginSVM(memory="10MB").fit(one, y == "a")
    assert three.read == one.read


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_linear_svm_with_infinite_c_is_the_same(fit_intercept):
    X, y, plane = synthetic.separable_gaussians(n=150, d=3, margin=0.3, seed=2)
    X = X if fit_intercept else X + plane.b * plane.w
    found = LinearSVM(C=np.inf, memory="10MB", fit_intercept=fit_intercept).fit(Blocks(X, [50] * 3), y)
    known = HardMarginSVM(fit_intercept=fit_intercept, tol=found.tol).fit(X, y)
    np.testing.assert_allclose(found.coef_, known.coef_, rtol=2 * found.tol)
    assert found.certificate_.verdict is Verdict.OPTIMAL
    assert found.certificate_.verify(X, y)


def test_files_are_read_by_blocks_with_their_labels(tmp_path):
    X, y, _ = synthetic.separable_gaussians(n=300, d=3, margin=0.2, seed=5)
    lines = [",".join([*map(repr, row.tolist()), "yes" if sign > 0 else "no"]) for row, sign in zip(X, y, strict=True)]
    (tmp_path / "rows.csv").write_text("a,b,c,y\n" + "\n".join(lines))
    rows, labels, _ = scan_table(tmp_path / "rows.csv", label="y", memory="1MB")
    found = HardMarginSVM(memory="10MB").fit(rows, labels)
    known = HardMarginSVM().fit(X, np.where(y > 0, "yes", "no"))
    assert_same_attributes(found, known)
    certificate = separability(rows, labels, memory="10MB")
    assert certificate.margin_lower == found.certificate_.margin_lower
    for exact in (False, True):
        assert certificate.verify(rows, labels, exact=exact)
        assert known.certificate_.verify(rows, labels, exact=exact)
    assert HardMarginSVM(norm="l1").fit(rows, labels).certificate_.norm == "l1"  # which has the rows in memory
    forged = dataclasses.replace(certificate, margin_lower=certificate.margin_lower * 1.01)
    assert "the plane's margin is" in str(forged.verify(rows, labels))
    larger = dataclasses.replace(certificate, n_rows=301)
    assert "about 301 rows x 3 columns, these data have 300 x 3" in str(larger.verify(rows, labels))


def test_no_plane():
    X, y = synthetic.overlapping(n=200, seed=1)
    rows = Blocks(X, [70, 70, 60])
    with pytest.raises(NotSeparableError, match="hulls") as error:
        HardMarginSVM(memory="10MB").fit(rows, y)
    assert error.value.certificate.verify(X, y, exact=True)
    with pytest.raises(NotSeparableError):
        LinearSVM(C=np.inf, memory="10MB").fit(rows, y)
    certificate = separability(rows, y, memory="10MB")
    assert certificate.verdict is Verdict.NOT_SEPARABLE
    assert len(certificate.rows) <= 4
    assert certificate.verify(X, y, exact=True)
    assert "was not looked for" in certificate.report()


def test_the_plane_between_the_means_where_none_separates():
    X, y = synthetic.overlapping(n=200, seed=1)
    svm = HardMarginSVM(memory="10MB", on_inseparable="return").fit(Blocks(X, [70, 70, 60]), y)
    means = X[y > 0].mean(axis=0), X[y < 0].mean(axis=0)
    normal = means[0] - means[1]
    np.testing.assert_allclose(svm.coef_[0] / np.linalg.norm(svm.coef_), normal / np.linalg.norm(normal))
    np.testing.assert_allclose(svm.decision_function([(means[0] + means[1]) / 2]), 0.0, atol=1e-12)
    assert svm.certificate_.verdict is Verdict.NOT_SEPARABLE
    assert svm.certificate_.margin_lower < 0.0
    assert svm.certificate_.verify(X, y, exact=True)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"norm": "l1"}, 'norm="l1" is a linear program of all rows'),
        ({"normalize_rows": True}, "normalize_rows=True has the rows in memory"),
        ({"solver": "coordinate_descent"}, 'solver="coordinate_descent" has the rows in memory'),
        ({"memory": "2kB"}, "memory=2kB is too little"),
        ({"memory": "much"}, "memory must be"),
    ],
)
def test_what_is_not_done_by_blocks_is_refused_in_a_sentence(parameters, words):
    X, y, _ = synthetic.separable_gaussians(n=60, d=2, margin=0.3, seed=2)
    with pytest.raises(ValueError, match=words):
        HardMarginSVM(**({"memory": "10MB"} | parameters)).fit(Blocks(X, [30, 30]), y)


def test_what_is_not_a_number_is_named():
    X, y, _ = synthetic.separable_gaussians(n=60, d=2, margin=0.3, seed=2)
    X[45, 1] = np.nan
    with pytest.raises(ValueError, match=r"block 1.*row 15.*column 1"):
        HardMarginSVM(memory="10MB").fit(Blocks(X, [30, 30]), y)


def test_no_time():
    X, y, _ = synthetic.separable_gaussians(n=60, d=2, margin=0.3, seed=2)
    with pytest.warns(match="ended early"):
        svm = HardMarginSVM(memory="10MB", max_time=1e-9).fit(Blocks(X, [30, 30]), y)
    assert svm.status_ is Status.TIME
    assert svm.certificate_.verdict is Verdict.STOPPED
    assert svm.certificate_.verify(X, y)


class Killed(Exception):
    pass


@pytest.mark.parametrize("left", [3, 8, 13])
def test_a_killed_fit_goes_on_with_the_same_bits(tmp_path, left):
    X, y, _ = synthetic.separable_gaussians(n=300, d=3, margin=0.05, seed=7)
    path, whole = tmp_path / "run.checkpoint", Blocks(X, [60] * 5)
    known = fit_with_checkpoints(HardMarginSVM(memory="3MB"), whole, y, path=path, every=0.0)
    mortal = Blocks(X, [60] * 5)
    mortal.last = whole.read - left
    with pytest.raises(Killed):
        fit_with_checkpoints(HardMarginSVM(memory="3MB"), mortal, y, path=path, every=0.0)
    found = fit_with_checkpoints(HardMarginSVM(memory="3MB"), Blocks(X, [60] * 5), y, path=path, resume=True)
    assert found.certificate_.to_json() == known.certificate_.to_json()
