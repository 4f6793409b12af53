"""What the library answers to each exercise, computed and never stored."""

import math

import numpy as np

from maxmargin import (
    C_from,
    ConstrainedParabola,
    HardMarginSVM,
    KernelSVM,
    LinearSVM,
    Perceptron,
    Winnow,
    exercises,
    separability,
)

NAMES = [entry.name for entry in exercises()]
SEEDS = range(12)


def plane(task, norm="l2"):
    svm = HardMarginSVM(norm).fit(task.X, task.y)
    return {"w": svm.coef_[0], "b": svm.intercept_[0]}


def distance(task):
    functional = task.y * (task.X @ task.w + task.b)
    size = functional / np.linalg.norm(task.w)
    return {
        "distances": size,
        "canonical_w": task.w / functional.min(),
        "canonical_b": task.b / functional.min(),
    }


def lifting(task):
    rows, v = task.y[:, None] * np.column_stack([task.X, np.ones(len(task.y))]), np.append(task.w, task.b)
    l2 = np.min(rows @ v / np.linalg.norm(rows, axis=1)) / np.linalg.norm(v)
    l1 = np.min(rows @ v / np.abs(rows).max(axis=1)) / np.abs(v).sum()
    return {"lifted": rows, "l2": l2, "l1": l1}


def perceptron(task):
    learner = Perceptron(fit_intercept=False, order="cyclic", record=True).fit(task.X, task.y)
    return {"mistakes": learner.trace_.to_arrays()["row"], "w": learner.coef_[0]}


def winnow(task):
    learner = Winnow(epsilon=0.5, balanced=False, fit_intercept=False, order="cyclic", record=True)
    rows = learner.fit(task.X, task.y).trace_.to_arrays()["row"]
    return {"mistakes": rows, "v": 2.0 ** np.sum(task.y[rows, None] * task.X[rows], axis=0)}


def mistake_bound(task):
    return HardMarginSVM(fit_intercept=False).fit(task.X, task.y).coef_[0]


def margin_perceptron(task):
    distances = task.y * (task.X @ task.w) / np.linalg.norm(task.w)
    rows = np.flatnonzero(distances < task.guess / 2)
    return {"rows": rows, "w_after": task.w + task.y[rows[0]] * task.X[rows[0]]}


def halving(task):
    margin = np.min(task.y * (task.X @ task.w)) / np.linalg.norm(task.w)
    guesses = [np.linalg.norm(task.X, axis=1).max()]
    while guesses[-1] > margin:
        guesses.append(guesses[-1] / 2)
    return {"guesses": guesses, "updates": sum(12 * (guesses[0] / guess) ** 2 for guess in guesses)}


def multipliers(task):
    svm = HardMarginSVM().fit(task.X, task.y)
    a = np.zeros(len(task.y))
    a[svm.support_] = np.abs(svm.dual_coef_[0])
    return {"a": a, "b": svm.intercept_[0]}


def slack(task):
    xi = np.maximum(0.0, 1.0 - task.y * (task.X @ task.w + task.b))
    return {
        "xi": xi,
        "inside": np.flatnonzero((xi > 0) & (xi <= 1)),
        "mistakes": np.flatnonzero(xi > 1),
        "objective": task.w @ task.w / 2 + task.C * xi.sum(),
    }


def spellings(task):
    p, q = task.norm_factor, task.loss_factor
    return [
        C_from(norm_factor=p),
        C_from(norm_factor=1, loss_factor=q),
        C_from(norm_factor=p / 2, loss_factor=q),
    ]


def soft_margin(task):
    svm = LinearSVM(C=task.C, tol=1e-9).fit(task.X, task.y)
    a = np.zeros(len(task.y))
    a[svm.support_] = np.abs(svm.dual_coef_[0])
    return {"a": a, "b": svm.intercept_[0]}


def xor(task):
    svm = KernelSVM(C=math.inf, kernel="poly", gamma=1.0, coef0=1.0, degree=2, tol=1e-9).fit(task.X, task.y)
    a = np.zeros(len(task.y))
    a[svm.support_] = np.abs(svm.dual_coef_[0])
    return {"a": a, "b": svm.intercept_[0]}


def one_variable(task):
    return ConstrainedParabola(task.p, task.q, task.r, task.c).saddle[:2]


def no_plane(task):
    certificate = separability(task.X, task.y)
    weights = np.zeros(len(task.y))
    weights[certificate.rows] = certificate.weights
    return weights


ANSWERS = {
    "separate": plane,
    "distance": distance,
    "lifting": lifting,
    "perceptron": perceptron,
    "winnow": winnow,
    "mistake bound": mistake_bound,
    "margin perceptron": margin_perceptron,
    "halving": halving,
    "widest street": plane,
    "multipliers": multipliers,
    "one column": lambda task: plane(task, "l1"),
    "slack": slack,
    "spellings": spellings,
    "soft margin": soft_margin,
    "xor": xor,
    "one variable": one_variable,
    "no plane": no_plane,
}
