"""`maxmargin fit --scheduler`: the same model, to the last byte."""

import dask
import numpy as np
import pytest

from maxmargin.cli import main


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    random = np.random.default_rng(0)
    X = random.standard_normal((4000, 3)).round(3)
    labels = np.where(X[:, 0] - X[:, 1] + random.standard_normal(4000) > 0.0, "yes", "no")
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    lines = [",".join([*map(str, row), label]) for row, label in zip(X.tolist(), labels, strict=True)]
    path.write_text("\n".join(["a,b,c,y", *lines]) + "\n")
    return path


def fit(table, model, *more):
    assert main(["fit", str(table), "--label", "y", "--memory", "4MB", "-o", str(model), *more]) == 0
    return model.read_bytes()


def test_the_model_is_that_of_one_process(client, table, tmp_path, monkeypatch):
    want = fit(table, tmp_path / "here")
    assert fit(table, tmp_path / "there", "--scheduler", client.scheduler.address) == want
    monkeypatch.setattr("maxmargin.data.executor.cores", lambda: 1)
    assert fit(table, tmp_path / "local", "--scheduler", "local") == want


def test_what_is_wrong_is_said(table, capfd):
    assert main(["fit", str(table), "--label", "y", "--scheduler", "local"]) == 1
    assert "give --memory, too" in capfd.readouterr().err
    with dask.config.set({"distributed.comm.timeouts.connect": "200ms"}):
        assert main(["fit", str(table), "--label", "y", "--memory", "4MB", "--scheduler", "tcp://127.0.0.1:9"]) == 1
    assert "no scheduler answers at tcp://127.0.0.1:9" in capfd.readouterr().err
