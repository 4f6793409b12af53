"""What is sent to the workers: packed here, opened in the task that needs it; what cannot be says so at once."""

import importlib
import pickle
import threading
from typing import NamedTuple

import numpy as np
import pytest
from cluster_parts import Look, MadeBlocks, own_workers

from maxmargin.data.dask_executor import OnDask
from maxmargin.data.dask_tasks import Sent

LOOK = Look(np.ones(4))
ONLY_HERE = """
from cluster_parts import MadeBlocks

class Rows(MadeBlocks):
    pass
"""


@pytest.fixture
def only_here(tmp_path, monkeypatch):
    """A module that the workers cannot import: they were started before it was there."""
    (tmp_path / "only_here.py").write_text(ONLY_HERE)
    monkeypatch.syspath_prepend(tmp_path)
    return importlib.import_module("only_here")


@pytest.mark.parametrize("hold", [False, True])
def test_a_module_that_the_workers_do_not_have(client, only_here, hold):
    """It is said at once, and no worker ends of it."""
    workers = own_workers(client)
    sentence = "a worker cannot open what it was sent .*No module named 'only_here'.*upload_file"
    with pytest.raises(RuntimeError, match=sentence):
        OnDask(client, hold=hold).fold(LOOK, only_here.Rows(3), {})
    assert own_workers(client) == workers


class Locked(NamedTuple):
    n_blocks: int
    lock: object

    def block(self, k):
        return MadeBlocks(self.n_blocks).block(k)


def test_what_cannot_be_sent(client):
    with pytest.raises(TypeError, match=r"sent to the workers, .*cannot pickle .*open them in block\(k\)"):
        OnDask(client).fold(LOOK, Locked(3, threading.Lock()), {})


def test_workers_without_this_library_or_with_another_release(client, monkeypatch):
    monkeypatch.setattr("maxmargin.data.dask_executor.__version__", "0.0.1")
    with pytest.raises(
        RuntimeError, match=r"release 0\.0\.1 of maxmargin, and the scheduler of the cluster has release"
    ):
        OnDask(client).fold(LOOK, MadeBlocks(3), {})
    monkeypatch.setattr("maxmargin.data.dask_pass.VERSION", "no_such_library:__version__")
    with pytest.raises(RuntimeError, match=r"the cluster has none \(No module named 'no_such_library'\): install"):
        OnDask(client).fold(LOOK, MadeBlocks(3), {})


@pytest.mark.parametrize("protocol", [4, 5])
def test_arrays_travel_whole(protocol):
    rows = np.arange(12.0).reshape(3, 4)
    buffers = []
    callback = buffers.append if protocol == 5 else None
    there = pickle.loads(pickle.dumps(Sent.sealed(rows), protocol, buffer_callback=callback), buffers=buffers)
    assert len(buffers) == (protocol == 5)  # not copied
    assert there.n_bytes == Sent.sealed(rows).n_bytes > rows.nbytes
    assert np.array_equal(pickle.loads(pickle.dumps(there, 4)).content, rows)  # passed on before it was opened
    assert np.array_equal(there.content, rows)
