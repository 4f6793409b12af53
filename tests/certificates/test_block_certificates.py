"""A certificate by blocks: honest ones hold, in any form of the same table; a table that changed is noticed."""

import dataclasses
import math
import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from block_certificates import HEIGHTS, certified, of_many_classes, rows_of
from block_margin_oracle import Pieces

from maxmargin import MulticlassCertificate
from maxmargin.certificates import block_duality, block_verification
from maxmargin.certificates.block_margin import BlockMarginCertificate
from maxmargin.certificates.claimed_blocks import ClaimedBlocks
from maxmargin.certificates.soft_margin import SoftVerdict
from maxmargin.data.checking import is_source

X, Y = rows_of()
LOSSES = ["hinge", "squared_hinge", "huber_hinge", "modified_huber"]


class Read(Pieces):
    """What stays where it is: X is itself, and y is a column of it."""

    def __init__(self, *args):
        super().__init__(*args)
        self.rows, self.reads = self, 0

    def block(self, k):
        return self.labelled_block(k).X

    def labelled_block(self, k):
        self.reads += 1
        return super().labelled_block(k)


class Column:
    def __init__(self, rows):
        self.rows = rows

    def block(self, k):
        return self.rows.labelled_block(k).labels


@pytest.fixture(scope="module")
def hinge():
    return certified(X, Y)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_an_honest_one_holds(loss, bias, exact):
    random = np.random.default_rng(3)
    weights = random.choice([0.0, 0.5, 2.0], 60, p=[0.1, 0.4, 0.5])
    c = certified(X, Y, loss=loss, fit_intercept=bias, class_weight={"no": 2.0}, sample_weight=weights)
    assert c.verdict is SoftVerdict.OPTIMAL
    answer = c.verify(X, Y, sample_weight=weights, exact=exact)
    assert answer, answer
    assert "the least objective lies between" in str(answer)
    assert c.n_rows == np.count_nonzero(weights)
    assert not c.verify(X, Y, exact=exact)


@pytest.mark.parametrize("width", [1e-9, 1e-4, 0.1])
def test_a_rule_with_a_width_is_the_same_in_fractions(width):
    c = certified(X, Y, width=width, tol=0.5)
    assert c.rule_width == width
    for exact in (False, True):
        answer = c.verify(X, Y, exact=exact)
        assert answer, answer
        assert not dataclasses.replace(c, dual=c.dual * (1 + 1e-11)).verify(X, Y, exact=exact)
        assert not dataclasses.replace(c, rule_width=1.1 * width).verify(X, Y, exact=exact)  # farther from the optimum


def test_the_width_of_the_huber_hinge():
    c = certified(X, Y, loss="huber_hinge", huber_width=0.25)
    assert (c.huber_width, c.verdict) == (0.25, SoftVerdict.OPTIMAL)
    assert c.verify(X, Y)
    assert not dataclasses.replace(c, huber_width=0.5).verify(X, Y)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_array, np.ndarray.tolist])
def test_any_form_of_the_same_table_will_do(hinge, form):
    assert hinge.verify(form(X), Y)


def test_both_zeros_are_the_same_number():
    zeros = np.where(np.abs(X) < 0.3, -0.0, X)
    c = certified(zeros, Y)
    assert c.verify(zeros + 0.0, Y)
    assert c.verify(sparse.csr_array(zeros), Y)


def test_float32_is_a_table_of_its_own():
    narrow = X.astype(np.float32)
    c = certified(narrow, Y)
    assert c.verify(narrow, Y)
    assert c.verify(narrow.astype(np.float64), Y)
    assert not c.verify(X, Y)


def test_rows_that_stay_where_they_are_are_read_once(hinge):
    read = Read(X, Y, HEIGHTS)
    answer = hinge.verify(read, Column(read))
    assert answer, answer
    assert read.reads == len(HEIGHTS)
    labels_beside = Read(X, Y, HEIGHTS)
    assert hinge.verify(labels_beside, Y)


def test_many_planes_are_checked_in_one_read():
    X, y = rows_of(classes=(0, 1, 2))
    for pairs in (False, True):
        c = of_many_classes(X, y, pairs=pairs)
        assert len(c) == 3
        read = Read(X, y, HEIGHTS)
        answer = c.verify(read, Column(read))
        assert answer, answer
        assert read.reads == len(HEIGHTS)
        assert c.verify(X, y, exact=True)
        assert MulticlassCertificate.from_json(c.to_json()).verify(X, y)


def test_parts_that_are_missing_or_false_or_of_other_blocks_are_named():
    X, y = rows_of(classes=(0, 1, 2))
    c = of_many_classes(X, y)
    assert "there are rows with the label 2" in str(MulticlassCertificate(c.parts[:2]).verify(X, y))
    false = dataclasses.replace(c[1], dual=c[1].primal)
    answer = MulticlassCertificate((c[0], false, c[2])).verify(X, y)
    assert len(answer.reasons) == 1
    assert answer.reasons[0].startswith("[1 against the rest]: the weights prove a lower bound of")
    none = dataclasses.replace(c[1], shares=2.0 + c[1].shares)
    answer = MulticlassCertificate((c[0], none, c[2])).verify(X, y)
    assert answer.reasons[0] == "[0 against the rest]: it was not measured, because another part is no claim"
    assert "not between 0 and 1" in answer.reasons[1]
    other = of_many_classes(X, y, [60])
    assert "must be about the same blocks" in str(MulticlassCertificate((c[0], c[1], other[2])).verify(X, y))


# ----------------------------------------------------------------------------------------------- the table changed


def test_a_number_a_label_or_a_weight_that_changed_is_noticed(hinge):
    far = int(np.argmax(np.where(Y == "yes", 1, -1) * (X @ hinge.w + hinge.b)))  # pays nothing, weighs nothing
    other = X.copy()
    other[far, 0] = np.nextafter(other[far, 0], 9.0)
    answer = hinge.verify(other, Y)
    assert [reason[:15] for reason in answer.reasons] == ["the fingerprint"]
    assert not hinge.verify(X, np.where(np.arange(60) == far, "no" if Y[far] == "yes" else "yes", Y))
    assert not hinge.verify(X[::-1], Y[::-1])
    assert not hinge.verify(X, Y, sample_weight=np.where(np.arange(60) == far, 2.0, 1.0))
    assert not hinge.verify(X[:, ::-1], Y)


@pytest.mark.parametrize("heights", [[60], [13, 0, 29, 2, 16], [13, 30, 0, 1, 16], [1] * 60])
@pytest.mark.parametrize("exact", [False, True])
def test_other_row_groups_are_cut_as_the_certificate_says(hinge, heights, exact):
    """The rows are the same in their order: nothing else is asked."""
    read = Read(X, Y, heights)
    answer = hinge.verify(read, Column(read), exact=exact)
    assert answer, answer
    assert hinge.verify(Read(X, Y, heights), Y)
    order = np.arange(60)
    order[[20, 21]] = order[[21, 20]]
    assert "the fingerprint" in str(hinge.verify(Read(X[order], Y[order], heights), Y[order]))


def test_other_row_groups_need_memory_for_the_blocks_of_the_certificate(hinge):
    read = Read(X, Y, [10] * 6)
    read.memory = 8 * 30 * 24 - 1
    assert "blocks of up to 30 rows, and 8 of them must fit into the memory of 0.00576 MB: allow 1 MB" in str(
        hinge.verify(read, Y)
    )
    read.memory += 1
    assert hinge.verify(read, Y)


def test_other_sizes_are_refused_in_a_sentence(hinge):
    assert "a table of 60 rows, these data have 59" in str(hinge.verify(X[:-1], Y[:-1]))
    assert "a table of 60 rows, these data have 59" in str(hinge.verify(Read(X[:-1], Y[:-1], [29, 30]), Y[:-1]))
    assert "about 3 columns, these data have 2" in str(hinge.verify(X[:, :2], Y))
    assert "about 3 columns, these data have 2" in str(hinge.verify(Read(X[:, :2], Y, HEIGHTS), Y))
    assert "59" in str(hinge.verify(X, Y[:-1]))


def test_labels_are_those_of_the_table():
    numbers = np.where(Y == "yes", 1, 0)
    c = certified(X, numbers)
    assert c.verify(X, numbers)
    assert c.verify(X, numbers.astype(float))
    assert not c.verify(X, numbers.astype(str))

    class Written(Read):
        """As text, which means numbers."""

        def labelled_block(self, k):
            rows = super().labelled_block(k)
            return rows._replace(labels=rows.labels.astype(str))

        def meant(self, labels):
            return labels.astype(float) if self.are_numbers else labels

    for are_numbers in (True, False):
        read = Written(X, numbers, HEIGHTS)
        read.are_numbers = are_numbers
        assert bool(c.verify(read, Column(read))) is are_numbers
        assert (read.reads == len(HEIGHTS)) is are_numbers  # which was guessed
    plain = ClaimedBlocks(Pieces(X, numbers, HEIGHTS), (1, 0), np.array(HEIGHTS))  # which says nothing about meaning
    assert plain.meant({1: 0, 0: 1, 7: 2}) == {1: 0, 0: 1, 7: 2}
    assert plain.meant({}) == {}


# ------------------------------------------------------------------------------------------------ rounding, forms


@pytest.mark.skipif(not block_duality.LONGER, reason="this machine has no long doubles")
def test_a_bound_in_doubt_is_measured_closely(monkeypatch):
    """Columns far from zero: float64 alone cannot confirm what long doubles have measured."""
    shifted, looks = X + 3e5, []
    coarse = certified(shifted, Y, C=0.1)
    gap = (coarse.primal - coarse.dual) / coarse.primal
    fine = certified(shifted, Y, C=0.1, matters=0.5 * gap, tol=0.5 * gap)
    assert fine.relative_gap < 0.5 * gap < coarse.relative_gap
    measured = block_verification.Together.measured

    def counted(self, *, closely):
        looks.append(closely)
        return measured(self, closely=closely)

    monkeypatch.setattr(block_verification.Together, "measured", counted)
    assert coarse.verify(shifted, Y)
    assert looks == [False]
    assert fine.verify(shifted, Y)
    assert looks == [False, False, True]
    for change in ({"primal": fine.primal * (1 - gap)}, {"dual": fine.dual * (1 + gap)}):
        assert not dataclasses.replace(fine, **change).verify(shifted, Y)
        assert not dataclasses.replace(fine, **change).verify(shifted, Y, exact=True)
    assert fine.verify(shifted, Y, exact=True)


def test_it_is_written_to_json_and_read_again(hinge):
    again = BlockMarginCertificate.from_json(hinge.to_json())
    assert again.to_json() == hinge.to_json()
    assert again.verify(X, Y)
    with pytest.raises(ValueError, match=r"missing \['heights'\]"):
        BlockMarginCertificate.from_dict({k: v for k, v in hinge.to_dict().items() if k != "heights"})
    with pytest.raises(ValueError, match="not a certificate"):
        BlockMarginCertificate.from_dict(hinge.to_dict() | {"rows": ["a"]})


def test_it_is_printed(hinge):
    report = hinge.report()
    assert "5 blocks of rows, fingerprint " + hinge.fingerprint in report
    assert f"by a rule at a plane of its own; {len(hinge.rows)} rows are listed" in report
    assert f"{len(hinge.rows)} of 60 rows listed, the others by a rule" in repr(hinge)
    assert "least objective between" in hinge._repr_html_()
    with pytest.raises(TypeError, match=r"ask \.is_optimal"):
        bool(hinge)
    with pytest.raises(AttributeError, match="`told` has the rule"):
        _ = hinge.weights
    with pytest.raises(AttributeError, match="no attribute 'kernel'"):
        _ = hinge.kernel
    again = pickle.loads(pickle.dumps(hinge))
    assert again.to_json() == hinge.to_json()


def test_arrays_of_dask_are_tables_of_their_chunks(hinge):
    array = pytest.importorskip("dask.array")
    heights = tuple(HEIGHTS)
    rows, labels = array.from_array(X, chunks=(heights, -1)), array.from_array(Y, chunks=(heights,))
    answer = hinge.verify(rows, labels)
    assert answer, answer
    if is_source(rows):  # else they are brought into memory, and cut
        assert "partitions of X are others" in str(
            hinge.verify(rows.rechunk(((30, 30), -1)), labels.rechunk(((30, 30),)))
        )


def test_a_process_that_knows_the_name_alone_can_verify(hinge, tmp_path):
    """Whoever reads a certificate need not have fitted anything."""
    (tmp_path / "c.json").write_text(hinge.to_json())
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", Y)
    code = (
        "import numpy as np; from maxmargin import BlockMarginCertificate as C; "
        "assert C.from_json(open('c.json').read()).verify(np.load('X.npy'), np.load('y.npy'))"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


def test_fractions_decide_what_long_doubles_cannot_if_the_table_is_small(hinge, monkeypatch):
    """A dual bound that is true by less than any rounding error: between what is believed and what is refuted."""
    together = block_verification.Together
    blocks = block_verification.ClaimedBlocks(
        block_verification.source_of(X, Y, None, hinge.heights), ("yes", "no"), hinge.heights
    )
    _, dual = together([hinge], blocks).exactly()[0]
    edge = float(dual) if Fraction(float(dual)) <= dual else math.nextafter(float(dual), 0.0)
    true, false = (dataclasses.replace(hinge, dual=bound) for bound in (edge, math.nextafter(edge, math.inf)))
    assert true.verify(X, Y)
    assert not false.verify(X, Y)
    monkeypatch.setattr(block_verification, "NOT_MANY", 60 * 3)
    assert true.verify(X, Y)
    monkeypatch.setattr(block_verification, "NOT_MANY", 60 * 3 - 1)
    assert "the weights prove a lower bound" in str(true.verify(X, Y))
    assert true.verify(X, Y, exact=True)
