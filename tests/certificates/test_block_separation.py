"""Planes and separations of rows that are read block by block: as in memory, to the last bit, and nothing is believed
that the blocks do not prove."""

import dataclasses
import math

import numpy as np
import pytest
import scipy.sparse as sparse
from labelled_rows import by_blocks, two_classes

from maxmargin.certificates.block_planes import (
    Asked,
    Below,
    BlockPlane,
    FirstBelow,
    Nearest,
    RawRows,
    code_of,
    halfway_bias,
    longest_of,
    no_margin,
    once,
    seen_plane,
)
from maxmargin.certificates.block_separation import BlockClaim, certify_by_blocks
from maxmargin.certificates.certificate import certify
from maxmargin.certificates.measure import Claim, plane_margin, scaled_plane
from maxmargin.certificates.proof import TheoremBound, Verdict
from maxmargin.certificates.separation import refused_by_blocks
from maxmargin.data.executor import pass_over
from maxmargin.problems.block_margin import ListedRows

FORMS = pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_array], ids=["float64", "float32", "csr"])
CUTS = pytest.mark.parametrize("edges", [[0, 8], [0, 3, 3, 4, 8], [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]])
# Two classes with the nearest rows 2 and 5, and rows 3 and 6 of a third class.
X = np.array([[4.0, 1.0], [5.0, -2.0], [2.0, 0.5], [9.0, 9.0], [-3.0, 1.0], [-1.0, 0.25], [0.0, 7.0], [-6.0, -1.0]])
Y = np.array([1, 1, 1, 2, 0, 0, 2, 0])
OF_BOTH = np.flatnonzero(Y != 2)
SIGNS = np.where(Y == 1, 1.0, -1.0)[OF_BOTH]
W, B = np.array([2.0, 0.5]), -0.75


def look(table, problem, w=W, b=B, norm="l2", listed=None):
    """What a pass sees of a plane, and the margin that follows."""
    plane = scaled_plane(w, b, norm)
    seen = pass_over(Asked(problem, Nearest(plane.w)), table, (listed or ListedRows.nobody()).by_block())
    return seen, seen_plane(seen, plane, table.seen.is_sparse)


def listed(table, rows):
    return ListedRows(table.ids_of(np.asarray(rows)), np.ones(len(rows)))


@FORMS
@CUTS
@pytest.mark.parametrize("norm", ["l2", "l1"])
@pytest.mark.parametrize("b", [B, 0.75])
def test_a_plane_has_the_margin_of_rows_in_memory(form, edges, norm, b):
    table = by_blocks(form(X), Y, edges)
    seen, found = look(table, two_classes(table), b=b, norm=norm)
    known = plane_margin(form(X[OF_BOTH]), SIGNS, W, b, norm)
    assert (found.value, found.lower) == (known.value, known.lower)
    assert table.rows_of(found.nearest.ids).tolist() == [OF_BOTH[known.row]]
    assert (seen.largest, seen.terms) == (6.0, 2)
    rows = once(look(table, two_classes(table), listed=listed(table, OF_BOTH))[0].listed)
    here = found.on(rows)
    assert (here.row, here.value, here.lower, here.b) == (known.row, known.value, known.lower, known.b)
    assert here.distances.tolist() == known.distances.tolist()
    assert here.w.tolist() == known.w.tolist()


@FORMS
@CUTS
def test_listed_rows_come_as_they_stand_in_the_table(form, edges):
    """Row 3 is of a third class and row 8 is not there: nobody brings them."""
    table = by_blocks(form(X), Y, edges)
    seen, _ = look(table, two_classes(table), listed=listed(table, [1, 3, 4, 8]))
    assert table.rows_of(seen.listed.ids).tolist() == [1, 4]
    brought = seen.listed.X.toarray() if sparse.issparse(seen.listed.X) else seen.listed.X
    assert brought.tolist() == X[[1, 4]].tolist()
    assert brought.dtype == form(X).dtype
    assert seen.listed.signs.tolist() == [1.0, -1.0]
    assert not len(look(table, two_classes(table))[0].listed.ids)


def test_of_rows_that_are_equally_near_the_first_is_named_and_rows_stand_once():
    table = by_blocks(np.array([[3.0], [1.0], [1.0], [-5.0], [1.0]]), np.array([1, 1, 1, 0, 1]), [0, 2, 5])
    seen, _ = look(table, two_classes(table), np.array([1.0]), 0.0)
    assert table.rows_of(seen.plus.row.ids).tolist() == [1]
    rows = once(seen.plus.row.and_of(seen.minus.row).and_of(seen.plus.row))
    assert (table.rows_of(rows.ids).tolist(), rows.signs.tolist()) == ([1, 3], [1.0, -1.0])


def test_the_bias_halfway():
    table = by_blocks(X, Y, [0, 3, 8])
    seen, _ = look(table, two_classes(table), W, 0.0)
    assert seen.plus.value - seen.minus.value == (4.25 - 1.875) / 16.0  # 2 w of rows 2 and 5, as w is scaled
    assert halfway_bias(seen) == 0.5 * (seen.minus.value - seen.plus.value)
    assert halfway_bias(seen._replace(minus=seen.minus._replace(value=math.inf))) == 0.0


def test_no_margin_where_float64_cannot_tell():
    table = by_blocks(X, Y, [0, 3, 8])
    seen, _ = look(table, two_classes(table))
    plane = scaled_plane(W, B, "l2")
    nobody = seen.plus._replace(value=math.inf)
    assert seen_plane(seen._replace(plus=nobody, minus=nobody), plane, False) is None
    assert seen_plane(seen._replace(largest=math.inf), plane, False) is None
    assert seen_plane(seen._replace(largest=math.inf, longest=1.0), plane, True) is not None
    nothing = no_margin(seen.plus.row, 2)
    assert (nothing.value, nothing.lower, nothing.row) == (-math.inf, -math.inf, -1)
    assert np.isnan(nothing.w).tolist() == [True, True]
    without = BlockPlane(plane, 1.0, 1.0, RawRows(np.zeros(0, dtype=np.uint64), X[:0], SIGNS[:0]))
    assert without.on(seen.plus.row).row == -1


@CUTS
def test_the_first_row_below_a_bound_exactly(edges):
    """Along the first column all rows are at least 1 away; row 5 is the nearest, and row 2 at 2."""
    table = by_blocks(X, Y, edges)
    problem = two_classes(table)

    def first(bound, w=(1.0, 0.0), b=None, norm="l2"):
        found = pass_over(Asked(problem, FirstBelow(np.array(w), b, bound, norm)), table)
        return (
            None if found.row is None else int(table.rows_of(np.array([found.row], dtype=np.uint64))[0]),
            found.holds,
        )

    assert first(1.0) == (None, True)
    assert first(math.nextafter(1.0, 2.0)) == (5, False)
    assert first(2.5) == (2, False)
    assert first(1.5, b=-0.5) == (None, True)
    assert first(1.5, b=-0.25) == (5, False)
    for nonsense in ((math.nan, 0.0), (math.inf, 0.0), (0.0, 0.0)):
        assert first(1.0, nonsense) == (None, False)
    assert Below(None, True).and_of(Below(3, False)) == Below(3, False)
    assert Below(3, False).and_of(Below(None, True)) == Below(3, False)


def certified(table, w=W, b=B, rows=(2, 5), shares=(1.0, 1.0), tol=0.5, norm="l2", **claim):
    problem = two_classes(table)
    own = ListedRows(table.ids_of(np.array(rows)), np.array(shares))
    seen, plane = look(table, problem, w, b, norm, own) if w.any() else (None, None)
    if seen is None:
        seen = pass_over(Asked(problem, Nearest(w)), table, own.by_block())
    return certify_by_blocks(table, problem, BlockClaim(w, b, own, **claim), plane, seen.listed, tol, norm)


@FORMS
@CUTS
@pytest.mark.parametrize("norm", ["l2", "l1"])
def test_a_certificate_is_that_of_rows_in_memory(form, edges, norm):
    found = certified(by_blocks(form(X), Y, edges), norm=norm)
    claim = Claim(W, B, np.array([2, 4]), np.ones(2))
    rows = form(X[OF_BOTH])
    known = certify(rows, SIGNS, claim, norm=norm, fit_intercept=True, tol=0.5, positive=1, negative=0)
    assert found.verdict is known.verdict is Verdict.OPTIMAL
    for name in ("margin_lower", "margin_upper", "primal", "dual", "n_rows", "n_columns", "positive", "negative"):
        assert getattr(found, name) == getattr(known, name)
    assert (found.rows.tolist(), OF_BOTH[known.rows].tolist()) == ([2, 5], [2, 5])
    assert found.kkt.primal.row == OF_BOTH[known.kkt.primal.row]
    assert found.kkt.slackness.value == known.kkt.slackness.value


def test_rows_with_weight_must_have_been_read_in_their_order():
    table = by_blocks(X, Y, [0, 3, 8])
    problem, own = two_classes(table), listed(table, [2, 5])
    seen, plane = look(table, problem, listed=own)
    first = RawRows(seen.listed.ids[:1], seen.listed.X[:1], seen.listed.signs[:1])
    backwards = ListedRows(own.ids[::-1], own.shares)
    for claimed, rows in ((own, first), (backwards, seen.listed)):
        with pytest.raises(ValueError, match="was not read, or not in the order of its id"):
            certify_by_blocks(
                table, problem, BlockClaim(W, B, claimed), plane if rows is not first else None, rows, 0.5
            )


def test_a_witness_of_blocks():
    rows, y = np.array([[0.0, 0.0], [4.0, 4.0], [0.0, 4.0], [4.0, 0.0], [9.0, 9.0]]), np.array([1, 1, 0, 0, 1])
    table = by_blocks(rows, y, [0, 1, 3, 5])
    found = certified(table, np.zeros(2), 0.0, rows=(0, 1, 2, 3), shares=(0.5, 0.5, 0.5, 0.5), hulls_meet=True)
    assert (found.verdict, found.margin_upper, found.rows.tolist()) == (Verdict.NOT_SEPARABLE, 0.0, [0, 1, 2, 3])
    assert list(refused_by_blocks(found, table, False)) == list(refused_by_blocks(found, table, True)) == []
    on_a_line, of_it = np.array([[0.0, 0.0], [0.0, 2.0], [0.0, 1.0], [1.0, 0.0]]), np.array([1, 1, 0, 1])
    line = by_blocks(on_a_line, of_it, [0, 4])  # which a plane separates weakly: that is not decided by blocks
    weakly = certified(line, np.array([1.0, 0.0]), 0.0, rows=(0, 1, 2, 3), shares=(0.5, 0.5, 1.0, 0.0), hulls_meet=True)
    assert (weakly.verdict, weakly.rows_off_plane) == (Verdict.NOT_SEPARABLE, None)
    rows[3] = -4.0, 8.0
    for exactly in (False, True):
        (words,) = refused_by_blocks(found, by_blocks(rows, y, [0, 1, 3, 5]), exactly)
        assert words.startswith("the witness does not hold")


@FORMS
@CUTS
def test_what_is_true_is_accepted_and_an_ulp_more_is_refused(form, edges):
    """Along the first column the nearest rows are at 2 and -1: the street of b = -1/2 has the margin 3/2 exactly."""
    table = by_blocks(form(X), Y, edges)
    true = certified(table, np.array([1.0, 0.0]), -0.5)
    assert list(refused_by_blocks(true, table, False)) == list(refused_by_blocks(true, table, True)) == []
    edge = dataclasses.replace(true, margin_lower=1.5, primal=0.5 / 1.5 / 1.5)
    for exactly in (False, True):
        assert list(refused_by_blocks(edge, table, exactly)) == []
    beyond = math.nextafter(1.5, 2.0)
    forged = dataclasses.replace(true, margin_lower=beyond, primal=0.5 / beyond / beyond)
    for exactly in (False, True):
        (words,) = refused_by_blocks(forged, table, exactly)
        assert words.endswith(f"the margin of row 2 is below {beyond!r}")


def test_each_refusal_has_its_sentence():
    table = by_blocks(X, Y, [0, 3, 8])
    true = certified(table)

    def said(known=table, **changes):
        return list(refused_by_blocks(dataclasses.replace(true, **changes), known, False))

    assert said() == []
    weakly = "whether a plane separates weakly is not decided by blocks: give the rows in memory"
    assert said(verdict=Verdict.WEAKLY_SEPARABLE, margin_upper=0.0, margin_lower=-1.0, dual=math.inf, kkt=None) == [
        weakly
    ]
    assert said(positive=7) == ["the table has no label 7"]
    assert said(negative="no") == ["the table has no label 'no'"]
    sizes = "the certificate is about 6 rows x 2 columns, these data have"
    assert said(by_blocks(X[1:], Y[1:], [0, 7])) == [f"{sizes} 5 x 2"]
    assert said(by_blocks(X[:, :1], Y, [0, 8])) == [f"{sizes} 6 x 1"]
    assert said(negative=None, n_rows=6) == [f"{sizes} 8 x 2"]
    (words,) = said(theorems=(TheoremBound("Novikov: mistakes <= R^2/g^2", 9.0, 3.0),))
    assert words == "theorems about a table that is read by blocks are not checked: give its rows in memory"
    assert len(said(weights=np.array([1.0, -1.0]))) == 1  # no claim at all: nothing is measured
    assert said(by_blocks(-X, Y, [0, 8])) != []


def test_labels_are_found_by_what_they_are():
    table = by_blocks(X, Y, [0, 3, 8])
    assert [code_of(table, label) for label in (0, 1, 2, 3, "1", None)] == [0, 1, 2, None, None, None]


@pytest.mark.parametrize("size", [1e-200, 1.0, 2.0**520])
def test_the_longest_sparse_row_whatever_the_size_of_its_numbers(size):
    rows = sparse.csr_array(np.array([[3.0, 4.0], [0.0, 1.0]]) * size)
    assert longest_of(rows, 4.0 * size) == pytest.approx(5.0 * size, rel=1e-15)
    assert longest_of(rows.toarray(), 4.0 * size) == 0.0
