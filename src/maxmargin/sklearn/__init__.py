"""scikit-learn's classifiers with a margin, by other solvers: the same classes to a program, and every fit is proven.

    from maxmargin.sklearn import SVC, LinearSVC     instead of    from sklearn.svm import SVC, LinearSVC
    maxmargin.patch_sklearn()                        in a program that is to stay as it is
    python -m maxmargin.sklearn program.py           for one that is not to be touched

SVC, LinearSVC, SGDClassifier and Perceptron derive from scikit-learn's: parameters, checks, predictions and attributes
are inherited. Only where these hand over to libsvm, to liblinear or to steps, `KernelSVM` and `LinearSVM` answer, and
`certificate_` is there afterwards. A Perceptron goes its own way, and its certificate says whether a plane separates
the classes. What is not ours is in `delegation`.
"""

import importlib

from maxmargin import homes_of

_HOMES = homes_of(__spec__)

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    """Loaded when it is first used: who asks for SVC alone waits for nothing else."""
    if name not in _HOMES:
        raise AttributeError(f"module 'maxmargin.sklearn' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
