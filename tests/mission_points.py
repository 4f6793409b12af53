"""Points whose answers can be computed by hand."""

import numpy as np

X = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
Y = np.array([-1, -1, 1, 1])  # the widest street is 1 wide, along x2 = 1/2; rows 0, 1 and 2 carry it
XOR, ACROSS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([1, -1, -1, 1])
POINTS = [[*map(float, row), int(sign)] for row, sign in zip(X, Y, strict=True)]
CORNERS = [[*map(float, row), int(sign)] for row, sign in zip(XOR, ACROSS, strict=True)]
