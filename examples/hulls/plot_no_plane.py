"""
Why no hyperplane separates them
================================

Four samples are enough: a point lies on the segment between two samples of one class, and on that between two of the
other. Whatever hyperplane is tried, one of the four is on its wrong side.
"""

from maxmargin import StreetDisplay, separability
from maxmargin.data import synthetic

X, y = synthetic.overlapping(n=44, distance=3.6, seed=1)
certificate = separability(X, y)
print(certificate.verify(X, y, exact=True))
StreetDisplay.from_certificate(certificate, X, y)
