"""Models in the files of skops: scikit-learn's own estimators and ours, types by their names, none imported unasked.

A skops file names the types that it needs. Those that skops trusts (scikit-learn's and NumPy's) and those of the list
below are loaded; a file that names another one is refused, with the name, before anything of it is made. Certificates
go along. The package `skops` is needed (the extra `skops`).
"""

from __future__ import annotations

import importlib
import os
import zipfile
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from maxmargin.persistence.container import write_atomically
from maxmargin.persistence.errors import ModelFileError, Refusal
from maxmargin.persistence.record import refuse_another_plane
from maxmargin.problems.kernels import KERNELS

LARGEST = 2**33  # bytes, unpacked
SHOWN = 8  # names in a message

# What our fitted estimators consist of, beside what skops trusts anyway.
TRUSTED = (
    "maxmargin.certificates.certificate.Certificate",
    "maxmargin.certificates.kernel_margin.KernelCertificate",
    "maxmargin.certificates.kernel_separation.KernelSeparationCertificate",
    "maxmargin.certificates.multiclass.MulticlassCertificate",
    "maxmargin.certificates.normalized.NormalizedMargin",
    "maxmargin.certificates.proof.KKT",
    "maxmargin.certificates.proof.TheoremBound",
    "maxmargin.certificates.proof.Violation",
    "maxmargin.certificates.soft_margin.SoftMarginCertificate",
    "maxmargin.estimators.hard_margin.HardMarginSVM",
    "maxmargin.estimators.kernel.KernelSVM",
    "maxmargin.estimators.kernel_perceptron.KernelPerceptron",
    "maxmargin.estimators.linear.LinearSVM",
    "maxmargin.estimators.linear_cv.LinearSVMCV",
    "maxmargin.estimators.perceptrons.MarginPerceptron",
    "maxmargin.estimators.perceptrons.Perceptron",
    "maxmargin.estimators.stochastic.StochasticSVM",
    "maxmargin.estimators.winnow.Winnow",
    "maxmargin.problems.descent.Descent",
    "maxmargin.problems.descent.Position",
    "maxmargin.problems.kernels.Kernel",  # in files of older versions
    "maxmargin.problems.run_record.Phase",
    "maxmargin.problems.run_record.Subject",
    "maxmargin.problems.trace.Subject",  # in files of older versions
    "maxmargin.problems.trace.Trace",
    "numpy.dtype",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
)


def trusted() -> list[str]:
    """These, and the kernels that this process knows."""
    return [*TRUSTED, *(f"{kind.__module__}.{kind.__qualname__}" for kind in KERNELS.values())]


def write_skops(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator or Pipeline to a skops file, atomically.

    `skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))` loads it elsewhere, once somebody has looked
    at those names; `read_skops` trusts those of this library.
    """
    skops = package()
    try:
        refuse_another_plane(last_step(model))
    except Refusal as refusal:
        raise ModelFileError(os.fspath(path), f"this model cannot be written: {refusal}") from None
    data = skops.dumps(model)
    unknown = sorted(set(skops.get_untrusted_types(data=data)) - set(trusted()))
    if unknown:
        problem = f"this model cannot be written: it consists of {named(unknown)}, which a reader will not trust"
        raise ModelFileError(os.fspath(path), problem)
    write_atomically(path, data)


def read_skops(path: str | os.PathLike[str]) -> Any:
    """The estimator in a skops file, if every type in it is one of scikit-learn's, NumPy's or ours."""
    skops, file = package(), os.fspath(path)
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > LARGEST:
            raise ModelFileError(file, f"it would have {size:,} bytes unpacked, and a model has at most {LARGEST:,}")
        unknown = sorted(set(skops.get_untrusted_types(file=file)) - set(trusted()))
        if unknown:
            problem = f"it holds {named(unknown)}, of which nobody has said that they can be trusted: it was not loaded"
            raise ModelFileError(file, problem)
        model = skops.load(file, trusted=trusted())
        refuse_another_plane(last_step(model))
    except (ModelFileError, OSError):
        raise
    except Exception as error:  # a damaged file can make its reader raise anything
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise ModelFileError(file, f"this is not a model that can be loaded with skops: {reason}") from None
    if not isinstance(model, BaseEstimator):
        raise ModelFileError(file, f"it holds a {type(model).__name__}, and not an estimator")
    return model


def last_step(model: Any) -> Any:
    """The estimator of ours, or whatever it is."""
    return model.steps[-1][1] if isinstance(model, Pipeline) else model


def named(types: list[str]) -> str:
    more = f" and {len(types) - SHOWN} more" if len(types) > SHOWN else ""
    return ", ".join(types[:SHOWN]) + more


def package() -> Any:
    try:
        return importlib.import_module("skops.io")
    except ImportError as error:
        raise ImportError("skops files need the package skops: pip install 'maxmargin[skops]'") from error
