"""
The leave-one-out error over C, proven
======================================

Most samples need no fit to know whether the hyperplane of all others gets them right: the dual variables decide. The
rest is fitted. So the curve is exact, or lies between two proven bounds.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import LinearSVM, leave_one_out
from maxmargin.data import synthetic

X, y = synthetic.overlapping(120, distance=2.5, seed=4)
Cs = np.logspace(-4, 1, 9)
answers = [leave_one_out(LinearSVM(C=C), X, y) for C in Cs]
print(answers[4])
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.plot(Cs, [answer.error_upper for answer in answers], marker="o", color="#0072b2")
ax.set(xscale="log", xlabel="C", ylabel="leave-one-out error")
