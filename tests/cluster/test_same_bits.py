"""Whoever computes the blocks, the sums have the bits of one process."""

import numpy as np
import pytest
from cluster_parts import Look, MadeBlocks, bits

from maxmargin.data.dask_executor import OnDask
from maxmargin.data.executor import Serial, counting

OWN = {3: 2.5, 70: -1.0}


@pytest.fixture(scope="module")
def want():
    return bits(Serial().fold(Look(np.ones(4)), MadeBlocks(75), OWN))


@pytest.mark.parametrize("hold", [False, True])
@pytest.mark.parametrize("blocks_a_task", [1, 8, None])
def test_runs_of_any_length_read_or_held(client, want, hold, blocks_a_task):
    with OnDask(client, hold=hold, blocks_a_task=blocks_a_task) as executor:
        for _ in range(2):
            assert bits(executor.fold(Look(np.ones(4)), MadeBlocks(75), OWN)) == want


def test_blocks_that_are_finished_last_first(client, want):
    executor = OnDask(client, blocks_a_task=8)
    assert bits(executor.fold(Look(np.ones(4), 0.0003, 75), MadeBlocks(75), OWN)) == want


def test_blocks_so_large_that_blas_would_share_them_between_threads(client):
    """Here it has as many threads as there are cores, on a worker one."""
    look, blocks = Look(np.ones(50)), MadeBlocks(2, 20_000, 50)
    assert bits(OnDask(client).fold(look, blocks, {})) == bits(Serial().fold(look, blocks, {}))


def test_what_is_large_is_sent_once(client, want):
    """10 MB and more are no reason to warn."""
    executor = OnDask(client, blocks_a_task=64)
    assert bits(executor.fold(Look(np.ones(1_500_000)), MadeBlocks(75), OWN)) == want


def test_blocks_are_counted_as_they_are_done(client):
    told = []
    with counting(told.append):
        OnDask(client, blocks_a_task=8).fold(Look(np.ones(4)), MadeBlocks(20), {})
    assert sum(told) == 20


def test_a_branch_of_the_tree_is_1_or_8_or_64_blocks(client):
    with pytest.raises(ValueError, match="blocks_a_task must be 1, 8, 64 or None"):
        OnDask(client, blocks_a_task=7)
