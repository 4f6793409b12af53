"""Many classes: one certificate for each two-class problem, asked and checked together."""

import dataclasses
import json
import math

import numpy as np
import pytest

from maxmargin import HardMarginSVM, LinearSVM, MulticlassCertificate, Perceptron, Verdict, Verification, separability
from maxmargin.certificates.words import rounded_up
from maxmargin.data import synthetic

# Three corners of a square, two rows each, and their names.
X = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 0.0], [6.0, 1.0], [0.0, 5.0], [1.0, 6.0]])
Y = np.array(["a", "a", "b", "b", "c", "c"])
both_strategies = pytest.mark.parametrize("strategy", ["ovr", "ovo"])
float64_and_exact = pytest.mark.parametrize("exact", [False, True])


def fitted(strategy="ovr"):
    return HardMarginSVM(multi_class=strategy).fit(X, Y).certificate_


def test_the_parts_are_in_the_order_of_the_planes():
    rest, pairs = fitted("ovr"), fitted("ovo")
    assert [(part.positive, part.negative) for part in rest] == [("a", None), ("b", None), ("c", None)]
    assert [(part.positive, part.negative) for part in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [part.n_rows for part in rest] == [6, 6, 6]
    assert [part.n_rows for part in pairs] == [4, 4, 4]
    assert len(rest) == 3
    assert rest[1] is rest.parts[1]
    planes = HardMarginSVM(multi_class="ovo").fit(X, Y)
    for plane, part in zip(planes.coef_, planes.certificate_, strict=True):
        assert np.allclose(plane / np.linalg.norm(plane), part.w / np.linalg.norm(part.w))


@both_strategies
@float64_and_exact
def test_all_parts_are_verified(strategy, exact):
    answer = fitted(strategy).verify(X, Y, exact=exact)
    assert answer
    assert answer.exact is exact
    assert len(answer.reasons) == 3
    assert "['a' against " in str(answer)


@both_strategies
@float64_and_exact
@pytest.mark.parametrize("culprit", [0, 1, 2])
def test_the_reasons_name_the_part_that_fails(strategy, exact, culprit):
    certificate = fitted(strategy)
    parts = list(certificate)
    parts[culprit] = dataclasses.replace(parts[culprit], margin_lower=9.0, primal=0.5 / 81.0)
    answer = MulticlassCertificate(tuple(parts)).verify(X, Y, exact=exact)
    assert not answer
    other = "the rest" if strategy == "ovr" else repr(parts[culprit].negative)
    for reason in answer.reasons:
        assert reason.startswith(f"[{parts[culprit].positive!r} against {other}]: ")
    assert any("the plane's margin is" in reason for reason in answer.reasons)


@both_strategies
def test_stale_data_fail_in_the_parts_that_they_concern(strategy):
    moved = X.copy()
    moved[5] = [2.0, 0.5]
    answer = fitted(strategy).verify(moved, Y)
    assert not answer
    assert all("'c'" in reason or "the rest" in reason for reason in answer.reasons)


@both_strategies
def test_json_and_back(strategy):
    certificate = fitted(strategy)
    text = certificate.to_json()
    assert "\n" not in text
    for copy in (MulticlassCertificate.from_json(text), MulticlassCertificate.from_dict(certificate.to_dict())):
        assert copy.to_json() == text
        assert copy.to_dict() == certificate.to_dict()
        assert copy.verify(X, Y, exact=True)
        assert copy.report() == certificate.report()
    assert list(json.loads(text)) == ["parts"]


def test_json_holds_what_json_cannot():
    table, y = np.vstack([synthetic.xor()[0], [[5.0, 5.0]]]), np.array([0, 0, 1, 1, 2])
    certificate = separability(table, y)
    assert any(math.isinf(part.primal) for part in certificate)
    copy = MulticlassCertificate.from_json(certificate.to_json())
    assert copy.to_json() == certificate.to_json()
    assert [part.primal for part in copy] == [part.primal for part in certificate]
    assert copy.verify(table, y, exact=True)


def test_labels_keep_their_types():
    for labels in (Y, np.array([3, 3, 1, 1, 2, 2]), np.array([3.0, 3.0, 1.0, 1.0, 2.0, 2.0]), Y.astype(object)):
        certificate = HardMarginSVM(multi_class="ovo").fit(X, labels).certificate_
        copy = MulticlassCertificate.from_json(certificate.to_json())
        for part in copy:
            assert type(part.positive) in (str, int, float)
            assert part.positive in labels.tolist()
        assert copy.verify(X, labels)


def test_is_separable_asks_all_parts():
    assert fitted().is_separable is True
    overlapping, y = synthetic.flowers(60)
    assert separability(overlapping, y).is_separable is False
    assert separability(overlapping, y, multi_class="ovo").is_separable is False
    parts = fitted().parts
    unsure = dataclasses.replace(parts[0], verdict=Verdict.STOPPED)
    assert MulticlassCertificate((unsure, parts[1])).is_separable is None
    never = dataclasses.replace(parts[0], verdict=Verdict.NOT_SEPARABLE)
    assert MulticlassCertificate((unsure, never)).is_separable is False


def test_relative_gap_is_the_largest_or_nan():
    certificate = fitted()
    assert certificate.relative_gap == max(part.relative_gap for part in certificate)
    never = dataclasses.replace(certificate[0], margin_upper=0.0)
    for parts in ((never, certificate[1]), (certificate[1], never)):
        assert math.isnan(MulticlassCertificate(parts).relative_gap)


def test_the_report_has_a_heading_for_each_part():
    report = fitted("ovo").report()
    headings = [line for line in report.splitlines() if line.startswith("[")]
    assert headings == ["['a' against 'b']", "['a' against 'c']", "['b' against 'c']"]
    assert report.count("The widest street") == 3
    assert str(fitted("ovo")) == report


def of_many(count, changes):
    """Two planes in turn, some of them changed."""
    parts = [(fitted()[0], fitted()[1])[k % 2] for k in range(count)]
    for k, change in changes.items():
        parts[k] = dataclasses.replace(parts[k], **change)
    return MulticlassCertificate(tuple(parts))


STOPPED = {"verdict": Verdict.STOPPED, "margin_lower": 0.5}
NONE = {"verdict": Verdict.NOT_SEPARABLE, "margin_lower": -1.0, "margin_upper": 0.0}


def test_of_very_many_parts_the_report_says_what_holds_for_all_and_shows_the_worst():
    assert of_many(12, {3: STOPPED}).report().count("  problem: ") == 12
    certificate = of_many(1226, {700: {"margin_upper": 7.0}, 800: STOPPED, 900: {"margin_upper": 8.0}, 1000: NONE})
    gap = max(part.relative_gap for part in certificate if part.verdict is not Verdict.NOT_SEPARABLE)
    for one in (certificate, certificate.slim()):
        report, lines = str(one), str(one).splitlines()
        assert lines[:7] == [
            "1,226 problems, of which each has a certificate of its own",
            f"  1,224 times: {Verdict.OPTIMAL.value}",
            f"  1 time: {Verdict.STOPPED.value}",
            f"  1 time: {Verdict.NOT_SEPARABLE.value}",
            "  each best margin: between 0.5 and 8",
            f"  relative gaps: at most {rounded_up(gap, 2)}; 1 have none",
            "The 3 of which least is proven; print(certificate[k]) shows number k, from 0:",
        ]
        headings = [line for line in lines if "[" in line and "]" in line and "against" in line and ":" in line]
        assert [int(line.partition(":")[0]) for line in headings if line[0].isdigit()] == [1000, 800, 900]
        assert str(one[1000]) in report
        assert len(lines) < 60


def test_a_part_without_a_plane_has_no_bound_among_the_others():
    lines = of_many(13, dict.fromkeys(range(13), NONE)).report().splitlines()
    assert lines[1:3] == [
        f"  13 times: {Verdict.NOT_SEPARABLE.value}",
        "The 3 of which least is proven; print(certificate[k]) shows number k, from 0:",
    ]


@pytest.mark.parametrize("holds", [True, False])
def test_an_answer_with_very_many_reasons_names_a_dozen(holds):
    said = [f"reason {k}" for k in range(1234)]
    text = str(Verification(holds, False, tuple(said)))
    assert text.endswith(f": {'; '.join(said[:12])}; and 1,222 more in `reasons`.")
    assert str(Verification(holds, False, tuple(said[:12]))).endswith(f": {'; '.join(said[:12])}.")


def test_the_repr_is_one_line_that_counts():
    assert repr(fitted()) == "MulticlassCertificate(3 problems: 3 OPTIMAL)"
    mixed = separability(*synthetic.flowers(60))
    assert repr(mixed).startswith("MulticlassCertificate(3 problems: ")
    assert "NOT_SEPARABLE" in repr(mixed)


def test_it_is_neither_true_nor_false():
    with pytest.raises(TypeError, match=r"ask \.is_separable, or \.verify\(X, y\)"):
        bool(fitted())


@both_strategies
def test_learners_and_sample_weights(strategy):
    learnt = Perceptron(multi_class=strategy).fit(X, Y).certificate_
    for exact in (False, True):
        assert learnt.verify(X, Y, exact=exact)
    weight = [1.0, 0.0, 1.0, 1.0, 1.0, 0.0]
    weighted = HardMarginSVM(multi_class=strategy).fit(X, Y, sample_weight=weight).certificate_
    assert weighted.verify(X, Y, sample_weight=weight, exact=True)
    assert not weighted.verify(X, Y)


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_a_label_that_nobody_knows_is_named(strategy):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]), np.array(["a", "a", "b", "b", "c", "c"])
    svm = LinearSVM(multi_class=strategy).fit(X, y)
    strange = np.array(["a", "a", "b", "b", "c", "z"])
    answer = svm.certificate_.verify(X, strange)
    assert not answer
    assert answer.reasons == ("row 5 has the label 'z', which is none of 'a', 'b', 'c'",)
    weights = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.0])
    svm.fit(X, strange, sample_weight=weights)  # a row without weight may have any label
    assert svm.certificate_.verify(X, strange, sample_weight=weights)
