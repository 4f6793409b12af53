"""Whatever is not exactly a model is a ModelFileError: damaged bytes, and false documents with a right checksum."""

import copy
import json
import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from persistence.make_corpus import CORPUS, MODELS

from maxmargin.persistence import ModelFileError, load
from maxmargin.persistence.container import LONGEST_HEADER, pack, unpack
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.model_file import VERSION, read_model

FILES = {path.stem: path.read_bytes() for path in sorted((CORPUS / f"v{VERSION}").glob("*.safetensors"))}
PARTS = {name: unpack(data) for name, data in FILES.items()}


def loads(data, path):
    path.write_bytes(data)
    return load(path)


def refused(data, path, message):
    with pytest.raises(ModelFileError, match=message):
        loads(data, path)


def file_with(header, arrays=b""):
    """A file of these bytes, with the length before them."""
    header = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(header)) + header + arrays


def header_of(data):
    (length,) = struct.unpack("<Q", data[:8])
    return data[8 : 8 + length], data[8 + length :]


def test_files_that_are_no_models(tmp_path):
    path = tmp_path / "model"
    refused(b"", path, "too few")
    pickled = b"\x80\x04\x95 a pickle of some object."
    refused(pickled, path, r"a pickle.* never read here.* maxmargin\.audit\(model, X, y\)")
    refused(b"\x80\x01\x95 something else altogether.", path, "header would not fit")
    refused(file_with(b"\xff\xfe"), path, "not text")
    refused(file_with(b"[1, 2]"), path, "not an object")
    refused(file_with({}), path, "not a model of maxmargin")
    refused(file_with({"__metadata__": {"other": "program"}}), path, "not a model of maxmargin")
    refused(file_with({"__metadata__": {"maxmargin": "short"}}), path, "checksum")


@pytest.mark.parametrize("length", [LONGEST_HEADER + 1, 2**32, 2**63, 2**64 - 1, 5000])
def test_false_lengths(length, tmp_path):
    refused(struct.pack("<Q", length) + FILES["linear"][8:], tmp_path / "model", "header")


def test_names_that_occur_twice(tmp_path):
    header, arrays = header_of(FILES["linear"])
    twice = b'{"__metadata__":{"maxmargin":"x"},' + header[1:]
    refused(file_with(twice, arrays), tmp_path / "model", "a name occurs twice")


def test_metadata_with_more_in_it(tmp_path):
    header, arrays = header_of(FILES["linear"])
    fields = json.loads(header)
    fields["__metadata__"]["more"] = "x"
    refused(file_with(fields, arrays), tmp_path / "model", "not a model of maxmargin")


def test_deep_wide_and_long_headers_take_little_memory(tmp_path):
    deep = b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    nested = b'{"a":' + b"[" * 100 + b"]" * 100 + b"}"
    entry = {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]}
    wide = {"__metadata__": {"maxmargin": "x" * 70}} | {str(name): entry for name in range(5000)}
    huge = {"__metadata__": {"maxmargin": "x" * 70}, "coef": entry | {"shape": [2**40, 2**20]}}
    tracemalloc.start()
    try:
        refused(file_with(deep), tmp_path / "model", "JSON")
        refused(file_with(nested), tmp_path / "model", "too deeply")
        refused(file_with(wide), tmp_path / "model", "5000 arrays")
        refused(file_with(huge), tmp_path / "model", "arrays are damaged")
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()


def test_entries_and_numbers_that_are_none_of_safetensors(tmp_path):
    metadata = {"maxmargin": "x" * 70}
    for entry in (1, {"dtype": "F64"}, {"dtype": "F16", "shape": [1], "data_offsets": [0, 2]}):
        refused(file_with({"__metadata__": metadata, "a": entry}), tmp_path / "model", "'a' is")
    refused(file_with(b'{"a": NaN}'), tmp_path / "model", "NaN is not a number")
    refused(file_with(b'{"a": 1e999}'), tmp_path / "model", "too large")
    refused(file_with(b'{"a": ' + b"9" * 5000 + b"}"), tmp_path / "model", "JSON")


@settings(max_examples=60)
@given(st.data())
def test_damaged_bytes_are_found(data):
    name = data.draw(st.sampled_from(sorted(FILES)))
    before = FILES[name]
    place = data.draw(st.integers(0, len(before) - 1))
    length = data.draw(st.integers(1, 40))
    noise = data.draw(st.binary(min_size=1, max_size=20))
    after = {
        "flip": before[:place] + bytes([before[place] ^ (1 << data.draw(st.integers(0, 7)))]) + before[place + 1 :],
        "cut": before[:place],
        "leave out": before[:place] + before[place + length :],
        "insert": before[:place] + noise + before[place:],
        "overwrite": before[:place] + noise + before[place + len(noise) :],
        "twice": before[: place + length] + before[place:],
        "add": before + noise,
    }[data.draw(st.sampled_from(["flip", "cut", "leave out", "insert", "overwrite", "twice", "add"]))]
    try:
        document, arrays = unpack(after)
    except Refusal:
        return
    assert document == PARTS[name][0]  # another kind of space between two words of the header
    assert {key: array.tobytes() for key, array in arrays.items()} == {
        key: array.tobytes() for key, array in PARTS[name][1].items()
    }


def places_in(value, path=()):
    """The path to every value of a document."""
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from places_in(entry, (*path, key))


def at(document, path):
    for key in path:
        document = document[key]
    return document


JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-3, 3),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=5),
        st.sampled_from([{"number": "inf"}, {"number": "nan"}, "ovo", "ovr", "rbf", "poly", 2**62, 2**70, -1, 0]),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)


def behaves(document, arrays, name):
    """Read it: a refusal, or a model that predicts."""
    try:
        model = read_model(*unpack(pack(document, arrays))).model
    except Refusal:
        return
    with np.errstate(all="ignore"):
        X = MODELS.get(name, MODELS["perceptron"])()[1]
        if getattr(model, "n_features_in_", X.shape[-1]) == X.shape[-1]:  # a ColumnTransformer may drop some
            assert len(model.predict(X)) == X.shape[0]


@settings(max_examples=60)
@given(st.data())
def test_false_documents_are_refused_or_predict(data):
    name = data.draw(st.sampled_from(sorted(PARTS)))
    document, arrays = copy.deepcopy(PARTS[name][0]), PARTS[name][1]
    paths = [path for path in places_in(document) if path]
    path = data.draw(st.sampled_from(paths))
    holder = at(document, path[:-1])
    match data.draw(st.sampled_from(["replace", "remove", "add", "swap"])):
        case "replace":
            holder[path[-1]] = data.draw(JSON)
        case "remove":
            del holder[path[-1]]
        case "add" if isinstance(holder, dict):
            holder[data.draw(st.text(max_size=5))] = data.draw(JSON)
        case "add":
            holder.append(data.draw(JSON))
        case "swap":
            holder[path[-1]] = copy.deepcopy(at(document, data.draw(st.sampled_from(paths))))
    behaves(document, arrays, name)


@settings(max_examples=60)
@given(st.data())
def test_false_arrays_are_refused_or_predict(data):
    name = data.draw(st.sampled_from(sorted(PARTS)))
    document, arrays = PARTS[name][0], dict(PARTS[name][1])
    key = data.draw(st.sampled_from(sorted(arrays)))
    array = arrays[key].copy()
    match data.draw(st.sampled_from(["remove", "rename", "type", "shape", "longer", "shorter", "value"])):
        case "remove":
            del arrays[key]
        case "rename":
            arrays[data.draw(st.text(max_size=8))] = arrays.pop(key)
        case "type":
            arrays[key] = array.astype(data.draw(st.sampled_from(["float64", "float32", "int64", "int32", "bool"])))
        case "shape":
            arrays[key] = array.reshape(-1, 1)
        case "longer":
            arrays[key] = np.concatenate([array, array])
        case "shorter":
            arrays[key] = array[:-1]
        case "value" if array.size and array.dtype.kind in "fi":
            special = [-1, 0, 99, 2**31 - 1] if array.dtype.kind == "i" else [np.nan, np.inf, -1e30, 0.0]
            array.flat[data.draw(st.integers(0, array.size - 1))] = data.draw(st.sampled_from(special))
            arrays[key] = array
    behaves(document, arrays, name)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("version",), 4, "version 4 of the format.*install a newer one"),
        (("format",), "other", "not a model of maxmargin"),
        (("estimator",), "os.system", "must be one of"),
        (("estimator",), "KernelSVM", "no field 'kernel'"),
        (("parameters", "C"), 0, "C must be a positive number"),
        (("parameters", "more"), 0, "field 'more', which this version does not know"),
        (("labels", "values"), [1, -1], "each larger than the one before"),
        (("labels", "values"), [-1, "b"], "the label 'b' is not of type int64"),
        (("labels", "type"), "complex128", "must be one of"),
        (("fitted", "n_columns"), 3, "certificate.w"),
        (("fitted", "table_rows"), 1, "rows beyond the 1 of the table"),
        (("fitted", "parts"), ["planes"], "does not consist of the parts"),
        (("certificate",), None, "has a certificate, and there is none"),
        (("certificate", "parts", 0, "positive"), -1, "not about the labels of its plane"),
        (("certificate", "parts", 0, "verdict"), "TRUE", "must be one of 'OPTIMAL'"),
        (("data", "sha256"), "x" * 64, "64 hexadecimal digits"),
        (("data", "sample"), None, "64 hexadecimal digits"),
        (("data", "sample"), "0" * 64, "a step was changed after the fit"),
        (("fitted", "seen", "sample"), "x", "64 hexadecimal digits"),
        (("fitted", "seen", "vectors"), "0" * 64, "with the support vectors, and only then"),
        (("fitted", "seen", "n_rows"), 1, "rows beyond the 1 of the table"),
        (("fitted", "seen"), None, "there is an array .support_codes."),
    ],
)
def test_false_fields_are_named(path, value, message, tmp_path):
    document, arrays = copy.deepcopy(PARTS["linear"][0]), PARTS["linear"][1]
    at(document, path[:-1])[path[-1]] = value
    refused(pack(document, arrays), tmp_path / "model", message)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("kind",), "os.system", "must be one of 'standard scaler'"),
        (("n_columns",), 2**40, "a whole number from 1 to"),
        (("column_names",), ["a"], "must be 4 short texts"),
        (("sparse_threshold",), 2, "a number from 0 to 1"),
        (("blocks",), [], "must have 1 to"),
        (("blocks", 0, "columns"), [4], "columns from 0 to 3"),
        (("blocks", 0, "columns"), [1], "a column in two blocks"),
        (("blocks", 0, "columns"), [], "columns from 0 to 3"),
        (("blocks", 1, "columns"), [1], "does not take the columns"),
        (("blocks", 2, "columns"), [3], "does not take the columns"),
        (("blocks", 1, "name"), "numbers", "two blocks of one name"),
        (("blocks", 1, "is_pipeline"), False, "be a Pipeline where they are more than one"),
        (("blocks", 1, "steps", 0, "fill"), ["red"], "a short text to fill in for each of 2 columns"),
        (("blocks", 1, "steps", 0, "fill"), ["red", 7], "a short text to fill in"),
        (("blocks", 1, "steps", 1, "categories"), [["a"], ["b", "b"]], "a list of strings or of numbers"),
        (("blocks", 2, "steps", 0, "parameters", "n_features"), 2**40, "a whole number from 1 to 2"),
        (("blocks", 2, "steps", 0, "parameters", "analyzer"), "os.system", "must be one of 'word'"),
        (("blocks", 2, "steps", 0, "parameters", "ngram_range"), [1, 99], "rising whole numbers from 1 to 8"),
        (("blocks", 2, "steps", 0, "parameters", "n_features"), 17, "the step before makes 23"),
    ],
)
def test_false_columns_are_named(path, value, message):
    document, arrays = copy.deepcopy(PARTS["pipeline_columns"])
    at(document["preprocessing"][0], path[:-1])[path[-1]] = value
    with pytest.raises(Refusal, match=message):
        read_model(document, arrays)


def test_sparse_rows_that_point_outside_are_refused():
    document, arrays = PARTS["hard_margin_sparse"]
    for key, place, value in (("indices", 0, 2), ("indices", 0, -1), ("indptr", 1, 99), ("indptr", 0, 1)):
        changed = {name: array.copy() for name, array in arrays.items()}
        changed[f"support_vectors.{key}"][place] = value
        with pytest.raises(Refusal, match=r"support_vectors\.ind"):
            read_model(document, changed)
