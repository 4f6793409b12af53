"""The dual variables of the rows on the edges of the street, once more: iterative refinement by exact values.

At the optimum the rows F whose variables are neither at 0 nor at their upper end u_i are where their loss wants them,
on the edge if it is the hinge: y_i (w.phi(x_i) + b) = 1 - q_i a_i. Whoever judges weights returns the values w.phi(x_i)
in float64, and what they miss there,

    r_i = y_i (1 - q_i a_i) - w.phi(x_i) - b,    is mended by    (K_FF + Q) d + e = r,  sum_i d_i = 0,   a_i y_i += d_i

with the bias moved by e; without a bias there is no e, and no sum. Rows that are almost at an end of their box are put
there first, and r follows. The system is as badly conditioned as the kernel; but errors in d along directions in which
K is small change no value by much, and a step that was computed from the true r leaves only its own rounding. The
method is that of [higham2002], chapter 12.

Cost: |F| n kernel values, and |F|^3 multiplications.
"""

from __future__ import annotations

import numpy as np

from maxmargin.data.table import Vector
from maxmargin.problems.statement import KernelMargin
from maxmargin.solvers.kernel_smo.low_rank import ScaledKernel

INSIDE = 1e-5  # of the largest dual variable, or of u_i: nearer to an end of its box, a row is at that end
MOST_VALUES = 2**23  # of the kernel, between rows on the edge and those that are put to an end


def refined(problem: KernelMargin, kernel: ScaledKernel, a: Vector, values: Vector, b: float) -> Vector | None:
    """Weights whose rows on the edge are nearer to it; None where there is nothing to mend."""
    upper, bias = problem.upper, int(problem.fit_intercept)
    low, high = a <= INSIDE * float(a.max(initial=0.0)), a >= (1.0 - INSIDE) * upper
    moved = np.where(low, 0.0, np.where(high, upper, a))
    on_edge, others = np.flatnonzero(~(low | high)), np.flatnonzero(moved != a)
    n = len(on_edge)
    if not 0 < n * max(n, len(others)) <= MOST_VALUES or not np.all(np.isfinite(values[on_edge])):
        return None
    changes = problem.signs[others] * (moved - a)[others]
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = kernel.between(on_edge, on_edge)
    system[n, n] = 0.0
    values = values[on_edge] + kernel.between(on_edge, others) @ (changes * kernel.scale)
    wanted = problem.signs[on_edge]
    if problem.loss.is_smooth:
        q = problem.diagonal[on_edge]
        system[np.arange(n), np.arange(n)] += q / kernel.scale
        wanted = wanted * (1.0 - q * a[on_edge])
    missing = np.append(wanted - values - b, -kernel.scale * float(changes.sum()))
    system, missing = system[: n + bias, : n + bias], missing[: n + bias]
    try:
        step = np.linalg.lstsq(system, missing, rcond=np.finfo(float).eps)[0][:n] / kernel.scale
    except np.linalg.LinAlgError:
        return None
    moved[on_edge] = np.clip(a[on_edge] + problem.signs[on_edge] * step, 0.0, upper[on_edge])
    return moved
