"""
The widest street
=================

The hyperplane with the largest margin, and the three samples that hold it. The area of a halo is the dual variable of
its sample; the title is what the certificate proves.
"""

from maxmargin import HardMarginSVM, StreetDisplay
from maxmargin.data import synthetic

X, y, _ = synthetic.street(n=60, width=1.0, angle=35.0, seed=10)
svm = HardMarginSVM().fit(X, y)
StreetDisplay.from_estimator(svm, X, y)
