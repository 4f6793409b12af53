"""Models that can be kept: one safe file, and the formats of other programs."""

from maxmargin.estimators.model_verification import verify_model
from maxmargin.persistence.checkpoint import fit_with_checkpoints
from maxmargin.persistence.errors import ModelFileError
from maxmargin.persistence.exchange.coefficients import write_coefficients
from maxmargin.persistence.exchange.liblinear import read_liblinear, write_liblinear
from maxmargin.persistence.exchange.libsvm import read_libsvm, write_libsvm
from maxmargin.persistence.exchange.onnx import write_onnx
from maxmargin.persistence.exchange.proof_files import write_proof
from maxmargin.persistence.exchange.skops import read_skops, write_skops
from maxmargin.persistence.model_file import ModelInfo, load, model_info, save
from maxmargin.persistence.record import Fingerprint

__all__ = [
    "Fingerprint",
    "ModelFileError",
    "ModelInfo",
    "fit_with_checkpoints",
    "load",
    "model_info",
    "read_liblinear",
    "read_libsvm",
    "read_skops",
    "save",
    "verify_model",
    "write_coefficients",
    "write_liblinear",
    "write_libsvm",
    "write_onnx",
    "write_proof",
    "write_skops",
]
