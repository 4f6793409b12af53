"""Models as ONNX graphs of standard operators, in float64.

    inputs    X           the columns of numbers, float64, rows x columns
              categories  the columns of categories, strings, rows x columns; where a model has some
    outputs   decision    w.x + b, as `decision_function` gives it
              label       as `predict` gives it

ONNX has an operator for support vector machines, but it computes in float32; MatMul, Exp and Pow keep all digits. A
graph cannot refuse: a category that the fit has not seen is none of those that it has. The metadata of the file name
the columns. The package `onnx` writes the graph (the extra `onnx`); any runtime of ONNX runs it.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from maxmargin._version import __version__
from maxmargin.data.table import is_sparse
from maxmargin.persistence.container import write_atomically
from maxmargin.persistence.errors import ModelFileError, Refusal
from maxmargin.persistence.exchange.onnx_steps import Graph, columns_of, prepared
from maxmargin.persistence.exchange.text_model import check_is_ours
from maxmargin.problems.choices import Strategy
from maxmargin.problems.kernels import Kernel, Linear, ProductKernel

OPERATORS, FORMAT = 19, 9  # versions of the operators and of the file: the first where strings can be compared
TYPES = {"i": "INT64", "u": "INT64", "f": "DOUBLE", "b": "BOOL", "U": "STRING", "O": "STRING"}  # of labels


def write_onnx(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator, or a Pipeline that ends in one, as an ONNX graph in float64 (needs the package `onnx`).

    Steps can be scalers, imputers, one-hot encoders and a ColumnTransformer of these; a kernel linear, poly or rbf.
    What has no standard operator, such as a hash of words, is a `ModelFileError`.
    """
    try:
        importlib.import_module("onnx")
    except ImportError as error:
        raise ImportError("ONNX graphs need the package onnx: pip install 'maxmargin[onnx]'") from error
    try:
        data = graph_of(model)
    except Refusal as problem:
        raise ModelFileError(os.fspath(path), f"this model cannot be written as ONNX: {problem}") from None
    write_atomically(path, data)


def graph_of(model: Any) -> bytes:
    """The bytes of the graph, checked."""
    *steps, estimator = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    check_is_ours(estimator)
    graph, inputs = Graph(), columns_of(steps[0] if steps else estimator)
    X = prepared(graph, steps, inputs)
    kernel = getattr(estimator, "_kernel", None)
    sums = graph.add("MatMul", X, estimator.coef_.T) if kernel is None else kernel_sums(graph, X, estimator, kernel)
    values = graph.add("Add", sums, estimator.intercept_)
    n_classes = len(estimator.classes_)
    if n_classes == 2:
        decision = graph.add("Squeeze", values, np.array([1]), name="decision")
        code = graph.add("Cast", graph.add("GreaterOrEqual", decision, np.array(0.0)), to=graph.types.INT64)
    else:
        pairs = estimator._strategy is Strategy.ONE_VERSUS_ONE
        decision = graph.add("Identity", votes(graph, values, n_classes) if pairs else values, name="decision")
        code = graph.add("ArgMax", decision, axis=1, keepdims=0)
    labels = labels_of(estimator)
    graph.add("Gather", labels, code, name="label")
    return finished(graph, inputs, n_classes, TYPES[labels.dtype.kind])


def labels_of(estimator: Any) -> Any:
    classes = estimator.classes_
    if classes.dtype.kind == "u" and int(classes[-1]) >= 2**63:
        raise Refusal(f"the label {classes[-1]} does not fit into 64 bits with a sign")
    kinds: dict[str, Any] = {"i": np.int64, "u": np.int64, "f": np.float64, "U": object}
    return classes.astype(kinds.get(classes.dtype.kind, classes.dtype))


def finished(graph: Graph, inputs: dict[str, list[Any]], n_classes: int, label: str) -> bytes:
    """The whole file: inputs, outputs, nodes, and the names of the columns."""
    onnx: Any = importlib.import_module("onnx")
    made, types = graph.helper.make_tensor_value_info, graph.types
    shape = ["rows"] if n_classes == 2 else ["rows", n_classes]
    outputs = [made("decision", types.DOUBLE, shape), made("label", getattr(types, label), ["rows"])]
    kinds = {"X": types.DOUBLE, "categories": types.STRING}
    given = [made(name, kinds[name], ["rows", len(columns)]) for name, columns in inputs.items()]
    body = graph.helper.make_graph(graph.nodes, "maxmargin", given, outputs, graph.constants)
    operators = [graph.helper.make_opsetid("", OPERATORS)]
    model = graph.helper.make_model(
        body,
        opset_imports=operators,
        ir_version=FORMAT,
        producer_name="maxmargin",
        producer_version=__version__,
    )
    graph.helper.set_model_props(model, {name: json.dumps(columns) for name, columns in inputs.items()})
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString())


def kernel_sums(graph: Graph, X: str, estimator: Any, kernel: Kernel) -> str:
    """sum_j c_j k(x, x_j), one column for each plane."""
    if not isinstance(kernel, ProductKernel):
        raise Refusal(f"its kernel is {kernel.name}; a graph can hold linear, poly and rbf")
    vectors, coefficients = estimator.support_vectors_, estimator.dual_coef_.T
    vectors = np.asarray(vectors.toarray() if is_sparse(vectors) else vectors, dtype=np.float64)
    if isinstance(kernel, Linear):
        return graph.add("MatMul", X, vectors.T @ coefficients)
    if not kernel.is_exponential:
        base = graph.add("Add", graph.add("MatMul", X, kernel.gamma * vectors.T), np.array(kernel.coef0))
        return graph.add("MatMul", graph.add("Pow", base, np.array(float(kernel.degree))), coefficients)
    shift = np.zeros(vectors.shape[1]) if kernel.shift is None else kernel.shift
    vectors = vectors - shift
    rows = graph.add("Sub", X, shift)
    squares = graph.add("ReduceSumSquare", rows, np.array([1]), keepdims=1)
    near = graph.add("MatMul", rows, 2.0 * kernel.gamma * vectors.T)
    far = graph.add("Add", graph.add("Mul", squares, np.array(kernel.gamma)), kernel.gamma * (vectors**2).sum(axis=1))
    exponents = graph.add("Min", graph.add("Sub", near, far), np.array(0.0))
    return graph.add("MatMul", graph.add("Exp", exponents), coefficients)


def votes(graph: Graph, values: str, n_classes: int) -> str:
    """The votes that each class wins, and its summed scores squeezed below half a vote."""
    pairs, unit = list(itertools.combinations(range(n_classes), 2)), np.eye(n_classes)
    first, second = unit[[i for i, _ in pairs]], unit[[j for _, j in pairs]]
    is_first = graph.add("Cast", graph.add("GreaterOrEqual", values, np.array(0.0)), to=graph.types.DOUBLE)
    won = graph.add("Add", graph.add("MatMul", is_first, first - second), second.sum(axis=0))
    confidence = graph.add("MatMul", values, first - second)
    size = graph.add("Mul", graph.add("Add", graph.add("Abs", confidence), np.array(1.0)), np.array(3.0))
    return graph.add("Add", won, graph.add("Div", confidence, size))
