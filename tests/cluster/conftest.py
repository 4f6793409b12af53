"""A cluster of processes on this machine, without a dashboard, on any free port."""

import contextlib

import pytest
from cluster_parts import PATIENT

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")


@contextlib.contextmanager
def cluster_of(workers, failures=10, **more):
    """A client of its own cluster. Whatever dies in it belongs to the test."""
    setting = {"distributed.scheduler.allowed-failures": failures, "distributed.comm.timeouts.connect": "3s"}
    with (
        dask.config.set({**setting, **PATIENT}),
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=60,
            memory_limit="1GB", **more,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):  # fmt: skip
        yield client


@pytest.fixture(scope="module")
def client():
    """The current client of the process: closed before tests of other files, whose fits would use it."""
    with cluster_of(2) as found:
        yield found


@pytest.fixture
def small_cluster():
    """To be broken by one test."""
    with cluster_of(1, failures=0) as found:
        yield found


def pytest_collection_modifyitems(items):
    """Sockets of workers that were killed are closed by nobody."""
    for item in items:
        if "cluster" in item.path.parts:
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))
