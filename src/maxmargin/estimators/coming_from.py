"""Coming from scikit-learn: its support vector machines as ours."""

from __future__ import annotations

from typing import Any

from maxmargin.estimators.kernel import KernelSVM
from maxmargin.estimators.linear import LinearSVM
from maxmargin.problems.losses import LOSSES
from maxmargin.problems.scalings import C_from

SMALL_CACHE = 200  # megabytes, SVC's default


def from_scikit_learn(estimator: Any, n_rows: int | None = None) -> LinearSVM | KernelSVM:
    """The `LinearSVM` that asks the same question as a LinearSVC, SVC(kernel="linear") or SGDClassifier; of an SVC with
    another kernel, the `KernelSVM`.

    Only the parameters are read, so that the estimator may be fitted or not; the answer is not fitted. `n_rows` is
    the number of rows that will be fitted: SGDClassifier minimises a mean and needs it, C = 1 / (alpha n_rows).

    What has no equivalent raises a ValueError: the sigmoid kernel, other losses and penalties,
    `multi_class="crammer_singer"`, `probability=True`, `decision_function_shape="ovo"`.

    C, loss, class_weight, fit_intercept, verbose, warm_start, and kernel, gamma, coef0, degree and cache_size mean the
    same and are carried over (cache_size where it is not SVC's default, because ours is larger). What is left behind:

    - **tol** and **max_iter**. Theirs stop an algorithm; our `tol` is the relative duality gap that is proven, 1e-4
      (KernelSVM: 1e-3) unless you set it, and there is no limit on the iterations.
    - **intercept_scaling**: LinearSVC regularises its intercept, divided by this; ours is free, as in SVC and
      SGDClassifier. The larger it is, the nearer the two.
    - **break_ties**: SVC fits one plane for each pair of classes; so does the answer, by `multi_class="ovo"`. Where
      votes are equal, the distances decide, always.
    - What says how to compute and not what: dual, shrinking, random_state, n_jobs, and of SGDClassifier shuffle,
      learning_rate, eta0, power_t, average, early_stopping, validation_fraction and n_iter_no_change. It stops near
      the best plane for its `alpha`; ours is that plane. (epsilon and l1_ratio belong to losses and penalties that are
      refused.)

    Parameters
    ----------
    estimator : a classifier of scikit-learn
        Fitted or not: SVC, LinearSVC or SGDClassifier.
    n_rows : int, default=None
        How many samples there are, by which SGDClassifier's `alpha` becomes C.

    Returns
    -------
    LinearSVM or KernelSVM
        Not fitted.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn.svm import SVC, LinearSVC
    >>> from maxmargin import from_scikit_learn
    >>> from_scikit_learn(LinearSVC(C=0.1))
    LinearSVM(C=0.1, loss='squared_hinge')
    >>> from_scikit_learn(SVC(kernel="linear", class_weight="balanced"))
    LinearSVM(class_weight='balanced', multi_class='ovo')
    >>> from_scikit_learn(SVC(C=10, kernel="poly", coef0=1))
    KernelSVM(C=10, coef0=1, kernel='poly')
    >>> from_scikit_learn(SGDClassifier(alpha=0.01), n_rows=1000)
    LinearSVM(C=0.1)
    """
    from sklearn.linear_model import SGDClassifier
    from sklearn.svm import SVC, LinearSVC

    readers = {LinearSVC: from_linear_svc, SVC: from_svc, SGDClassifier: from_sgd}
    for kind, reader in readers.items():
        if isinstance(estimator, kind):
            given = estimator.get_params()
            asked = reader(given, n_rows) | {"class_weight": given["class_weight"], "verbose": int(given["verbose"])}
            return KernelSVM(**asked) if "kernel" in asked else LinearSVM(**asked)
    what = estimator.__name__ + " (the class; give an instance)" if isinstance(estimator, type) else repr(estimator)
    raise ValueError(
        f"{what} has no equivalent here: LinearSVC, SVC and SGDClassifier have. Of a pipeline or a search, give the "
        "last step or the estimator."
    )


def from_linear_svc(given: dict[str, Any], n_rows: int | None) -> dict[str, Any]:
    require_l2(given)
    if given["multi_class"] != "ovr":
        raise ValueError(
            f'multi_class="{given["multi_class"]}" solves one problem over all classes; here there are "ovr" and "ovo"'
        )
    return {"C": given["C"], "loss": given["loss"], "fit_intercept": given["fit_intercept"]}


def from_svc(given: dict[str, Any], n_rows: int | None) -> dict[str, Any]:
    if given["kernel"] == "sigmoid":
        raise ValueError(
            "kernel='sigmoid' is not supported: it is not positive semidefinite, so that there is no space in which "
            "it would measure a margin; 'rbf' and 'poly' are"
        )
    if given.get("probability") is True:
        raise ValueError(
            "probability=True is not supported; sklearn.calibration.CalibratedClassifierCV(svm, ensemble=False) gives "
            "probabilities"
        )
    if given["decision_function_shape"] != "ovr":
        raise ValueError(
            f'decision_function_shape="{given["decision_function_shape"]}" is not supported: decision_function gives '
            'one score for each class, as SVC does with "ovr"'
        )
    if given["kernel"] == "linear":
        return {"C": given["C"], "multi_class": "ovo"}
    carried = {name: given[name] for name in ("C", "kernel", "gamma", "coef0", "degree")}
    return carried if given["cache_size"] == SMALL_CACHE else carried | {"cache_size": given["cache_size"]}


def from_sgd(given: dict[str, Any], n_rows: int | None) -> dict[str, Any]:
    if given["loss"] not in LOSSES:
        raise ValueError(f'loss="{given["loss"]}" is not supported: {", ".join(LOSSES)} are')
    require_l2(given)
    if n_rows is None:
        raise ValueError(
            "SGDClassifier minimises alpha/2 |w|^2 + a mean over the rows, so that C = 1 / (alpha n_rows): "
            "say how many rows will be fitted, from_scikit_learn(estimator, n_rows=len(X))"
        )
    C = C_from(norm_factor=given["alpha"] / 2.0, mean_over=n_rows)
    carried = {name: given[name] for name in ("loss", "fit_intercept", "warm_start")}
    return {"C": C} | carried


def require_l2(given: dict[str, Any]) -> None:
    if given["penalty"] != "l2":
        raise ValueError(
            f"penalty={given['penalty']!r} is not supported: a LinearSVM has 1/2 |w|^2, which is penalty='l2'"
        )
