"""The hard margin of tables that are read by blocks: the same answers as in memory, with the same certificates."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sparse
from labelled_rows import by_blocks, two_classes

from maxmargin import HardMarginSVM, Verdict
from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.separation import refused_by_blocks
from maxmargin.data import synthetic
from maxmargin.problems.block_margin import Facts
from maxmargin.problems.protocol import restore, shown, snapshot
from maxmargin.solve.by_blocks import answers_of, side_by_side
from maxmargin.solve.separation_by_blocks import Separating


def verify_by_blocks(certificate, table, exact_arithmetic=False):
    return not tuple(refused_by_blocks(certificate, table, exact_arithmetic))


def separated(X, y, memory=1e6, fit_intercept=True, tol=1e-9, **cut):
    """The certificate, and the run."""
    table = by_blocks(X, y, **cut)
    problem = two_classes(table, fit_intercept=fit_intercept)
    run = Separating(table, problem, Facts.of(table, problem), tol, memory)
    (certificate,) = side_by_side(table, [problem], [run.led()])
    return certificate, run


def misleading(n=3000, d=6, shells=6):
    """A sample sees a wide street: few rows, far away, are where it is narrow, and turn it; those that are farther away
    turn it again. The plane through the origin along (1, ..., 1) separates all rows by 1."""
    random = np.random.default_rng(0)
    y = np.where(random.random(n) < 0.5, 1, 0)
    normal = np.full(d, d**-0.5)
    along = random.normal(size=(n, d))
    along -= (along @ normal)[:, None] * normal
    distance = 3.0 + random.random(n)
    for shell in range(shells):
        rows = np.arange(20 * shell, 20 * (shell + 1))
        along[rows] *= 3.0**shell
        distance[rows] = 2.0 - shell / shells
    X = along + (np.where(y == 1, 1.0, -1.0) * distance)[:, None] * normal
    order = random.permutation(n)
    return X[order], y[order]


def assert_same(certificate, X, y, run, fit_intercept=True):
    """As in memory, within what is proven; and true, by blocks and in memory, in float64 and in fractions."""
    known = HardMarginSVM(fit_intercept=fit_intercept).fit(X, y).certificate_
    assert certificate.verdict is known.verdict is Verdict.OPTIMAL
    assert certificate.margin_lower <= known.margin_upper
    assert known.margin_lower <= certificate.margin_upper
    for exact in (False, True):
        assert certificate.verify(X, y, exact=exact)
        assert verify_by_blocks(certificate, run.table, exact_arithmetic=exact)
        assert verify_by_blocks(known, run.table, exact_arithmetic=exact)


@pytest.mark.parametrize("form", ["dense", "sparse", "float32"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_street_is_that_of_the_rows_in_memory(form, fit_intercept):
    X, y, plane = synthetic.separable_gaussians(n=400, d=3, margin=0.2, seed=1)
    if not fit_intercept:
        X = X + plane.b * plane.w
    X = {"dense": X, "sparse": sparse.csr_array(X), "float32": X.astype(np.float32)}[form]
    certificate, run = separated(X, y, fit_intercept=fit_intercept)
    assert_same(certificate, X, y, run, fit_intercept)


def test_many_rounds_where_the_sample_misleads():
    X, y = misleading()
    passes = []
    for memory in (1e7, 1e3):
        certificate, run = separated(X, y, memory=memory)
        passes.append(run.passes)
        assert_same(certificate, X, y, run)
    assert passes[0] == 2  # the sample, which is everything, and one scan
    assert passes[1] >= 5


def test_little_memory_holds_few_rows():
    X, y = misleading()
    _, run = separated(X, y, memory=1e3)
    assert len(run.solver.ids) <= 8 * (X.shape[1] + 2) * 2


def test_one_row_on_the_wrong_side_among_many_is_found_and_proven():
    X, y = misleading()
    y[np.argmin(np.linalg.norm(X - X[y == 1].mean(axis=0), axis=1))] = 0
    certificate, run = separated(X, y, memory=1e3)
    assert certificate.verdict is Verdict.NOT_SEPARABLE
    assert len(certificate.rows) <= X.shape[1] + 2
    assert run.passes == 3  # the sample misses it, a scan finds it, the judge reads the witness
    for exact in (False, True):
        assert certificate.verify(X, y, exact=exact)
        assert verify_by_blocks(certificate, run.table, exact_arithmetic=exact)


def test_a_witness_in_the_sample_needs_no_scan():
    X, y = synthetic.overlapping(n=300, seed=3)
    certificate, run = separated(X, y)
    assert certificate.verdict is Verdict.NOT_SEPARABLE
    assert run.passes == 2
    assert certificate.verify(X, y, exact=True)


def test_equal_rows_of_both_classes_in_text():
    random = np.random.default_rng(5)
    X = sparse.random_array((900, 3500), density=0.004, rng=random, format="csr")
    y = np.arange(900) % 2
    X = sparse.vstack([X, X[:1]], format="csr")
    certificate, run = separated(X, np.append(y, 1 - y[0]), memory=1e5)
    assert certificate.verdict is Verdict.NOT_SEPARABLE
    assert certificate.rows.tolist() == [0, 900]
    assert verify_by_blocks(certificate, run.table, exact_arithmetic=True)


def test_text_with_more_columns_than_rows():
    random = np.random.default_rng(5)
    X = sparse.random_array((800, 3500), density=0.004, rng=random, format="csr", dtype=np.float32)
    y = np.arange(800) % 2
    certificate, run = separated(X, y, tol=1e-6)
    assert certificate.verdict is Verdict.OPTIMAL
    assert certificate.verify(X, y)
    assert verify_by_blocks(certificate, run.table)


def test_blocks_that_are_empty_uneven_or_of_one_class():
    X, y, _ = synthetic.separable_gaussians(n=200, d=2, margin=0.2, seed=2)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    negative = int(np.sum(y < 0))
    certificate, run = separated(X, y, edges=[0, 0, 1, negative, negative, negative + 3, 200, 200])
    assert_same(certificate, X, y, run)
    whole, _ = separated(X, y, edges=[0, 200])
    assert whole.rows.tolist() == certificate.rows.tolist()


def test_rows_of_weight_zero_are_not_part_of_it():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y, weights = np.array([0, 1, 0, 1]), np.array([1.0, 0.0, 1.0, 1.0])
    certificate, run = separated(X, y, edges=[0, 2, 4], weights=weights)
    assert certificate.n_rows == 3
    assert certificate.rows.tolist() == [2, 3]
    assert certificate.margin_lower == pytest.approx(0.5)
    assert verify_by_blocks(certificate, run.table, exact_arithmetic=True)
    assert certificate.verify(X, y, sample_weight=weights, exact=True)


@pytest.mark.parametrize("scale", [2.0**-700, 2.0**700])
def test_numbers_whose_squares_are_no_numbers(scale):
    X, y, _ = synthetic.separable_gaussians(n=100, d=2, margin=0.2, seed=2)
    certificate, run = separated(X * scale, y)
    assert certificate.verdict is Verdict.OPTIMAL
    assert certificate.verify(X * scale, y, exact=True)
    assert verify_by_blocks(certificate, run.table, exact_arithmetic=True)


def test_a_run_goes_on_from_its_state_with_the_same_bits():
    X, y = misleading()
    whole, _ = separated(X, y, memory=1e3)
    table = by_blocks(X, y)
    problem = two_classes(table)
    facts = Facts.of(table, problem)
    first = Separating(table, problem, facts, 1e-9, 1e3)
    run, answer = shown(first.led()), None
    for _ in range(3):
        (answer,) = answers_of(table, [problem], [run.send(answer)])
    run.send(answer)
    second = Separating(table, problem, facts, 1e-9, 1e3)
    restore(second, snapshot(first), table.n_rows)
    (certificate,) = side_by_side(table, [problem], [second.led()])
    assert certificate.to_json() == whole.to_json()
    assert second.passes > 4


def test_stopped_after_any_pass_it_proves_what_it_has_seen():
    X, y = misleading()
    table = by_blocks(X, y)
    problem = two_classes(table)
    run = Separating(table, problem, Facts.of(table, problem), 1e-9, 1e3)
    led, answer, uppers = shown(run.led()), None, []
    assert run.certificate(stopped=True).verdict is Verdict.STOPPED
    for _ in range(4):
        (answer,) = answers_of(table, [problem], [led.send(answer)])
        certificate = run.certificate(stopped=True)
        assert verify_by_blocks(certificate, table, exact_arithmetic=True)
        assert certificate.verify(X, y)
        uppers.append(certificate.margin_upper)
    assert uppers == sorted(uppers, reverse=True)
    assert uppers[-1] < uppers[1]


def forgeries(certificate: Certificate):
    """Changed in one place each."""
    more = np.nextafter(certificate.margin_upper, 1.0)
    yield "bounds in the wrong order", {"margin_lower": more * 1.1}
    yield "an upper bound that is too low", {"margin_upper": certificate.margin_upper * 0.999}
    yield "another row", {"rows": np.append(certificate.rows[:-1], 399)}
    yield "no such row", {"rows": np.append(certificate.rows[:-1], 10**6)}
    yield "a negative row", {"rows": np.append(certificate.rows[:-1], -1)}
    yield "a negative weight", {"weights": -certificate.weights}
    yield "another plane", {"w": certificate.w[::-1].copy()}
    yield "another bias", {"b": certificate.b + 0.01}
    yield "fewer rows", {"n_rows": certificate.n_rows - 1}
    yield "another label", {"positive": 7}
    yield "a plane of another length", {"w": np.append(certificate.w, 0.0)}
    kkt = dataclasses.replace(certificate.kkt, primal=dataclasses.replace(certificate.kkt.primal, row=5))
    yield "another nearest row", {"kkt": kkt}


X_FORGED, Y_FORGED, _ = synthetic.separable_gaussians(n=400, d=3, margin=0.2, seed=4)


def test_what_is_forged_is_refused_by_blocks_as_in_memory():
    certificate, run = separated(X_FORGED, Y_FORGED)
    names = []
    for name, change in forgeries(certificate):
        forged = dataclasses.replace(certificate, **change)
        assert not verify_by_blocks(forged, run.table), name
        assert not verify_by_blocks(forged, run.table, exact_arithmetic=True), name
        assert not forged.verify(X_FORGED, Y_FORGED), name
        names.append(name)
    assert len(names) == 12


def test_a_certificate_of_other_rows_is_refused():
    certificate, _ = separated(X_FORGED, Y_FORGED)
    moved = X_FORGED.copy()
    moved[certificate.rows[0]] *= 0.5
    assert not verify_by_blocks(certificate, by_blocks(moved, Y_FORGED))
    assert verify_by_blocks(certificate, by_blocks(X_FORGED, Y_FORGED, blocks=17))


def test_a_forged_witness_is_refused():
    X, y = synthetic.overlapping(n=300, seed=3)
    certificate, run = separated(X, y)
    others = np.setdiff1d(np.arange(300), certificate.rows)[: len(certificate.rows)]
    for change in ({"rows": others}, {"margin_upper": 0.5}, {"weights": certificate.weights[::-1] ** 2}):
        assert not verify_by_blocks(dataclasses.replace(certificate, **change), run.table)
