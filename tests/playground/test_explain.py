"""What a step says of its plane is so of that plane: every algorithm, from its first step to its last."""

import math

import numpy as np
import pytest
from play_states import BENT, LINEAR, STRAIGHTENED, name_of, state_of, view_of

from maxmargin.playground.explain import measured_plane
from maxmargin.playground.steps import steps
from maxmargin.problems.kernels import KernelChoice


@pytest.mark.parametrize("case", [*LINEAR, *STRAIGHTENED], ids=name_of)
def test_a_straight_plane_is_measured_on_the_points(case):
    state = state_of(case)
    told = steps(state, view_of(state))["steps"]
    assert told
    for one in told:
        if one["w"] is None:  # a linear kernel, in the words of kernels
            continue
        w, own = np.array(one["w"]), state.signs * (state.points @ one["w"] + one["b"])
        size = np.abs(w).sum() if case[0] == "winnow" or case[1].get("norm") == "l1" else np.linalg.norm(w)
        figures = dict(one["measured"]["figures"])
        assert list(one["measured"]["mistakes"]) == (np.flatnonzero(own <= 0).tolist() if size else [])
        if size and own.min() > 0:
            margin = next(float(value) for name, value in figures.items() if name.startswith("Margin"))
            assert margin == pytest.approx(own.min() / size, rel=1e-4)
            assert "separates the classes" in one["measured"]["verdict"]
        elif size:
            assert f"{np.count_nonzero(own <= 0)} row" in one["measured"]["verdict"]
        price = state.parameters.get("C", math.inf)
        assert ("Objective" in figures) == (size > 0 and price < math.inf)
        if "Objective" in figures:
            late = np.maximum(0.0, 1.0 - own) ** (2 if case[1].get("loss") == "squared_hinge" else 1)
            assert float(figures["Objective"]) == pytest.approx(0.5 * w @ w + price * late.sum(), rel=1e-4)


@pytest.mark.parametrize("case", BENT, ids=name_of)
def test_a_bent_boundary_is_measured_on_the_points(case):
    state = state_of(case, "rings")
    numbers = {"gamma": 1.0, "coef0": 0.0, "degree": 1, **state.parameters}
    kernel = KernelChoice(numbers["kernel"], numbers["gamma"], numbers["coef0"], numbers["degree"]).on(state.points)
    matrix = kernel.values(kernel.points(state.points), kernel.points(state.points))
    for one in steps(state, view_of(state))["steps"][-3:]:
        a = np.zeros(len(state.points))
        for carrier in one["support"]:
            a[carrier["row"]] = carrier["a"]
        own = state.signs * (matrix @ (a * state.signs) + one["b"])
        size = math.sqrt((a * state.signs) @ matrix @ (a * state.signs))
        assert len(one["measured"]["mistakes"]) == np.count_nonzero(own <= 0)
        figures = dict(one["measured"]["figures"])
        if own.min() > 1e-3:
            assert float(figures["Margin (in the kernel's space)"]) == pytest.approx(own.min() / size, rel=1e-2)


def test_a_row_on_the_plane_is_not_said_to_be_beyond_it():
    state = state_of(("perceptron", {}))
    x = state.points[0]
    held = measured_plane(state, np.array([1.0, 0.0]), -float(x[0]))
    assert 0 in held["mistakes"]
    assert held["verdict"].endswith("on the wrong side of it or on it.")
    assert measured_plane(state, np.zeros(2), 1.0)["verdict"] == "There is no line yet: w = 0."
