"""ROC and precision-recall curves from the scores of two machines."""

from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import PrecisionRecallDisplay, RocCurveDisplay
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X[:, :5], y, random_state=0)
figure, axes = pyplot.subplots(1, 2, figsize=(9, 4))
for name, model in {"SVC": SVC(), "LinearSVC": LinearSVC()}.items():
    model = make_pipeline(StandardScaler(), model).fit(X_train, y_train)
    RocCurveDisplay.from_estimator(model, X_test, y_test, ax=axes[0], name=name)
    PrecisionRecallDisplay.from_estimator(model, X_test, y_test, ax=axes[1], name=name)
pyplot.show()
