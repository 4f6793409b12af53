"""What `maxmargin.sklearn` offers, and where each name lives: type checkers read this, and so does `__init__.py`."""

from maxmargin.sklearn.linear_svc import LinearSVC as LinearSVC
from maxmargin.sklearn.patching import patch_sklearn as patch_sklearn
from maxmargin.sklearn.patching import unpatch_sklearn as unpatch_sklearn
from maxmargin.sklearn.perceptron import Perceptron as Perceptron
from maxmargin.sklearn.sgd_classifier import SGDClassifier as SGDClassifier
from maxmargin.sklearn.svc import SVC as SVC
