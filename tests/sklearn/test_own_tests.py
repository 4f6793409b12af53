"""A handful of scikit-learn's own tests; all of them: python tests/sklearn_own_tests.py."""

from sklearn_own_tests import OURS, own_tests


def test_handful_of_their_own():
    chosen = "test_unfitted or test_svc_bad_kernel or test_linearsvc_fit_sampleweight or test_bad_input"
    tests = own_tests("svm/tests", ["-k", f"{chosen} or test_linearsvc_crammer_singer or test_weight[42]"])
    assert len(tests) >= 5
    assert {outcome for _, outcome, _ in tests} == {"passed"}
    asked = [who for *_, who in tests]
    assert {OURS} in asked
    assert {'LinearSVC(multi_class="crammer_singer")', OURS} in asked
    assert set() in asked
