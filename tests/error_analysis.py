"""What the analysis of rounding says, for tests that pin an error bound from both sides."""

import pytest

LEAST = 5e-324
U = 2.0**-53


def gamma(terms, u=U):
    """The relative error of `terms` roundings, to first order and a little more."""
    return terms * u * (1.0 + terms * u)


def close(value, rel=1e-6):
    """To so many digits, however small it is."""
    return pytest.approx(value, rel=rel, abs=0.0)
