"""Pictures in few components, a search, and what was taken for what."""

from matplotlib import pyplot
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X[:800], y[:800], random_state=42)
pipeline = make_pipeline(PCA(20, whiten=True, random_state=42), SVC(class_weight="balanced"))
search = GridSearchCV(pipeline, {"svc__C": [1.0, 100.0], "svc__gamma": [0.005, 0.05]}, cv=3).fit(X_train, y_train)
figure, axis = pyplot.subplots(figsize=(6, 5))
ConfusionMatrixDisplay.from_estimator(search, X_test, y_test, ax=axis)
axis.set_title(str(search.best_params_))
pyplot.show()
