"""tol is a relative gap: above 0 and below 1, at every door."""

import math

import numpy as np
import pytest

from maxmargin import (
    Certificate,
    HardMarginSVM,
    KernelCertificate,
    KernelSVM,
    LinearSVM,
    LinearSVMCV,
    Perceptron,
    SoftMarginCertificate,
    StochasticSVM,
    path,
)
from maxmargin.cli import main
from maxmargin.estimators.audit import audit
from maxmargin.persistence import ModelFileError, load, save
from maxmargin.persistence.container import pack, unpack
from maxmargin.playground.catalogue import ALGORITHMS

X = np.array([[0.0, 0.0], [0.0, 2.0], [3.0, 0.0], [5.0, 1.0], [1.0, 1.0], [4.0, 4.0]])
Y = np.array([0, 0, 1, 1, 0, 1])
WRONG = [0.0, 1.0, 1e9, math.inf, -1.0, math.nan, True, "small", None]
each_wrong = pytest.mark.parametrize("tol", WRONG, ids=repr)


@each_wrong
@pytest.mark.parametrize("kind", [HardMarginSVM, LinearSVM, LinearSVMCV, KernelSVM, StochasticSVM])
def test_fit_refuses_it(kind, tol):
    with pytest.raises(ValueError, match="tol must be a number"):
        kind(tol=tol).fit(X, Y)


@each_wrong
def test_functions_refuse_it(tol):
    for ask in (lambda: path(X, Y, tol=tol), lambda: audit(LinearSVM().fit(X, Y), X, Y, tol=tol)):
        with pytest.raises(ValueError, match="tol must be a number above 0 and below 1"):
            ask()


ISSUED = {
    Certificate: HardMarginSVM(),
    SoftMarginCertificate: LinearSVM(),
    KernelCertificate: KernelSVM(kernel="linear"),
}


@pytest.mark.parametrize("kind", ISSUED, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("tol", [1.0, 1e9, math.inf, -1.0, math.nan])
def test_json_with_it_is_no_certificate(kind, tol):
    fields = ISSUED[kind].fit(X, Y).certificate_.to_dict() | {"tol": tol}
    with pytest.raises(ValueError, match="tol must be above 0 and below 1"):
        kind.from_dict(fields)


@pytest.mark.parametrize("kind", ISSUED, ids=lambda kind: kind.__name__)
def test_a_number_of_numpy_is_one(kind):
    certificate = ISSUED[kind].__class__(tol=np.float32(1e-3)).fit(X, Y).certificate_
    assert type(certificate.tol) is float
    assert certificate.verify(X, Y)
    assert kind.from_json(certificate.to_json()).tol == certificate.tol


def test_a_learner_that_asks_for_no_gap_has_none():
    certificate = Perceptron().fit(X, Y).certificate_
    assert certificate.tol == 0.0
    assert Certificate.from_json(certificate.to_json()).verify(X, Y, exact=True)
    for kind in (SoftMarginCertificate, KernelCertificate):
        fields = ISSUED[kind].fit(X, Y).certificate_.to_dict() | {"tol": 0.0}
        with pytest.raises(ValueError, match="tol must be above 0"):
            kind.from_dict(fields)


@pytest.mark.parametrize("where", ["parameters", "certificate"])
@pytest.mark.parametrize("estimator", ISSUED.values(), ids=lambda estimator: type(estimator).__name__)
def test_a_model_file_with_it_is_refused(tmp_path, estimator, where):
    file = tmp_path / "model.safetensors"
    save(estimator.fit(X, Y), file, X, Y)
    document, arrays = unpack(file.read_bytes())
    owner = document["parameters"] if where == "parameters" else document["certificate"]["parts"][0]
    owner["tol"] = 2.0
    file.write_bytes(pack(document, arrays))
    with pytest.raises(ModelFileError, match=r"tol.* must be .*above 0 and below 1"):
        load(file)


@pytest.mark.parametrize("tol", ["1", "0", "1e9", "nan", "-1"])
@pytest.mark.parametrize("command", ["fit", "path"])
def test_commands_refuse_it(tmp_path, capsys, command, tol):
    table = tmp_path / "t.csv"
    table.write_text("a,b,label\n" + "".join(f"{a},{b},{label}\n" for (a, b), label in zip(X, Y, strict=True)))
    assert main([command, str(table), f"--tol={tol}"]) == 1
    assert "tol must be a number above 0 and below 1" in " ".join(capsys.readouterr().err.split())


def test_the_page_offers_no_other():
    found = [parameter for one in ALGORITHMS.values() for parameter in one.parameters if parameter.name == "tol"]
    assert found
    assert all(0.0 < parameter.low < parameter.high < 1.0 for parameter in found)
