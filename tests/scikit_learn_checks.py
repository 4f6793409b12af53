"""scikit-learn's own checks of estimators, as cases of one test."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks


def each_check(estimators, **options):
    """`parametrize_with_checks`, which hands pytest a generator in some releases; pytest asks for a list."""
    mark = parametrize_with_checks(estimators, **options)
    names, cases = mark.args
    return pytest.mark.parametrize(names, list(cases), **mark.kwargs)
