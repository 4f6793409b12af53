"""Small kernel problems, and the plain way to their answers."""

import numpy as np
import scipy.sparse as sparse
from solver_runs import iterates

from maxmargin.data.executor import Threads
from maxmargin.problems.kernels import KernelChoice
from maxmargin.problems.losses import HINGE
from maxmargin.problems.protocol import Evaluation
from maxmargin.problems.statement import KernelMargin, best_bias
from maxmargin.solvers.kernel_smo.kernel_rows import shared_rows
from maxmargin.solvers.kernel_smo.method import batch_smo
from maxmargin.solvers.kernel_smo.row_cache import RowCache, room_for

KERNELS = {
    "linear": {"kernel": "linear"},
    "square": {"kernel": "poly", "gamma": 0.5, "coef0": 1.0, "degree": 2},
    "cubic": {"kernel": "poly", "gamma": "scale", "coef0": 0.0, "degree": 3},
    "quintic": {"kernel": "poly", "gamma": 0.1, "coef0": 2.0, "degree": 5},
    "rbf": {"kernel": "rbf", "gamma": "scale"},
    "narrow rbf": {"kernel": "rbf", "gamma": 20.0},
    "function": {"kernel": lambda A, B: (1.0 + dense(A) @ dense(B).T) ** 2},
}
FORMS = {"dense": np.asarray, "float32": lambda X: X.astype(np.float32), "csr": sparse.csr_array}


def dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def rings(n=80, seed=0, noise=0.3):
    """A disc inside a ring, so near to each other that some rows are on the wrong side."""
    random = np.random.default_rng(seed)
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)
    angle, radius = random.uniform(0.0, 2.0 * np.pi, n), 1.5 + 0.5 * signs + noise * random.normal(size=n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), signs


def many_rings(n=800, classes=4, seed=0, noise=0.3):
    """Rings around each other, one for each class."""
    random = np.random.default_rng(seed)
    y = random.integers(0, classes, n)
    angle, radius = random.uniform(0.0, 2.0 * np.pi, n), 1.0 + y + noise * random.normal(size=n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


def choice(kernel="rbf", gamma="scale", coef0=0.0, degree=3):
    return KernelChoice(kernel, gamma, coef0, degree)


def problem_of(X, signs, C=1.0, **kernel):
    chosen = choice(**kernel).on(X)
    costs = np.broadcast_to(np.asarray(C, dtype=float), signs.shape).copy()
    return KernelMargin(X, signs, costs, HINGE, True, chosen, chosen.points(X))


def gram(problem):
    return problem.kernel.values(problem.points, problem.points)


def judged(problem, a):
    """P, D and the gap of weights with sum a y = 0, from the whole kernel matrix."""
    values = gram(problem) @ (problem.signs * a)
    b, square = best_bias(problem, values), float(np.sum(problem.signs * a * values))
    primal = 0.5 * square + float(np.sum(problem.costs * np.maximum(0.0, 1.0 - problem.signs * (values + b))))
    dual = float(a.sum()) - 0.5 * square
    return Evaluation(primal, dual, (primal - dual) / primal, values, b)


def solved(problem, tol=1e-6, start=None, cache_bytes=1e8):
    """The last solution of batch SMO and its judgement."""
    answer = None
    with Threads() as threads:
        shared = shared_rows(problem.kernel, problem.points, threads)
        memories = [room_for(shared.rows, cache_bytes) for _ in range(2)]
        cache = RowCache(shared.rows, memories[0])
        solver = iterates(batch_smo(problem, cache, shared.scale, tol=tol, memory=memories[1], start=start))
        while True:
            solution = solver.send(answer)
            answer = judged(problem, solution.a) if solution.proposes else None
            if answer is not None and answer.gap <= tol:
                return solution, answer
