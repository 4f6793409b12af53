"""Scores of a LinearSVC as probabilities: the reliability curve before and after."""

from matplotlib import pyplot
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

X, y = make_classification(3000, 20, n_informative=4, n_redundant=6, random_state=42)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.6, random_state=42)
figure, axis = pyplot.subplots(figsize=(5, 4))
for method in ("sigmoid", "isotonic"):
    model = CalibratedClassifierCV(LinearSVC(random_state=0), method=method, cv=3).fit(X_train, y_train)
    CalibrationDisplay.from_estimator(model, X_test, y_test, n_bins=8, ax=axis, name=method)
pyplot.show()
