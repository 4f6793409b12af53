"""A playground that runs, for all tests that speak to one."""

import pytest

from maxmargin.playground.serving import playground_in_background


@pytest.fixture(scope="session")
def playground():
    """A server at a free port of this machine: `.address`, `.port`, `.token`."""
    with playground_in_background() as running:
        yield running
