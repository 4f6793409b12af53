"""`patch_sklearn()`: names in scikit-learn stand for the classes of `maxmargin.sklearn`, until `unpatch_sklearn()`.

Modules that hold the originals already, by `from sklearn.svm import SVC`, get them as well, the main program too. The
module that defines the originals keeps them, so that pickles of originals load as such; pickles that are made
meanwhile name the classes of this package, and load wherever it is installed, patched or not.
"""

from __future__ import annotations

import sys
from types import ModuleType

import sklearn.linear_model._perceptron as their_perceptron
import sklearn.linear_model._stochastic_gradient as their_steps
import sklearn.svm._classes as their_machines

from maxmargin.sklearn.linear_svc import LinearSVC
from maxmargin.sklearn.perceptron import Perceptron
from maxmargin.sklearn.sgd_classifier import SGDClassifier
from maxmargin.sklearn.svc import SVC

__all__ = ["patch_sklearn", "unpatch_sklearn"]

OURS: dict[type, type] = {
    their_machines.SVC: SVC,
    their_machines.LinearSVC: LinearSVC,
    their_steps.SGDClassifier: SGDClassifier,
    their_perceptron.Perceptron: Perceptron,
}
THEIRS = (their_machines, their_steps, their_perceptron)
HOMES = (*(module.__name__ for module in THEIRS), __name__.rpartition(".")[0])  # where each class stays what it is
REPLACED: list[tuple[ModuleType, str, type]] = []


def patch_sklearn() -> None:
    """From here on SVC, LinearSVC, SGDClassifier and Perceptron of scikit-learn are those of `maxmargin.sklearn`. A
    second call looks for modules that got the originals since.

    Examples
    --------
    >>> import maxmargin, sklearn.svm
    >>> maxmargin.patch_sklearn()
    >>> X, y = [[0, 0], [1, 1], [2, 0], [3, 1]], [0, 0, 1, 1]
    >>> sklearn.svm.SVC().fit(X, y).certificate_.is_optimal
    True
    >>> maxmargin.unpatch_sklearn()
    >>> hasattr(sklearn.svm.SVC().fit(X, y), "certificate_")
    False
    """
    for home, module in list(sys.modules.items()):
        if not isinstance(module, ModuleType) or home.startswith(HOMES):
            continue
        for name, value in list(vars(module).items()):
            if isinstance(value, type) and value in OURS:
                setattr(module, name, OURS[value])
                REPLACED.append((module, name, value))


def unpatch_sklearn() -> None:
    """The originals again, wherever `patch_sklearn` put others. Models that were fitted meanwhile stay as they are, and
    so do names that were imported meanwhile.

    Examples
    --------
    >>> import maxmargin, sklearn.svm
    >>> maxmargin.patch_sklearn()
    >>> maxmargin.unpatch_sklearn()
    >>> sklearn.svm.SVC.__module__
    'sklearn.svm._classes'
    """
    while REPLACED:
        module, name, original = REPLACED.pop()
        if vars(module).get(name) is OURS[original]:
            setattr(module, name, original)
