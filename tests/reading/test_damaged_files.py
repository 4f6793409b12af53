"""Damaged files of every format: a table or a DataFileError, at once, in little memory, and never anything else.

MUTATIONS=20000 pytest tests/reading/test_damaged_files.py searches longer.
"""

import gzip
import io
import os
import resource
import time

import numpy as np
import pytest
import scipy.sparse as sparse
from random_sparse import random_sparse

from maxmargin.reading.files import DataFileError
from maxmargin.reading.read import read_table

MUTATIONS = int(os.environ.get("MUTATIONS", "150"))
LONGEST = 5.0  # seconds
MOST_MEMORY = 500 * 2**20  # bytes
TELLING = [
    b"\n",
    b"\r",
    b":",
    b",",
    b'"',
    b"#",
    b" ",
    b"-",
    b"e",
    b"nan",
    b"1e999",
    b"\x00",
    b"\xff",
    b"9" * 30,
    b"qid:",
]


def csv_file():
    return b"x,colour,y\n1.5,red,a\n-2e-3,grey,b\n" + b"0.1,red,a\n" * 20


def svmlight_file():
    return b"# rows\n1 qid:3 1:0.5 7:-2e-3 # more\n-1 2:1\n" + b"1 3:0.12345678901234567 4:1e300\n" * 20


def gzipped_file():
    return gzip.compress(svmlight_file(), mtime=0)


def npy_file():
    stream = io.BytesIO()
    np.save(stream, np.arange(60.0).reshape(20, 3))
    return stream.getvalue()


def npz_file():
    stream = io.BytesIO()
    np.savez_compressed(stream, X=np.arange(60.0).reshape(20, 3), y=np.arange(20) % 2)
    return stream.getvalue()


def sparse_npz_file():
    stream = io.BytesIO()
    sparse.save_npz(
        stream, random_sparse((20, 9), 0.3, np.random.default_rng(0), container=sparse.coo_matrix), compressed=False
    )
    return stream.getvalue()


def arrow_table():
    return pytest.importorskip("pyarrow").table(
        {"x": np.linspace(0, 1, 20), "colour": ["red", "grey"] * 10, "y": np.arange(20) % 2}
    )


def parquet_file():
    stream = io.BytesIO()
    pytest.importorskip("pyarrow.parquet").write_table(arrow_table(), stream)
    return stream.getvalue()


def arrow_file():
    stream = io.BytesIO()
    pytest.importorskip("pyarrow.feather").write_feather(arrow_table(), stream, compression="uncompressed")
    return stream.getvalue()


FILES = {
    csv_file: {"label": "y", "format": "csv"},
    svmlight_file: {"label": None, "format": "svmlight"},
    gzipped_file: {"label": None},
    npy_file: {"label": 2, "format": "npy"},
    npz_file: {"label": "y", "format": "npz"},
    sparse_npz_file: {"label": None, "format": "npz"},
    parquet_file: {"label": "y", "format": "parquet"},
    arrow_file: {"label": "y", "format": "arrow"},
}


def mutated(raw, random):
    """One to three small injuries."""
    raw = bytearray(raw)
    for _ in range(random.integers(1, 4)):
        start, length = int(random.integers(len(raw) + 1)), int(random.integers(1, 20))
        injury = random.integers(6)
        if injury == 0:
            raw[start : start + 1] = bytes([random.integers(256)])
        elif injury == 1:
            del raw[start : start + length]
        elif injury == 2:
            raw[start:start] = raw[start : start + length]
        elif injury == 3:
            raw[start:start] = TELLING[random.integers(len(TELLING))]
        elif injury == 4:
            raw[start : start + 4] = random.bytes(4)
        else:
            del raw[start:]
    return bytes(raw)


def peak_memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def table_or_refusal(raw, options):
    try:
        return read_table(io.BytesIO(raw), **options), None
    except DataFileError as error:
        return None, str(error)


@pytest.mark.parametrize("make", FILES, ids=[make.__name__ for make in FILES])
def test_a_table_or_an_error_that_names_the_file(make):
    raw, options, random = make(), FILES[make], np.random.default_rng(0)
    assert read_table(io.BytesIO(raw), **options).X.shape[0] >= 20
    before, refusals = peak_memory(), []
    for _ in range(MUTATIONS):
        begun = time.perf_counter()
        table, refusal = table_or_refusal(mutated(raw, random), options)
        assert time.perf_counter() - begun < LONGEST
        if table is None:
            refusals.append(refusal)
            continue
        assert np.isfinite(table.X.data if sparse.issparse(table.X) else table.X).all()
        assert len(table.lines) == table.X.shape[0]
        assert table.y is None or len(table.y) == table.X.shape[0]
    assert len(refusals) > MUTATIONS // 10
    assert all(refusal.startswith("the data") and "\n" not in refusal for refusal in refusals)
    assert peak_memory() - before < MOST_MEMORY


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["unix", "windows", "mac"])
def test_an_error_far_into_a_file_has_its_line(end, monkeypatch):
    monkeypatch.setattr("maxmargin.reading.files.PIECE", 1000)
    lines = [b"1 1:0.5 3:2.25"] * 2000
    for place in (0, 777, 1999):
        damaged = [*lines[:place], b"1 1:0.5 3:2,25", *lines[place + 1 :]]
        with pytest.raises(DataFileError, match="the value '2,25' of index 3") as caught:
            read_table(io.BytesIO(end.join(damaged)), label=None, format="svmlight")
        assert (caught.value.line, caught.value.character) == (place + 1, 9)
    table = read_table(io.BytesIO(end.join(lines)), label=None, format="svmlight")
    assert table.lines.tolist() == list(range(1, 2001))
    assert table.X.shape == (2000, 3)


def test_names_in_an_arrow_file_that_are_no_text():
    pyarrow = pytest.importorskip("pyarrow")
    table, stream = pyarrow.table({"x": [1.0, 2.0], "abcdefgh": [0, 1]}), io.BytesIO()
    with pyarrow.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    raw = stream.getvalue()
    assert raw.count(b"abcdefgh") == 1
    with pytest.raises(DataFileError, match="cannot be read as Arrow"):
        read_table(io.BytesIO(raw.replace(b"abcdefgh", b"\xd0bcdefgh")), label="x", format="arrow")
