"""Where the passes of a command are computed: --scheduler names a Dask cluster, or starts one on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from maxmargin.cli.console import UserError

LOCAL = "local"


@contextmanager
def computing_on(scheduler: str | None) -> Iterator[None]:
    """Within it, tables are read by the workers of that scheduler; "local": by processes that are started for this."""
    if scheduler is None:
        yield
        return
    from maxmargin.data.cluster import on_cluster

    with ExitStack() as end:
        try:
            end.enter_context(on_cluster(local_client(end) if scheduler == LOCAL else scheduler))
            yield
        except (ConnectionError, ImportError, TimeoutError) as error:
            raise UserError(f"--scheduler {scheduler}: {error}") from error


def local_client(end: ExitStack) -> Any:
    """Of a cluster with one process for each core, which is closed in the end."""
    import logging

    from maxmargin.data.dask_pass import dask_module
    from maxmargin.data.executor import cores

    distributed = dask_module("distributed")
    cluster = end.enter_context(
        distributed.LocalCluster(
            n_workers=cores(), threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
        )
    )
    return end.enter_context(distributed.Client(cluster, set_as_default=False))
