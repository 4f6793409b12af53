"""The cluster that computes the passes over a table: `client=` of an estimator.

a distributed.Client    is used, and never copied, kept in a file or closed
an address              a client of that scheduler is opened for the fit
None                    the current client, if there is one; otherwise this process. No cluster is ever started
an OnDask               the same, by somebody who wants to say whether blocks are held, and how patient to be
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from maxmargin.data.executor import executing


@contextmanager
def on_cluster(client: Any) -> Iterator[None]:
    """Within it, passes over blocks are computed by the cluster of this client."""
    own = None
    if client is None:
        client = current_client()
        if client is None:
            yield
            return
    from maxmargin.data.dask_executor import OnDask  # which most passes do without

    if isinstance(client, str):
        client = own = opened(client)
    try:
        with client if isinstance(client, OnDask) else OnDask(client) as executor, executing(executor):
            yield
    finally:
        if own is not None:
            own.close()


def current_client() -> Any:
    """Of this process, if it has one. A task on a worker has none: it would wait for tasks that wait for it."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        client = distributed.default_client()
    except ValueError:
        return None
    try:
        distributed.get_worker()
    except ValueError:
        return None if client.asynchronous or client.status != "running" else client
    return None


def opened(address: str) -> Any:
    from maxmargin.data.dask_pass import dask_module

    if not address.strip():  # for which Dask would start a cluster
        raise ValueError("client is an empty text: give the address of a scheduler, such as tcp://host:8786")
    try:
        return dask_module("distributed").Client(address, set_as_default=False)
    except OSError as error:
        raise ConnectionError(f"no scheduler answers at {address}: is it running there? ({error})") from error
