"""scikit-learn's classifiers with a margin, by other solvers: the same classes to a program, and every fit is proven.

    from maxmargin.sklearn import SVC, LinearSVC     instead of    from sklearn.svm import SVC, LinearSVC
    maxmargin.patch_sklearn()                        in a program that is to stay as it is
    python -m maxmargin.sklearn program.py           for one that is not to be touched

SVC, LinearSVC, SGDClassifier and Perceptron derive from scikit-learn's: parameters, checks, predictions and attributes
are inherited. Only where these hand over to libsvm, to liblinear or to steps, `KernelSVM` and `LinearSVM` answer, and
`certificate_` is there afterwards. A Perceptron goes its own way, and its certificate says whether a plane separates
the classes. What is not ours is in `delegation`.
"""

from maxmargin.sklearn.linear_svc import LinearSVC
from maxmargin.sklearn.patching import patch_sklearn, unpatch_sklearn
from maxmargin.sklearn.perceptron import Perceptron
from maxmargin.sklearn.sgd_classifier import SGDClassifier
from maxmargin.sklearn.svc import SVC

__all__ = ["SVC", "LinearSVC", "Perceptron", "SGDClassifier", "patch_sklearn", "unpatch_sklearn"]
