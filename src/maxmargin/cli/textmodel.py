"""Text models of LIBSVM and LIBLINEAR: to predict with, and as the question that an audit asks."""

from __future__ import annotations

from typing import Any

from maxmargin.cli.console import UserError
from maxmargin.cli.model import Model, read_class_weight

LOSSES = {
    "L2R_L1LOSS_SVC_DUAL": "hinge",
    "L2R_L2LOSS_SVC_DUAL": "squared_hinge",
    "L2R_L2LOSS_SVC": "squared_hinge",
}


def for_audit(loaded: Model, path: str, C: float | None, class_weight: list[str] | None) -> Model:
    """A model of ours as it is; a text model with the C and the weights that are given, which it does not tell."""
    if not loaded.is_text:
        if C is not None or class_weight:
            raise UserError(f"{path} knows its C and its class weights: --C and --class-weight are for text models")
        return loaded
    if C is None:
        raise UserError(f"{path} is a text model, which does not tell its C: give it with --C")
    if not 0.0 < C < float("inf"):
        raise UserError(f"--C must be a positive number, not {C:g}")
    asked = {"C": C, "class_weight": read_class_weight(class_weight, loaded.classifier.classes_.tolist())}
    header = header_of(path)
    if "svm_type" in header:
        if header["svm_type"] != "c_svc":
            raise UserError(f"{path} is of the type {header['svm_type']}; an audit is for c_svc")
        loaded.classifier.set_params(**asked)
        return loaded
    classifier = as_linear_svc(path, header, loaded.classifier, asked)
    return loaded._replace(whole=classifier, classifier=classifier)


def as_linear_svc(path: str, header: dict[str, str], planes: Any, asked: dict[str, Any]) -> Any:
    """LIBLINEAR's question is that of scikit-learn's LinearSVC: a bias is one more column, and regularised."""
    from sklearn.svm import LinearSVC

    if header["solver_type"] not in LOSSES:
        raise UserError(f"{path} is of the type {header['solver_type']}; an audit is for {', '.join(LOSSES)}")
    bias = float(header["bias"])
    model = LinearSVC(loss=LOSSES[header["solver_type"]], fit_intercept=bias > 0.0, **asked)
    if bias > 0.0:
        model.set_params(intercept_scaling=bias)
    model.classes_, model.n_features_in_ = planes.classes_, planes.n_features_in_
    model.coef_, model.intercept_ = planes.coef_, planes.intercept_
    return model


def header_of(path: str) -> dict[str, str]:
    """The names and values above the numbers; the file was read before, so that they are as they should be."""
    fields = {}
    with open(path, encoding="ascii") as lines:
        for line in lines:
            name, _, value = line.strip().partition(" ")
            if name in ("SV", "w"):
                break
            fields[name] = value
    return fields
