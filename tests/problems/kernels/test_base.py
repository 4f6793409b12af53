"""The registry of kernels: what is no kernel is not registered, and kernels of older versions are found again."""

import base64
import pickle

import numpy as np
import pytest

from maxmargin.problems.kernels import KERNELS, Kernel, KernelChoice, Laplacian, Rbf, register
from maxmargin.problems.kernels.base import is_table, names

# Pickles of the time when every kernel was a `Kernel` with a name.
OF_OLD = {
    "linear": "gASVmAAAAAAAAACMGm1heG1hcmdpbi5wcm9ibGVtcy5rZXJuZWxzlIwGS2VybmVslJOUKYGUfZQojARuYW1llGgAjApLZXJuZWxOYW1l"
    "lJOUjAZsaW5lYXKUhZRSlIwFZ2FtbWGURz/wAAAAAAAAjAVjb2VmMJRHAAAAAAAAAACMBmRlZ3JlZZRLAYwIZnVuY3Rpb26UTowFc2hpZnSUTnVi"
    "Lg==",
    "poly": "gASVlgAAAAAAAACMGm1heG1hcmdpbi5wcm9ibGVtcy5rZXJuZWxzlIwGS2VybmVslJOUKYGUfZQojARuYW1llGgAjApLZXJuZWxOYW1llJ"
    "OUjARwb2x5lIWUUpSMBWdhbW1hlEc/4AAAAAAAAIwFY29lZjCURz/wAAAAAAAAjAZkZWdyZWWUSwKMCGZ1bmN0aW9ulE6MBXNoaWZ0lE51Yi4=",
    "rbf": "gASVLAEAAAAAAACMGm1heG1hcmdpbi5wcm9ibGVtcy5rZXJuZWxzlIwGS2VybmVslJOUKYGUfZQojARuYW1llGgAjApLZXJuZWxOYW1llJO"
    "UjANyYmaUhZRSlIwFZ2FtbWGURz/gAAAAAAAAjAVjb2VmMJRHAAAAAAAAAACMBmRlZ3JlZZRLAYwIZnVuY3Rpb26UTowFc2hpZnSUjBZudW1weS5"
    "fY29yZS5tdWx0aWFycmF5lIwMX3JlY29uc3RydWN0lJOUjAVudW1weZSMB25kYXJyYXmUk5RLAIWUQwFilIeUUpQoSwFLAoWUaBOMBWR0eXBllJO"
    "UjAJmOJSJiIeUUpQoSwOMATyUTk5OSv////9K/////0sAdJRiiUMQAAAAAAAA/D8AAAAAAAAAQJR0lGJ1Yi4=",
    "precomputed": "gASVnQAAAAAAAACMGm1heG1hcmdpbi5wcm9ibGVtcy5rZXJuZWxzlIwGS2VybmVslJOUKYGUfZQojARuYW1llGgAjApLZXJuZWx"
    "OYW1llJOUjAtwcmVjb21wdXRlZJSFlFKUjAVnYW1tYZRHP/AAAAAAAACMBWNvZWYwlEcAAAAAAAAAAIwGZGVncmVllEsBjAhmdW5jdGlvbpROjAV"
    "zaGlmdJROdWIu",
}
ROWS = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 5.0], [1.0, 1.0]])


@pytest.mark.parametrize("name", OF_OLD)
def test_pickles_of_older_versions(name):
    old, new = pickle.loads(base64.b64decode(OF_OLD[name])), KernelChoice(name, 0.5, 1.0, 2).on(ROWS)
    assert type(old) is type(new) is KERNELS[name]
    assert vars(old).keys() == vars(new).keys()
    assert (old.gamma, old.coef0, old.degree) == (new.gamma, new.coef0, new.degree)
    table = ROWS @ ROWS.T if new.is_table else ROWS
    found, wanted = (kernel.values(kernel.points(table), kernel.points(table)) for kernel in (old, new))
    assert np.array_equal(found, wanted)


def kind(**said):
    return type("Some", (Kernel,), {"name": "some", "values": Rbf.values, "rounding": Rbf.rounding, **said})


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"name": "two words"}, "a kernel needs a name of letters, digits and underscores, not 'two words'"),
        ({"name": ""}, "a kernel needs a name"),
        ({"name": 3}, "a kernel needs a name"),
        ({"name": "rbf"}, "there is a kernel 'rbf' already, another one"),
        ({"name": "function"}, "there is a kernel 'function' already"),
        ({"parameters": ("gamma", "nu")}, "the numbers of a kernel are gamma, coef0, degree; some asks for 'nu'"),
        ({"values": Kernel.values}, "the kernel some needs a method `values`"),
        ({"rounding": Kernel.rounding}, "the kernel some needs a method `rounding`"),
    ],
)
def test_what_is_no_kernel_is_not_registered(said, sentence):
    known = dict(KERNELS)
    with pytest.raises(ValueError, match=sentence):
        register(kind(**said))
    assert known == KERNELS


def test_a_class_that_is_defined_again_takes_its_place():
    """As in a notebook, where a cell is run twice."""
    try:
        register(kind())
        again = register(kind())
        assert KERNELS["some"] is again
    finally:
        del KERNELS["some"]


def test_names():
    assert "function" in KERNELS
    assert "function" not in names()
    assert set(names()) == {name for name, one in KERNELS.items() if not one.is_code}
    assert [one for one in ("precomputed", "rbf", "none", None, 3, ["rbf"], len) if is_table(one)] == ["precomputed"]


def test_gamma_by_name():
    X = np.random.default_rng(0).normal(size=(20, 5))
    for word, gamma in (("scale", 1.0 / (5 * X.var())), ("auto", 0.2), (0.75, 0.75)):
        for kernel in (KernelChoice(name, word, 1.0, 2).on(X) for name in (Rbf.name, Laplacian.name)):
            assert kernel.gamma == pytest.approx(gamma, rel=1e-14)
            assert (kernel.coef0, kernel.degree) == (0.0, 1)
