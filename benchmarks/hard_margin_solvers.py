"""Every solver of the hard margin that is compared, each in the form that suits it best.

Peers are called directly: a modelling layer can only add time, and hides why a solver gave up. The matrices
that a peer needs are built inside the timed call. Measured against the alternatives, the best forms are
these: the active sets (DAQP, quadprog) take the primal where n >= d and the dual elsewhere; so do the
interior points (PIQP, Clarabel) on dense rows, and on sparse ones they keep the primal. scikit-learn is
here for information: it has no hard margin, and a large C stands in for it.

A solver's package is imported when the solver first runs, so a missing one costs only its own rows.
"""

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import quadratic_programs as qp
import scipy.sparse as sp


class Claim(Enum):
    PLANE = "a plane"
    NOT_SEPARABLE = "not separable"
    NOTHING = "no answer"


class Answer(NamedTuple):
    """What a solver says. Its multipliers, one per row, or its own proven bound limit every margin."""

    claim: Claim
    w: np.ndarray | None = None
    multipliers: np.ndarray | None = None
    margin_upper: float = np.inf
    remark: str = ""


class Solver(NamedTuple):
    """`solve(X, y)` is timed. `describe(X, y, solved)` turns its result into an Answer, and is not timed."""

    solve: Callable[[Any, np.ndarray], Any]
    describe: Callable[[Any, np.ndarray, Any], Answer] = lambda X, y, solved: solved
    compiles: bool = False


# DAQP: lower <= A x <= upper, where the first bounds without a row of A are on x itself.


def solve_daqp(X, y) -> Answer:
    n, d = X.shape
    if n >= d:
        x, multipliers, flag = _daqp(
            cost=np.diag(qp.primal_cost(d)),
            rows=qp.primal_rows(X, y),
            lower=np.ones(n),
            upper=np.full(n, 1e30),
        )
        w, multipliers = x[:d], -multipliers
    else:
        x, _, flag = _daqp(
            cost=qp.dual_cost(X, y),
            rows=qp.class_sums(y),
            lower=np.append(np.zeros(n), [1, 1]),
            upper=np.append(np.full(n, 1e30), [1, 1]),
        )
        w, multipliers = qp.normal(X, y, x), x
    claim = Claim.PLANE if flag > 0 else Claim.NOT_SEPARABLE if flag == -1 else Claim.NOTHING
    return Answer(claim, w, multipliers, remark=f"exit flag {flag}")


def _daqp(cost, rows, lower, upper):
    import daqp

    equality = 5
    sense = np.where(lower == upper, equality, 0).astype(np.int32)
    x, _, flag, details = daqp.solve(
        cost, np.zeros(len(cost)), rows, upper, lower, sense, iter_limit=1_000_000, primal_tol=1e-9
    )
    return x, np.asarray(details["lam"]), flag


# quadprog: the quadratic term must be positive definite, so a trace of it is added where it is not.


def solve_quadprog(X, y) -> Answer:
    try:
        return _quadprog_primal(X, y) if X.shape[0] >= X.shape[1] else _quadprog_dual(X, y)
    except ValueError as error:
        claim = Claim.NOT_SEPARABLE if "no solution" in str(error) else Claim.NOTHING
        return Answer(claim, remark=str(error))


def _quadprog_primal(X, y) -> Answer:
    import quadprog

    n, d = X.shape
    cost = np.diag(qp.primal_cost(d, of_bias=1e-6))
    x, _, _, _, multipliers, _ = quadprog.solve_qp(cost, np.zeros(d + 1), qp.primal_rows(X, y).T, np.ones(n))
    return Answer(Claim.PLANE, x[:d], multipliers)


def _quadprog_dual(X, y) -> Answer:
    import quadprog

    n = len(y)
    cost = qp.dual_cost(X, y)
    cost[np.diag_indices(n)] *= 1 + 1e-12
    columns = np.concatenate([qp.class_sums(y).T, np.eye(n)], axis=1)
    lower = np.append([1.0, 1.0], np.zeros(n))
    multipliers = quadprog.solve_qp(cost, np.zeros(n), columns, lower, 2)[0]
    return Answer(Claim.PLANE, qp.normal(X, y, multipliers), multipliers)


# PIQP: min 1/2 x'Px + c'x, subject to Ax = b, h_l <= Gx <= h_u, x_l <= x <= x_u.


def solve_piqp(X, y) -> Answer:
    import piqp

    n, d = X.shape
    primal = n >= d or sp.issparse(X)
    if sp.issparse(X):
        solver = piqp.SparseSolver()
        cost = sp.csc_matrix(sp.diags(qp.primal_cost(d)))
        solver.setup(cost, np.zeros(d + 1), G=qp.sparse_primal_rows(X, y), h_l=np.ones(n))
    elif primal:
        solver = piqp.DenseSolver()
        solver.setup(np.diag(qp.primal_cost(d)), np.zeros(d + 1), G=qp.primal_rows(X, y), h_l=np.ones(n))
    else:
        solver = piqp.DenseSolver()
        solver.setup(qp.dual_cost(X, y), np.zeros(n), A=qp.class_sums(y), b=np.ones(2), x_l=np.zeros(n))
    status = solver.solve()
    x, multipliers = solver.result.x, solver.result.z_l
    claims = {piqp.PIQP_SOLVED: Claim.PLANE, piqp.PIQP_PRIMAL_INFEASIBLE: Claim.NOT_SEPARABLE}
    claim = claims.get(status, Claim.NOTHING)
    if primal:
        return Answer(claim, np.array(x[:d]), np.array(multipliers), remark=status.name)
    return Answer(claim, qp.normal(X, y, x), np.array(x), remark=status.name)


# Clarabel: min 1/2 x'Px + q'x, subject to Ax + s = b with s in a product of cones; P by its upper triangle.


def solve_clarabel(X, y) -> Answer:
    import clarabel

    n, d = X.shape
    primal = n >= d or sp.issparse(X)
    if primal:
        cost = sp.csc_matrix(sp.diags(qp.primal_cost(d)))
        rows, sums = -qp.sparse_primal_rows(X, y), -np.ones(n)
        cones = [clarabel.NonnegativeConeT(n)]
    else:
        cost = sp.csc_matrix(np.triu(qp.dual_cost(X, y)))
        rows = sp.vstack([qp.class_sums(y), -sp.eye(n)], format="csc")
        sums = np.append([1.0, 1.0], np.zeros(n))
        cones = [clarabel.ZeroConeT(2), clarabel.NonnegativeConeT(n)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solution = clarabel.DefaultSolver(cost, np.zeros(cost.shape[0]), rows, sums, cones, settings).solve()
    x, status = np.array(solution.x), str(solution.status)
    claims = {"Solved": Claim.PLANE, "PrimalInfeasible": Claim.NOT_SEPARABLE}
    claim = claims.get(status, Claim.NOTHING)
    if primal:
        return Answer(claim, x[:d], np.array(solution.z), remark=status)
    return Answer(claim, qp.normal(X, y, x), x, remark=status)


# scikit-learn: soft margins with a large C.


def solve_svc(X, y) -> Answer:
    from sklearn.svm import SVC

    model = SVC(kernel="linear", C=1e10).fit(X, y)
    w, coefficients = model.coef_, model.dual_coef_
    if sp.issparse(X):
        w, coefficients = w.toarray(), coefficients.toarray()
    multipliers = np.zeros(len(y))
    multipliers[model.support_] = abs(coefficients.ravel())
    return Answer(Claim.PLANE, w.ravel(), multipliers)


def solve_linear_svc(X, y) -> Answer:
    from sklearn.svm import LinearSVC

    return Answer(Claim.PLANE, LinearSVC(C=1e6).fit(X, y).coef_.ravel())


# maxmargin: a plane with its certificate, or an error that carries the proof that there is none.


def solve_maxmargin(X, y):
    from maxmargin import HardMarginSVM, NotSeparableError

    try:
        return HardMarginSVM().fit(X, y)
    except NotSeparableError as error:
        return error


def describe_maxmargin(X, y, solved) -> Answer:
    from maxmargin import Verdict

    if not isinstance(solved, Exception):
        return Answer(Claim.PLANE, solved.coef_.ravel(), margin_upper=solved.certificate_.margin_upper)
    certificate = solved.certificate
    if certificate.verdict not in (Verdict.NOT_SEPARABLE, Verdict.WEAKLY_SEPARABLE):
        return Answer(Claim.NOTHING, remark=certificate.verdict.name)
    if not certificate.verify(X, y, exact=True):
        return Answer(Claim.NOTHING, remark="its proof is refused")
    return Answer(Claim.NOT_SEPARABLE, remark="proven exactly")


OURS = "maxmargin"
SOLVERS = {
    OURS: Solver(solve_maxmargin, describe_maxmargin, compiles=True),
    "daqp": Solver(solve_daqp),
    "quadprog": Solver(solve_quadprog),
    "piqp": Solver(solve_piqp),
    "clarabel": Solver(solve_clarabel),
    "SVC(C=1e10)": Solver(solve_svc),
    "LinearSVC(C=1e6)": Solver(solve_linear_svc),
}
